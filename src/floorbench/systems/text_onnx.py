"""Turn detectors that read: ONNX classifiers of the transcript, each with its own front end.

The front end is the publisher's inference, step by step; a character more in the text can turn the
answer round. Both detectors judge the user's turn only, while the system is idle.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from floorbench.audio import assets
from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Level, Outcome, Role
from floorbench.core.words import counted
from floorbench.errors import EnvironmentProblem, Place, SystemProblem, UsageError, missing_extra
from floorbench.systems.common import IDLE, choice, number, refusal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIRERED_STRIPPED = "，。？！,. ?!"
FIRERED_LENGTH = 128
NAMO_LENGTHS = {"distilbert": 512, "mmbert": 8192}
INPUTS = ("turn", "user-turns")


class TextDetector:
    """What both detectors share.

    Parameters
    ----------
    name : str
        Name of the system.
    folder : Path or str or None
        The model's folder.
    file : str
        Name of the ONNX file in it.
    threshold : float
        Complete iff the probability is greater.
    how : str
        Where the model comes from.
    """

    label_map: str
    languages: tuple[str, ...] | None = None
    text: str
    licence = "Apache-2.0"
    inputs: tuple[str, ...] = ("input_ids", "attention_mask")

    def __init__(
        self, *, name: str, folder: Path | str | None, file: str, threshold: float, how: str
    ) -> None:
        self._folder = Path(folder) if folder is not None else None
        self._file = file
        self._threshold = number("threshold", threshold, low=0.0, high=1.0)
        self._how = how
        self._session: Any = None
        self._tokens: Any = None
        self._types = False
        self._output = "logits"
        self.spec = SystemSpec(
            name=name,
            version=file,
            level=Level.REAL_CODE_PATH,
            labels=("complete", "incomplete"),
            states=(IDLE,),
            languages=self.languages,
            modalities=("text",),
            context="current user turn",
            front_end=FrontEnd(text=self.text),
            score="complete",
            threshold=self._threshold,
            label_map=self.label_map,
            parameters=self._own(),
            licence=self.licence,
        )

    def load(self) -> None:
        """Open the model and its tokenizer; idempotent.

        Raises
        ------
        EnvironmentProblem
            ``FB401`` without onnxruntime or tokenizers.
        UsageError
            ``FB554`` when the folder is not given.
        SystemProblem
            ``FB554`` when the folder lacks something, ``FB514`` for another model.
        """
        if self._session is not None:
            return
        import dataclasses

        if self._folder is None:
            raise UsageError("FB554", "the model's folder is not given", hint=self._how)
        file = self._folder / self._file
        if not file.is_file():
            raise SystemProblem(
                "FB554", f"has no {self._file}", where=Place(str(self._folder)), hint=self._how
            )
        self._tokens = open_tokenizer(self._folder)
        session = self._open(file)
        self.spec = dataclasses.replace(
            self.spec,
            weights={self._file: assets.sha256_of(file), "tokenizer": self._tokens.sha256},
        )
        self._session = session

    def decide(self, observation: Observation) -> Decision:
        """Answer ``complete`` or ``incomplete`` for the user's current turn."""
        refused = refusal(self.spec, observation)
        if refused is not None:
            return refused
        text = self._text(observation)
        if text is None:
            return Decision(outcome=Outcome.UNSUPPORTED, reason="no words to read")
        self.load()
        ids = self._ids(text)
        if not ids:
            return Decision(label="incomplete", raw="nothing left of the words")
        probability = self._probability(ids)
        label = "complete" if probability > self._threshold else "incomplete"
        return Decision(label=label, scores={"complete": probability})

    def _open(self, file: Path) -> Any:
        """Open the model; some exports also take ``token_type_ids``."""
        from floorbench.audio.onnx import open_session

        try:
            session = open_session(file, inputs=self.inputs, outputs=())
        except SystemProblem as error:
            if error.code != "FB514" or "token_type_ids" not in error.what:
                raise
            session = open_session(file, inputs=(*self.inputs, "token_type_ids"), outputs=())
            self._types = True
        self._output = session.get_outputs()[0].name
        return session

    def _text(self, observation: Observation) -> str | None:
        return observation.text

    def _own(self) -> dict[str, Any]:
        return {"threshold": self._threshold}

    def _ids(self, text: str) -> list[int]:
        raise NotImplementedError

    def _row(self, ids: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return ids and mask as the model is fed."""
        return list(ids), [1] * len(ids)

    def _probability(self, ids: Sequence[int]) -> float:
        import numpy as np

        row, mask = self._row(ids)
        feed = {
            "input_ids": np.array([row], dtype=np.int64),
            "attention_mask": np.array([mask], dtype=np.int64),
        }
        if self._types:
            feed["token_type_ids"] = np.zeros((1, len(row)), dtype=np.int64)
        logits = self._session.run([self._output], feed)[0]
        return softmax(np.asarray(logits, dtype=np.float64).reshape(-1))


class FireRed(TextDetector):
    """FireRedChat's turn detector.

    Parameters
    ----------
    model : str or None
        Folder with the ONNX file and ``tokenizer/``.
    variant : str
        ``chinese`` or ``multilingual``.
    threshold : float
        The published code has 0.5; its README recommends 0.08.
    input : str
        ``user-turns`` joins all user turns since the system last spoke, as the published plugin
        does; ``turn`` takes the turn to decide on only, as a toolkit without history does.

    Notes
    -----
    Front end: the trailing user turns in one string, the marks ``，。？！,. ?!`` taken out (the
    space is one of them), no special tokens, the last 128 tokens kept, padded to 128. Softmax; the
    last class is the end of the turn. Where nothing is left of the words the answer is
    ``incomplete`` without a score; the published plugin says 0.0 for every error, which would be a
    score that the model never gave.

    Source: the published LiveKit plugin.
    """

    label_map = "firered"
    text = "trailing user turns joined, marks stripped, last 128 tokens, padded to 128"

    def __init__(
        self,
        *,
        model: str | None = None,
        variant: str = "multilingual",
        threshold: float = 0.5,
        input: str = "user-turns",
    ) -> None:
        self._variant = choice("variant", variant, ("chinese", "multilingual"))
        self._input = choice("input", input, INPUTS)
        if variant == "chinese":
            self.languages = ("zh",)
        if self._input == "turn":
            self.text = self.text.replace("trailing user turns joined", "the turn alone")
        super().__init__(
            name="firered-turn",
            folder=model,
            file=f"{variant}_best_model_q8.onnx",
            threshold=threshold,
            how="download FireRedTeam/FireRedChat-turn-detector and give --set model=FOLDER",
        )

    def _own(self) -> dict[str, Any]:
        return {"threshold": self._threshold, "variant": self._variant, "input": self._input}

    def _text(self, observation: Observation) -> str | None:
        if observation.text is None or self._input == "turn":
            return observation.text
        said = [observation.text]
        for turn in reversed(observation.turns):
            if turn.role is Role.SYSTEM:
                break
            said.append(turn.text or "")
        return "".join(reversed(said))

    def _ids(self, text: str) -> list[int]:
        left = "".join(c for c in text if c not in FIRERED_STRIPPED)
        found: list[int] = self._tokens.encode(left, special=False)
        return found[-FIRERED_LENGTH:]

    def _row(self, ids: Sequence[int]) -> tuple[list[int], list[int]]:
        missing = FIRERED_LENGTH - len(ids)
        return [*ids, *[self._tokens.pad] * missing], [1] * len(ids) + [0] * missing


class Namo(TextDetector):
    """NAMO turn detector v1: DistilBERT per language, or mmBERT for many.

    Parameters
    ----------
    model : str or None
        Folder with ``model_quant.onnx`` and the tokenizer.
    variant : str
        ``distilbert`` (at most 512 tokens) or ``mmbert`` (8192).
    languages : list of str or None
        Languages of the export; ``None`` claims all.
    threshold : float
        0.5 is the published argmax of the two classes (not end, end).

    Notes
    -----
    Front end: the last utterance with the tokenizer's own special tokens, truncated on the right.

    Source: the published model cards.
    """

    label_map = "namo"
    text = "last utterance, special tokens, truncated on the right"

    def __init__(
        self,
        *,
        model: str | None = None,
        variant: str = "mmbert",
        languages: list[str] | None = None,
        threshold: float = 0.5,
    ) -> None:
        self._variant = choice("variant", variant, NAMO_LENGTHS)
        self.languages = None if languages is None else tuple(languages)
        super().__init__(
            name="namo-turn",
            folder=model,
            file="model_quant.onnx",
            threshold=threshold,
            how="download videosdk-live/Namo-Turn-Detector-v1-... and give --set model=FOLDER",
        )

    def _own(self) -> dict[str, Any]:
        return {"threshold": self._threshold, "variant": self._variant}

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self._tokens.encode(
            text, special=True, longest=NAMO_LENGTHS[self._variant]
        )
        return found if text.strip() else []


class Tokens(NamedTuple):
    """A tokenizer, its padding id and the hash of its file."""

    library: Any
    pad: int
    sha256: str

    def encode(self, text: str, *, special: bool, longest: int | None = None) -> list[int]:
        """Return token ids; ``longest`` truncates on the right, special tokens kept."""
        if longest is not None:
            self.library.enable_truncation(longest)
        ids: list[int] = self.library.encode(text, add_special_tokens=special).ids
        return ids


def open_tokenizer(folder: Path) -> Tokens:
    """Open the tokenizer in a model's folder or its ``tokenizer/``.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` without the library.
    SystemProblem
        ``FB554`` when there is none that can be read.
    """
    try:
        import tokenizers
    except ModuleNotFoundError:
        raise missing_extra("tokenizers", "text") from None
    for place in (folder, folder / "tokenizer"):
        whole, words = place / "tokenizer.json", place / "vocab.txt"
        try:
            if whole.is_file():
                made = tokenizers.Tokenizer.from_file(str(whole))
                made.no_padding()
                made.no_truncation()
                file = whole
            elif words.is_file():
                lower = bool(_config(place).get("do_lower_case", True))
                made = tokenizers.BertWordPieceTokenizer(str(words), lowercase=lower)
                file = words
            else:
                continue
        except Exception as error:  # the library raises plain exceptions
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise SystemProblem(
                "FB554", f"the tokenizer cannot be read: {first}", where=Place(str(place))
            ) from None
        pad = made.token_to_id("[PAD]")
        return Tokens(made, 0 if pad is None else pad, assets.sha256_of(file))
    raise SystemProblem(
        "FB554", "has neither tokenizer.json nor vocab.txt", where=Place(str(folder))
    )


def _config(place: Path) -> dict[str, Any]:
    try:
        found = json.loads((place / "tokenizer_config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise EnvironmentProblem(
            "FB402", f"cannot be read: {error}", where=Place(str(place / "tokenizer_config.json"))
        ) from None
    if not isinstance(found, dict):
        where = Place(str(place / "tokenizer_config.json"))
        raise EnvironmentProblem("FB402", "cannot be read: it is no object", where=where)
    return found


def softmax(logits: NDArray[np.float64]) -> float:
    """Return the probability of the last class (``FB514`` for fewer than two, or non-finite)."""
    import numpy as np

    if logits.size < 2 or not np.isfinite(logits).all():
        raise SystemProblem(
            "FB514", f"gives {counted(logits.size, 'class', 'classes')}, two or more finite are due"
        )
    weights = np.exp(logits - logits.max())
    return float(weights[-1] / weights.sum())
