"""Smart-Turn v3: is the user's turn complete, from the sound of its last 8 s.

A published detector (Whisper-tiny encoder and a small head, 8 M parameters, 8-bit). Three minor
versions are separate systems. It sees the user's current turn only: no history, no text.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorbench.audio import assets
from floorbench.audio.decode import RESAMPLER
from floorbench.audio.vad import VadParameters, speech_spans, vad
from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.time import from_samples, to_samples
from floorbench.core.vocab import Level
from floorbench.errors import EnvironmentProblem, Place
from floorbench.systems.common import IDLE, choice, number, refusal, user_audio
from floorbench.systems.whisper_mel import (
    NORMALISE,
    RATE,
    WINDOW,
    WINDOW_SECONDS,
    whisper_mel,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GATE = VadParameters(min_speech=0.1)
"""How the gate hears speech: a short answer ("mm") must reach the model."""

VERSIONS = ("v3.0", "v3.1", "v3.2")
GATES = ("off", "silero", "webrtc")
ARITHMETIC = ("cpu", "exact")
LANGUAGES = (
    "ar", "bn", "da", "de", "en", "es", "fi", "fr", "hi", "id", "it", "ja", "ko", "mr", "nl", "no",
    "pl", "pt", "ru", "tr", "uk", "vi", "zh",
)  # fmt: skip


class SmartTurn:
    """Smart-Turn v3 with its voice-activity gate.

    Parameters
    ----------
    version : str
        ``v3.0``, ``v3.1`` or ``v3.2``.
    gate : str
        VAD in front of the model: ``silero``, ``webrtc`` or ``off``. The model calls silence and
        noise complete, so its publisher runs it behind a VAD; without speech in the window the
        answer here is ``incomplete`` and no probability is given.
    tail : float
        Seconds of silence appended to the turn, 0 to 4. A fraction of a second can turn an answer
        round, so it is part of the system.
    threshold : float
        ``complete`` iff the probability is strictly greater.
    arithmetic : str
        ``cpu`` lets onnxruntime sum 8-bit products as the machine does it best, like the
        publisher's own code; ``exact`` sums them in 32 bits, so that every machine gives the
        same number. Once loaded, the spec's parameter ``int8`` says what was done: ``exact`` or
        ``saturating``.
    model_path : Path or str or None
        An ONNX file to use instead of the known one.

    Notes
    -----
    Score ``complete`` is the model's own sigmoid. Commit time is the end of the audio.

    The publisher's files are 8-bit and react to rounding: on the same clip two kinds of CPU gave
    0.14 and 0.93, and features moved by 1e-6 shifted a probability by 0.1. Compare numbers made
    with ``arithmetic=exact``, or on one machine.

    Source: publisher's model card and code (threshold 0.5, strict; last 8 s, zeros at the start);
    languages as in the card.
    """

    def __init__(
        self,
        *,
        version: str = "v3.2",
        gate: str = "silero",
        tail: float = 0.0,
        threshold: float = 0.5,
        arithmetic: str = "cpu",
        model_path: Path | str | None = None,
    ) -> None:
        self._asset = f"smart-turn-{choice('version', version, VERSIONS)}"
        self._gate_name = choice("gate", gate, GATES)
        self._tail = number("tail", tail, low=0.0, high=4.0)
        self._threshold = number("threshold", threshold, low=0.0, high=1.0)
        self._arithmetic = choice("arithmetic", arithmetic, ARITHMETIC)
        self._path = Path(model_path) if model_path is not None else None
        self._gate = None if self._gate_name == "off" else vad(self._gate_name)
        self._session: Any = None
        self.spec = self._spec(version)

    def _spec(self, version: str) -> SystemSpec:
        known = assets.asset(self._asset)
        digest = known.sha256 if self._path is None else _hash_of(self._path)
        own = digest != known.sha256
        gate = "off"
        weights = {self._asset: digest}
        if self._gate is not None:
            gate = f"{self._gate.name}({GATE})"
            weights |= self._gate.weights()
        return SystemSpec(
            name=self._asset,
            version=f"{version} (own file)" if own else version,
            level=Level.REAL_CODE_PATH if own else Level.MEASURED,
            labels=("complete", "incomplete"),
            states=(IDLE,),
            languages=LANGUAGES,
            modalities=("audio",),
            context="current user turn",
            front_end=FrontEnd(
                rate=RATE,
                resampler=RESAMPLER,
                window=WINDOW_SECONDS,
                keep="last",
                pad="left",
                normalise=NORMALISE,
                gate=gate,
                tail=self._tail,
            ),
            score="complete",
            threshold=self._threshold,
            label_map="smart-turn",
            weights=weights,
            parameters={
                "version": version,
                "gate": self._gate_name,
                "tail": self._tail,
                "threshold": self._threshold,
                "arithmetic": self._arithmetic,
            },
            licence=known.licence,
        )

    def load(self) -> None:
        """Open the model and the gate; the spec then names the machine's 8-bit arithmetic."""
        if self._session is not None:
            return
        from floorbench.audio.onnx import int8_arithmetic, open_session

        exact = self._arithmetic == "exact"
        session = open_session(
            self._path or assets.locate(self._asset),
            inputs=("input_features",),
            outputs=("logits",),
            exact=exact,
        )
        if self._gate is not None:
            self._gate.load()
        did = "exact" if exact else int8_arithmetic()
        self.spec = dataclasses.replace(self.spec, parameters={**self.spec.parameters, "int8": did})
        self._session = session

    def decide(self, observation: Observation) -> Decision:
        """Answer ``complete`` or ``incomplete`` for the user's current turn.

        There are no batches: they give the same numbers, but were slower per item on a CPU.
        """
        self.load()
        refused = refusal(self.spec, observation)
        if refused is not None:
            return refused
        audio = user_audio(observation)
        commit = from_samples(audio.frames, audio.rate)
        samples = audio.read(rate=RATE)[-WINDOW:]
        if self._gate is not None and not speech_spans(
            self._gate, samples, rate=RATE, parameters=GATE
        ):
            return Decision(label="incomplete", commit=commit, raw="gate: no speech")
        probability = self._probability(self._with_tail(samples))
        label = "complete" if probability > self._threshold else "incomplete"
        return Decision(label=label, scores={"complete": probability}, commit=commit)

    def _with_tail(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        import numpy as np

        extra = to_samples(self._tail, RATE)
        return np.concatenate([samples, np.zeros(extra, dtype=np.float32)]) if extra else samples

    def _probability(self, samples: NDArray[np.float32]) -> float:
        features = whisper_mel(samples)[None]
        return float(self._session.run(["logits"], {"input_features": features})[0][0, 0])


def _hash_of(path: Path) -> str:
    try:
        return assets.sha256_of(path)
    except OSError as error:
        raise EnvironmentProblem(
            "FB402", f"cannot be read: {error.strerror or error}", where=Place(str(path))
        ) from None


def _documentation(version: str) -> str:
    """Return the class's documentation for one version: without the parameter ``version``."""
    whole = inspect.cleandoc(SmartTurn.__doc__ or "")  # none under python -OO
    rest = re.sub(r"^version : .*\n +.*\n", "", whole, flags=re.MULTILINE)
    return rest.replace("Smart-Turn v3", f"Smart-Turn {version}", 1)


def _of_version(version: str) -> Callable[..., SmartTurn]:
    def build(
        *,
        gate: str = "silero",
        tail: float = 0.0,
        threshold: float = 0.5,
        arithmetic: str = "cpu",
        model_path: Path | str | None = None,
    ) -> SmartTurn:
        return SmartTurn(
            version=version,
            gate=gate,
            tail=tail,
            threshold=threshold,
            arithmetic=arithmetic,
            model_path=model_path,
        )

    build.__doc__ = _documentation(version)
    return build


smart_turn_v3_0 = _of_version("v3.0")
smart_turn_v3_1 = _of_version("v3.1")
smart_turn_v3_2 = _of_version("v3.2")
