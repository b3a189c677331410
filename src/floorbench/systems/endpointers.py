"""The rule that most deployed systems use: the turn is complete after enough silence."""

from __future__ import annotations

from floorbench.audio.decode import RESAMPLER
from floorbench.audio.vad import RATE, SileroVad, Vad, VadParameters, WebRtcVad, speech_spans
from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.time import from_samples, from_ticks, to_ticks
from floorbench.core.vocab import Level
from floorbench.systems.common import IDLE, number, refusal, user_audio

DEFAULT_TIMEOUT = 0.5
MIN_SPEECH = 0.1
"""Seconds; a late short word starts the silence anew, a click does not."""


class SilenceEndpointer:
    """Complete iff the audio ends in at least ``timeout`` seconds without speech.

    What a clip can say about this rule: only what has happened by its end. The rule is a stream;
    given more silence it fires on every turn, complete or not. So a clip cut shortly after the
    last word, before the timeout has passed, gets ``incomplete`` for every turn. That is the
    rule's honest answer at that moment, not a fault of the clip; silence after the end is never
    assumed. To see how the rule separates turns at other timeouts, sweep the score.

    Score ``silence`` is the length in seconds of the silence after the last speech; it is left out
    when there is no speech at all, and the answer then is ``incomplete``: nobody's turn has ended.
    Commit time is the moment the timeout ran out, or the end of the audio when it did not.

    Parameters
    ----------
    detector : Vad
        Which frames are speech.
    name : str
        Catalogued name.
    timeout : float
        Seconds, 0 to 10; 0.5 is a usual setting of deployed endpointers.
    parameters : VadParameters
        How frames become speech; padding is 0 so that the silence is not shortened.
    licence : str
        Of the VAD.
    """

    def __init__(
        self,
        *,
        detector: Vad,
        name: str,
        timeout: float = DEFAULT_TIMEOUT,
        parameters: VadParameters,
        licence: str,
    ) -> None:
        self._detector = detector
        self._timeout = number("timeout", timeout, low=0.0, high=10.0)
        self._parameters = parameters
        self.spec = SystemSpec(
            name=name,
            version="1",
            level=Level.MEASURED,
            labels=("complete", "incomplete"),
            states=(IDLE,),
            modalities=("audio",),
            context="current user turn",
            front_end=FrontEnd(
                rate=RATE, resampler=RESAMPLER, gate=f"{detector.name}({parameters})"
            ),
            score="silence",
            threshold=self._timeout,
            label_map="smart-turn",
            weights=detector.weights(),
            parameters={"timeout": self._timeout},
            licence=licence,
        )

    def load(self) -> None:
        """Load the VAD."""
        self._detector.load()

    def decide(self, observation: Observation) -> Decision:
        """Answer ``complete`` or ``incomplete`` for the user's current turn."""
        refused = refusal(self.spec, observation)
        if refused is not None:
            return refused
        audio = user_audio(observation)
        heard = from_samples(audio.frames, audio.rate)
        speech = speech_spans(
            self._detector, audio.read(), rate=audio.rate, parameters=self._parameters
        )
        if not speech:
            return Decision(label="incomplete", commit=heard, raw="no speech")
        silence = max(0, to_ticks(heard) - to_ticks(speech[-1].end))
        complete = silence >= to_ticks(self._timeout)
        return Decision(
            label="complete" if complete else "incomplete",
            scores={"silence": from_ticks(silence)},
            commit=min(speech[-1].end + self._timeout, heard) if complete else heard,
        )


def silence_silero(
    *, timeout: float = DEFAULT_TIMEOUT, threshold: float = 0.5
) -> SilenceEndpointer:
    """Return the silence rule on Silero VAD; ``threshold`` is the VAD's own, 0.05 to 0.95."""
    level = number("threshold", threshold, low=0.05, high=0.95)
    return SilenceEndpointer(
        detector=SileroVad(),
        name="silence-silero",
        timeout=timeout,
        parameters=VadParameters(
            threshold=level,
            release=round(max(level - 0.15, 0.01), 6),
            min_speech=MIN_SPEECH,
            pad=0.0,
        ),
        licence="MIT",
    )


def silence_webrtc(*, timeout: float = DEFAULT_TIMEOUT, mode: int = 3) -> SilenceEndpointer:
    """Return the silence rule on WebRTC VAD; ``mode`` is its aggressiveness, 0 to 3."""
    return SilenceEndpointer(
        detector=WebRtcVad(mode=mode),
        name="silence-webrtc",
        timeout=timeout,
        parameters=VadParameters(min_speech=MIN_SPEECH, pad=0.0),
        licence="BSD-3-Clause",
    )
