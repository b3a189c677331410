"""Barge-in rules that really stream: yield when the user has spoken for long enough.

They hear the user channel alone and know nothing of the context, so what they can gain on matched
contrasts is what the sound of an insertion gives away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from floorbench.audio.decode import RESAMPLER
from floorbench.core.ports import Chunk
from floorbench.core.prediction import Event
from floorbench.core.sample import Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Level, Role
from floorbench.systems.common import number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ACTION = "action"
YIELD = "yield"
RATE = 16_000
ENERGY_STEP = 0.02
NEURAL_STEP = 0.032
BRIDGE = 0.2
"""Seconds; a shorter silence does not end the user's speech."""

Frame = Callable[["NDArray[np.float32]"], bool]


class BargeInRule:
    """Yield once the user's speech is long enough.

    Speech starts with a frame that the detector calls speech and ends after 0.2 s without one.
    The floor is yielded in the first step in which the user is speaking, ``min_duration`` seconds
    of speech have been heard, and ``hold_off`` seconds have passed since it started; once per
    stretch of speech. The hold-off lets short insertions pass.

    Parameters
    ----------
    name, version, licence : str
    detector : callable
        Returns a fresh function from one step of the user channel to speech or not.
    step : float
        Seconds per step, at 16 kHz.
    hold_off, min_duration : float
        Seconds, 0 to 10.
    weights, parameters : mapping
        What belongs to the detector.
    """

    def __init__(
        self,
        *,
        name: str,
        detector: Callable[[], Frame],
        step: float,
        hold_off: float,
        min_duration: float,
        gate: str,
        licence: str,
        load: Callable[[], None] | None = None,
        weights: dict[str, str] | None = None,
        parameters: dict[str, float] | None = None,
    ) -> None:
        self._detector = detector
        self._load = load
        self._hold_off = number("hold_off", hold_off, low=0.0, high=10.0)
        self._min_duration = number("min_duration", min_duration, low=0.0, high=10.0)
        self.spec = SystemSpec(
            name=name,
            version="1",
            level=Level.MEASURED,
            labels=(YIELD,),
            modalities=("audio",),
            context="current user turn",
            streaming_step=step,
            front_end=FrontEnd(rate=RATE, resampler=RESAMPLER, gate=gate),
            weights=weights or {},
            parameters={
                "hold_off": self._hold_off,
                "min_duration": self._min_duration,
                "tail": 0.0,
                **(parameters or {}),
            },
            licence=licence,
        )

    def load(self) -> None:
        """Load the detector."""
        if self._load is not None:
            self._load()

    def open(self, setup: Observation) -> BargeIn:
        """Start a stream."""
        return BargeIn(self._detector(), hold_off=self._hold_off, min_duration=self._min_duration)


class BargeIn:
    """One stream of a barge-in rule."""

    def __init__(self, speech: Frame, *, hold_off: float, min_duration: float) -> None:
        self._speech = speech
        self._hold_off = hold_off
        self._min_duration = min_duration
        self._onset: float | None = None
        self._last = 0.0
        self._heard = 0.0
        self._yielded = False

    def push(self, chunk: Chunk) -> Sequence[Event]:
        """Take one step; return a yield in the step that completes the condition."""
        if not self._speech(chunk.samples[Role.USER]):
            if self._onset is not None and chunk.end - self._last >= BRIDGE - 1e-9:
                self._onset, self._heard, self._yielded = None, 0.0, False
            return ()
        if self._onset is None:
            self._onset = chunk.start
        self._last = chunk.end
        self._heard += chunk.end - chunk.start
        due = (
            self._heard >= self._min_duration - 1e-9
            and chunk.end - self._onset >= self._hold_off - 1e-9
        )
        if not due or self._yielded:
            return ()
        self._yielded = True
        return (Event(kind=ACTION, time=chunk.end, label=YIELD),)

    def close(self) -> Sequence[Event]:
        """End the stream."""
        return ()


def barge_in_energy(
    *, hold_off: float = 0.0, min_duration: float = 0.1, level: float = -45.0
) -> BargeInRule:
    """Return the rule on signal energy.

    Parameters
    ----------
    hold_off, min_duration : float
        Seconds (see :class:`BargeInRule`).
    level : float
        A step of 20 ms is speech when its mean power is above this many dB relative to full
        scale; -100 to 0.
    """
    level = number("level", level, low=-100.0, high=0.0)
    power = 10 ** (level / 10)

    def detector() -> Frame:
        import numpy as np

        def speech(samples: NDArray[np.float32]) -> bool:
            return float(np.dot(samples, samples)) > power * samples.size

        return speech

    return BargeInRule(
        name="barge-in-energy",
        detector=detector,
        step=ENERGY_STEP,
        hold_off=hold_off,
        min_duration=min_duration,
        gate=f"energy above {level:g} dBFS",
        licence="Apache-2.0",
        parameters={"level": level},
    )


def barge_in_silero(
    *, hold_off: float = 0.0, min_duration: float = 0.1, threshold: float = 0.5
) -> BargeInRule:
    """Return the rule on Silero VAD, one frame of 32 ms a step.

    Parameters
    ----------
    hold_off, min_duration : float
        Seconds (see :class:`BargeInRule`).
    threshold : float
        A step is speech when its probability is at least this; 0 to 1.
    """
    from floorbench.audio.assets import asset
    from floorbench.audio.vad import SileroVad

    threshold = number("threshold", threshold, low=0.0, high=1.0)
    vad = SileroVad()

    def detector() -> Frame:
        stream = vad.stream()
        return lambda samples: stream.push(samples) >= threshold

    return BargeInRule(
        name="barge-in-silero",
        detector=detector,
        step=NEURAL_STEP,
        hold_off=hold_off,
        min_duration=min_duration,
        gate=vad.name,
        licence=asset("silero-vad").licence,
        load=vad.load,
        weights=vad.weights(),
        parameters={"threshold": threshold},
    )
