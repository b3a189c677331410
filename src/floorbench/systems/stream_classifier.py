"""Any classifier as a stream: a VAD ends the user's speech, the classifier judges what was said.

The classifier gets an observation like any other: the history, and the audio of the user's speech
from a little before its onset to the moment of asking. Its native label is stored with the event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from floorbench.audio.decode import RESAMPLER
from floorbench.audio.ref import ArrayAudio
from floorbench.audio.vad import SileroStream, SileroVad
from floorbench.core.ports import Chunk, System
from floorbench.core.prediction import Event
from floorbench.core.sample import JsonValue, Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import SystemProblem, UsageError
from floorbench.systems.common import number
from floorbench.systems.stream_rules import ACTION, NEURAL_STEP, RATE, YIELD

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEEP = "keep"
PRE_ROLL = 0.2
THRESHOLD = 0.5


class ClassifierStream:
    """Ask a classifier whenever the user has been silent for ``pause`` seconds.

    Parameters
    ----------
    classifier : str
        A catalogued system (or ``path.py:Class``) that answers one observation.
    yields : sequence of str
        Its native labels that mean giving up the floor; all others keep it.
    pause : float
        Seconds of silence after which it is asked, 0.03 to 5. The decision comes that much after
        the user's last word, so it needs a tail to count.
    parameters : mapping
        The classifier's own parameters.
    whole_turn : bool
        The classifier hears the turn from its beginning, pauses inside, until it has yielded;
        otherwise only what was said since the last pause.
    name : str or None
        Name in tables.
    """

    def __init__(
        self,
        *,
        classifier: str,
        yields: Sequence[str],
        pause: float = 0.2,
        parameters: Mapping[str, JsonValue] | None = None,
        whole_turn: bool = False,
        name: str | None = None,
    ) -> None:
        from floorbench.systems.build import build_system

        self._pause = number("pause", pause, low=0.03, high=5.0)
        if isinstance(yields, str) or not yields:
            raise UsageError("FB513", f"yields={yields!r} is not a list of labels")
        if parameters is not None and not isinstance(parameters, Mapping):
            raise UsageError(
                "FB513",
                f"parameters={parameters!r:.80} is no JSON object",
                hint='for example --set \'parameters={"label": "complete"}\'',
            )
        self._yields = frozenset(yields)
        self._whole_turn = whole_turn
        self._classifier = build_system(classifier, **(parameters or {}))
        self._vad = SileroVad()
        inner = self._classifier.spec
        self.spec = SystemSpec(
            name=name or f"stream({inner.name})",
            version="1",
            level=inner.level,
            labels=(YIELD, KEEP),
            languages=inner.languages,
            modalities=("audio",),
            context=inner.context,
            streaming_step=NEURAL_STEP,
            front_end=FrontEnd(
                rate=RATE, resampler=RESAMPLER, gate=f"{self._vad.name}(threshold={THRESHOLD:g})"
            ),
            weights={**inner.weights, **self._vad.weights()},
            parameters={
                "classifier": inner.name,
                "classifier_parameters": dict(inner.parameters),
                "yields": sorted(self._yields),
                "pause": self._pause,
                "tail": 1.0,
                **({"whole_turn": True} if whole_turn else {}),
            },
            licence=inner.licence,
        )

    def load(self) -> None:
        """Load the classifier and the VAD.

        Raises
        ------
        UsageError
            ``FB513`` when the classifier declares labels and none of them yields: it would never
            take the floor.
        """
        self._vad.load()
        self._classifier.load()
        labels = self._classifier.spec.labels
        if labels and not self._yields & set(labels):
            raise UsageError(
                "FB513",
                f"yields={sorted(self._yields)} is none of the labels of "
                f"'{self._classifier.spec.name}': {', '.join(labels)}",
            )

    def open(self, setup: Observation) -> _Judged:
        """Start a stream."""
        return _Judged(
            self._classifier,
            self._vad.stream(),
            setup,
            yields=self._yields,
            pause=self._pause,
            whole_turn=self._whole_turn,
        )


class _Judged:
    def __init__(
        self,
        classifier: System,
        vad: SileroStream,
        setup: Observation,
        *,
        yields: frozenset[str],
        pause: float,
        whole_turn: bool,
    ) -> None:
        self._classifier = classifier
        self._vad = vad
        self._setup = setup
        self._yields = yields
        self._pause = pause
        self._whole_turn = whole_turn
        self._within = False
        self._heard: list[NDArray[np.float32]] = []
        self._speaking = False
        self._last = 0.0

    def push(self, chunk: Chunk) -> Sequence[Event]:
        samples = chunk.samples[Role.USER]
        self._heard.append(samples)
        if self._vad.push(samples) >= THRESHOLD:
            self._speaking, self._last = True, chunk.end
            return ()
        if not self._speaking:
            if not self._within:
                del self._heard[: -round(PRE_ROLL / NEURAL_STEP)]
            return ()
        if chunk.end - self._last < self._pause - 1e-9:
            return ()
        self._speaking = False
        return (self._judge(chunk.end),)

    def close(self) -> Sequence[Event]:
        return ()

    def _judge(self, at: float) -> Event:
        import numpy as np

        audio = ArrayAudio(np.concatenate(self._heard), rate=RATE)
        asked = replace(self._setup, channels={Role.USER: audio})
        decision = self._classifier.decide(asked)
        if decision.outcome is not Outcome.OK or decision.label is None:
            raise SystemProblem(
                "FB543", f"the classifier gave {decision.outcome}: {decision.reason or 'no label'}"
            )
        score = next(iter(decision.scores.values()), None)
        label = YIELD if decision.label in self._yields else KEEP
        self._within = self._whole_turn and label == KEEP
        if not self._within:
            self._heard = []
        return Event(kind=ACTION, time=at, label=label, score=score)


def vad_detector(
    *,
    detector: str,
    yields: Sequence[str] = ("complete",),
    pause: float = 0.2,
    parameters: Mapping[str, JsonValue] | None = None,
    name: str = "vad-detector",
) -> Any:
    """Return any turn detector behind a VAD, asked at each pause about the turn so far.

    Parameters
    ----------
    detector : str
        A catalogued system, ``command`` with your program, or ``path.py:Class``. ``constant``
        with the label complete is a silence timeout of ``pause`` seconds.
    yields : sequence of str
        Its labels that take the floor.
    pause : float
        Seconds of silence after which it is asked, 0.03 to 5.
    parameters : mapping
        The detector's own parameters, as JSON: ``parameters='{"threshold": 0.9}'``.
    name : str
        Name in tables.
    """
    return ClassifierStream(
        classifier=detector,
        yields=yields,
        pause=pause,
        parameters=parameters,
        whole_turn=True,
        name=name,
    )


def vad_smart_turn(
    *, pause: float = 0.2, threshold: float = 0.5, version: str = "v3.2", arithmetic: str = "exact"
) -> Any:
    """Return Smart-Turn behind a VAD: a complete user turn takes the floor.

    Parameters
    ----------
    pause : float
        Seconds of silence after which the model is asked.
    threshold : float
        Complete iff the probability is greater.
    version : str
        ``v3.0``, ``v3.1`` or ``v3.2``.
    arithmetic : str
        ``exact`` gives the same number on every machine; ``cpu`` is faster.
    """
    return ClassifierStream(
        classifier=f"smart-turn-{version}",
        yields=("complete",),
        pause=pause,
        parameters={"threshold": threshold, "arithmetic": arithmetic, "gate": "off"},
        name="vad-smart-turn",
    )
