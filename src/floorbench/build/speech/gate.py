"""Which clip passes: by transcript, by other rules where it is too short, by VAD where it is noise.

A recogniser invents words for clips under a second and for noise, so neither is judged by its
transcript alone. The rule that decided is part of every verdict.

Source
------
CoDeTT, stage C: transcripts must agree with the text. The paper gives no threshold and does not
say what happens to short utterances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field

import numpy as np

from floorbench.audio.vad import RATE as VAD_RATE
from floorbench.audio.vad import Vad
from floorbench.build.speech import scoring
from floorbench.build.speech.providers import ASR, Audio
from floorbench.build.speech.rate import voiced_seconds
from floorbench.build.speech.scoring import Errors
from floorbench.core.sample import JsonValue
from floorbench.errors import UsageError

SHORT = 8
"""Phonemes below which a transcript alone does not decide."""
PHONEME_S = (0.03, 0.3)
"""Voiced seconds per phoneme that a short utterance may have."""
ALIKE: Mapping[str, Mapping[str, frozenset[str]]] = {
    "en": {
        "uh huh": frozenset({"uhhuh", "aha", "uh hum", "oh hi", "a ha"}),
        "mm hmm": frozenset({"mhm", "m m hum", "mmhmm", "mm hm", "hmm"}),
        "mhm": frozenset({"mm hmm", "m m hum", "hmm"}),
        "yeah": frozenset({"yes", "yea", "yah", "ya"}),
        "okay": frozenset({"ok", "ok ay", "o k"}),
        "right": frozenset({"write", "rite"}),
        "no": frozenset({"know"}),
        "oh": frozenset({"o", "owe"}),
    },
    "zh": {
        "嗯": frozenset({"恩", "en", "嗯嗯", "um"}),
        "哦": frozenset({"喔", "噢", "oh"}),
        "啊": frozenset({"阿", "ah"}),
    },
}
"""What short utterances are heard as when they are spoken well; both sides normalised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Largest error rates that pass; the defaults are measured (`benchmarks/speech_gate.py`).

    Parameters
    ----------
    wer : float
        Words, English.
    syllables : float
        Toneless syllables, Mandarin.
    speech_s : float
        Seconds of speech that a VAD may find in a non-speech clip.
    """

    wer: float = 0.05
    syllables: float = 0.10
    speech_s: float = 0.25

    def __post_init__(self) -> None:
        if min(self.wer, self.syllables, self.speech_s) < 0:
            raise UsageError("FB875", f"a threshold below 0 passes nothing: {self}")

    def of(self, language: str) -> float:
        """Return the error rate that a language is gated on."""
        return self.syllables if language == "zh" else self.wer


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a clip passes.

    Attributes
    ----------
    passed : bool
    rule : str
        ``transcript``, ``transcript-cut``, ``short-exact``, ``short-homophone``,
        ``short-duration``, ``no-speech``, ``rate``.
    reason : str
        Why it failed: ``wer``, ``syllables``, ``short``, ``speech``, ``rate``; else empty.
    heard : str or None
    figures : mapping
        What was measured.
    """

    passed: bool
    rule: str
    reason: str = ""
    heard: str | None = None
    figures: Mapping[str, JsonValue] = field(default_factory=dict)


Measure = Callable[[str, str, str], Errors]


def phonemes_of(text: str, language: str, counted: int | None) -> int:
    """Return the phonemes that a voice counted, else one per letter or two per Han character."""
    if counted is not None:
        return counted
    letters = sum(c.isalnum() for c in text)
    return 2 * letters if language == "zh" else letters


def by_transcript(
    audio: Audio,
    rate: int,
    *,
    text: str,
    language: str,
    asr: ASR,
    thresholds: Thresholds,
    shorter: str | None = None,
    measure: Measure = scoring.errors_of,
) -> Verdict:
    """Compare what a recogniser hears with the text; a failure is heard once more, carefully.

    Parameters
    ----------
    shorter : str or None
        For an utterance that is cut off: its text without the last word. Recognisers tend to leave
        out a word that hangs in the air (*early and*), so the better of the two comparisons
        counts; the rule is ``transcript-cut`` then.
    """
    limit = thresholds.of(language)

    def compared(heard: str) -> Errors:
        found = measure(text, heard, language)
        if shorter is None:
            return found
        return min(found, measure(shorter, heard, language), key=lambda e: e.gated)

    heard = asr.transcribe(audio, rate, language=language).text
    errors, careful = compared(heard), False
    if errors.gated > limit:
        again = asr.transcribe(audio, rate, language=language, careful=True).text
        second = compared(again)
        careful = True
        if second.gated < errors.gated:
            heard, errors = again, second
    passed = errors.gated <= limit
    figures: dict[str, JsonValue] = {k: _rounded(v) for k, v in asdict(errors).items()}
    return Verdict(
        passed=passed,
        rule="transcript" if shorter is None else "transcript-cut",
        reason="" if passed else ("syllables" if language == "zh" else "wer"),
        heard=heard,
        figures={**figures, "limit": limit, "careful": careful},
    )


def by_short_rules(
    audio: Audio,
    rate: int,
    *,
    text: str,
    language: str,
    phonemes: int,
    asr: ASR,
    vad: Vad | None = None,
    normalise: Callable[[str, str], str] = scoring.normalised,
) -> Verdict:
    """Judge an utterance of fewer than eight phonemes.

    It passes when it is heard as its text, or as something that its text is known to be heard as;
    otherwise when its voiced length suits its phonemes and, where there is a VAD, speech is found.
    """
    heard = asr.transcribe(audio, rate, language=language).text
    said, got = normalise(text, language), normalise(heard, language)
    per_phoneme = voiced_seconds(audio, rate) / max(phonemes, 1)
    figures: dict[str, JsonValue] = {"phonemes": phonemes, "phoneme_s": round(per_phoneme, 4)}
    if got == said:
        return Verdict(passed=True, rule="short-exact", heard=heard, figures=figures)
    if got in ALIKE.get(language, {}).get(said, frozenset()):
        return Verdict(passed=True, rule="short-homophone", heard=heard, figures=figures)
    passed = PHONEME_S[0] <= per_phoneme <= PHONEME_S[1]
    if vad is not None:
        found = speech_seconds(audio, rate, vad)
        figures["speech_s"] = found
        passed = passed and found > 0
    return Verdict(
        passed=passed,
        rule="short-duration",
        reason="" if passed else "short",
        heard=heard,
        figures=figures,
    )


def as_non_speech(audio: Audio, rate: int, *, vad: Vad, thresholds: Thresholds) -> Verdict:
    """Judge a clip that must hold no speech: by a VAD, never by an empty transcript."""
    found = speech_seconds(audio, rate, vad)
    passed = found <= thresholds.speech_s
    return Verdict(
        passed=passed,
        rule="no-speech",
        reason="" if passed else "speech",
        figures={"speech_s": found, "limit": thresholds.speech_s, "vad": vad.name},
    )


def speech_seconds(audio: Audio, rate: int, vad: Vad) -> float:
    """Return the seconds whose frames a VAD gives at least one half."""
    samples = audio
    if rate != VAD_RATE:
        import soxr

        samples = soxr.resample(audio.astype(np.float64), rate, VAD_RATE).astype(np.float32)
    vad.load()
    frames = int(np.count_nonzero(vad.activity(samples) >= 0.5))
    return round(frames * vad.hop / VAD_RATE, 3)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
