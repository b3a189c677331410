"""Language models fine-tuned to judge a turn: TEN Turn Detection and KE-SemanticVAD."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from floorbench.core.prediction import Decision
from floorbench.core.sample import JsonValue, Observation, Turn
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Level, Outcome, Role
from floorbench.errors import DataError, Place, UsageError
from floorbench.systems.baselines import SPEAKING
from floorbench.systems.common import IDLE, refusal
from floorbench.systems.hf_model import HfModel
from floorbench.systems.llm.protocol import Prompt, TextModel
from floorbench.systems.llm.spending import Spending
from floorbench.systems.llm.together import Call, Steps, decide_together, takes_batches

TEN_LABELS = ("finished", "unfinished", "wait")
KE_LABELS = {SPEAKING: ("打断", "附和"), IDLE: ("完成", "未完")}
KE_PROMPTS = {SPEAKING: "agent_speaking.txt", IDLE: "human_speaking.txt"}
"""File of the trained prompt by state: the mode follows who is speaking."""


class FineTuned(Spending):
    """What both share: one prompt, a few tokens, one of a few words."""

    def __init__(self, *, spec: SystemSpec, model: TextModel | None, max_tokens: int) -> None:
        self.model = model
        self._max_tokens = max_tokens
        self.spec = spec
        if model is not None:
            self._describe({})
        if takes_batches(model):
            self.decide_batch = self._together

    def load(self) -> None:
        """Load the model and complete the spec."""
        self._given().load()
        self._describe({})

    def _given(self) -> TextModel:
        if self.model is None:
            raise UsageError("FB554", "the model's folder is not given: --set model=FOLDER")
        return self.model

    def _describe(self, more: dict[str, JsonValue]) -> None:
        info = self._given().info
        self.spec = replace(
            self.spec,
            weights=dict(info.weights),
            parameters={**self.spec.parameters, **info.parameters, **more},
        )

    def decide(self, observation: Observation) -> Decision:
        """Answer for the turn to decide on."""
        return self._together([observation])[0]

    def _together(self, observations: Sequence[Observation]) -> list[Decision]:
        return decide_together(self._given(), [self._steps(o) for o in observations])

    def _steps(self, observation: Observation) -> Steps:
        raise NotImplementedError

    def _call(self, prompt: Prompt, *, top: int = 0) -> Call:
        return Call(prompt=prompt, max_tokens=self._max_tokens, top=top)


class TenTurn(FineTuned):
    """TEN Turn Detection: one word for the user's turn.

    Parameters
    ----------
    model : str or TextModel or None
        Folder or hub name of the weights, or a client.
    system : str
        Text of the system role; empty as published.
    device, dtype : str
        As in :class:`floorbench.systems.hf_model.HfModel`.

    Notes
    -----
    The whole input is one user message, the turn to decide on: no history, and never a later
    turn. The published inference draws one token at temperature 0.1 and top-p 0.1, which is the
    most probable one; here it is taken. Scores are the first token's probabilities of the three
    words, where they are among the candidates, each by the token that begins it.

    Source: the published model card. Licence: Apache-2.0 with conditions of Agora.
    """

    def __init__(
        self,
        *,
        model: str | TextModel | None = None,
        system: str = "",
        device: str = "cpu",
        dtype: str = "auto",
    ) -> None:
        self._system = system
        super().__init__(
            spec=SystemSpec(
                name="ten-turn",
                version="1",
                level=Level.REAL_CODE_PATH,
                labels=TEN_LABELS,
                languages=("zh", "en"),
                modalities=("text",),
                context="current user turn",
                front_end=FrontEnd(text="chat template, system and one user message"),
                score="finished",
                label_map="ten",
                parameters={"system": system},
                licence="Apache-2.0 with conditions of Agora",
            ),
            model=_client(model, device, dtype),
            max_tokens=4,
        )

    def _steps(self, observation: Observation) -> Steps:
        refused = refusal(self.spec, observation)
        if refused is not None:
            return refused
        if not (observation.text or "").strip():
            return Decision(outcome=Outcome.UNSUPPORTED, reason="no words to read")
        prompt = Prompt(opening=observation.text or "", system=self._system or None, chat=True)
        said = yield self._call(prompt, top=100)
        self.usage += said.usage
        word = said.text.strip().casefold()
        label = next((name for name in ("unfinished", "finished", "wait") if word == name), None)
        scores = {}
        for token in said.first or ():
            start = token.text.strip().casefold()
            names = [name for name in TEN_LABELS if start and name.startswith(start)]
            if len(names) == 1 and names[0] not in scores:
                scores[names[0]] = math.exp(token.logprob)
        if label is None:
            return Decision(outcome=Outcome.INVALID, raw=said.text, reason="not one of the three")
        return Decision(label=label, scores=scores, raw=said.text)


class KeSemanticVad(FineTuned):
    """KE-SemanticVAD: interruption or acknowledgement, complete or not; the mode follows the state.

    Parameters
    ----------
    model : str or TextModel or None
        Folder of the weights, or a client.
    prompts : str or None
        Folder with the two trained prompts, ``agent_speaking.txt`` and ``human_speaking.txt``;
        the model's folder by default.
    device, dtype : str
        As in :class:`floorbench.systems.hf_model.HfModel`.

    Notes
    -----
    Front end: a user message ``# Dialog``, then one line a turn, ``Human:`` or ``Agent:``, the
    turn to decide on last. While the system speaks the answers are 打断 and 附和, while it is idle
    完成 and 未完. The prompts belong to the weights: they are read from files and hashed.

    Source: the published model card.
    """

    def __init__(
        self,
        *,
        model: str | TextModel | None = None,
        prompts: str | None = None,
        device: str = "cpu",
        dtype: str = "auto",
    ) -> None:
        folder = prompts if prompts is not None else model if isinstance(model, str) else None
        self._folder = Path(folder) if folder is not None else None
        self._prompts: dict[str, str] = {}
        super().__init__(
            spec=SystemSpec(
                name="ke-semanticvad",
                version="1",
                level=Level.REAL_CODE_PATH,
                labels=tuple(name for names in KE_LABELS.values() for name in names),
                languages=("zh",),
                modalities=("text",),
                context="dialogue",
                front_end=FrontEnd(text="trained prompt by state, '# Dialog' with Human and Agent"),
                label_map="ke-semanticvad",
                licence="Apache-2.0",
            ),
            model=_client(model, device, dtype),
            max_tokens=8,
        )

    def load(self) -> None:
        """Read the prompts, load the model and complete the spec.

        Raises
        ------
        DataError
            ``FB553`` when a prompt is missing or empty.
        """
        self._given()
        self._prompts = {state: self._prompt(name) for state, name in KE_PROMPTS.items()}
        hashes = {
            KE_PROMPTS[state]: hashlib.sha256(text.encode()).hexdigest()
            for state, text in self._prompts.items()
        }
        super().load()
        self._describe({"prompts": hashes})

    def _steps(self, observation: Observation) -> Steps:
        refused = refusal(self.spec, observation)
        if refused is not None:
            return refused
        if observation.state not in KE_LABELS or not (observation.text or "").strip():
            return Decision(outcome=Outcome.UNSUPPORTED, reason="no state or no words to read")
        now = Turn(role=Role.USER, text=observation.text)
        lines = [_line(turn) for turn in (*observation.turns, now) if turn.text]
        said = yield self._call(
            Prompt(
                opening="\n".join(["# Dialog", *lines]),
                system=self._prompts[observation.state],
                chat=True,
            )
        )
        self.usage += said.usage
        word = said.text.strip().strip("<>").strip()
        known = {**{name: name for name in KE_LABELS[observation.state]}, "未完成": "未完"}
        label = known.get(word)
        if label is None or label not in KE_LABELS[observation.state]:
            return Decision(outcome=Outcome.INVALID, raw=said.text, reason="no answer of this mode")
        return Decision(label=label, raw=said.text)

    def _prompt(self, name: str) -> str:
        file = (self._folder or Path()) / name
        try:
            text = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            text = ""
        if not text:
            raise DataError(
                "FB553",
                "the prompt that the model was trained with is not here",
                where=Place(str(file)),
                hint="copy it from the model's card into this file, or give --set prompts=FOLDER",
            )
        return text


def _line(turn: Turn) -> str:
    return f"{'Agent' if turn.role is Role.SYSTEM else 'Human'}: {turn.text}"


def _client(model: str | TextModel | None, device: str, dtype: str) -> Any:
    if isinstance(model, str):
        return HfModel(model=model, device=device, dtype=dtype)
    return model
