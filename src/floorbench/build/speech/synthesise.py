"""The stage that says every line of a dialogue.

It reads the item's dialogue (:class:`floorbench.build.text.dialogue.Dialogue`). An utterance that
is cut off is spoken in full and cut at the end of its last word, by word times.

Source
------
CoDeTT, stage B: dynamic voices, several roles, filtered speaking rates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from floorbench.build import mixing
from floorbench.build.pipeline.stage import Bench, Item, Outcome, Rejected, made
from floorbench.build.speech import gate, rate, voices
from floorbench.build.speech.providers import TTS, Aligner, Spoken, Word, facts_of, sounds
from floorbench.build.speech.rate import Band
from floorbench.build.speech.voices import Voice
from floorbench.build.speech.words import cut_after, moved, word_times
from floorbench.build.text.dialogue import Dialogue, dialogue_of
from floorbench.core.sample import JsonValue
from floorbench.errors import DataError, Place
from floorbench.stats.streams import generator

LEVEL_DB = -26.0
EDGE_FADE_S = 0.005
CUT_FADE_S = 0.01
SPEEDS = (0.96, 1.08)
STEPS = (0.0, -0.07, 0.05, -0.12, 0.1)
"""What is added to the speed at each attempt; from the third on the voice changes as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Something to say: on which track, by whom, and where it is cut off.

    Parameters
    ----------
    mark : str or None
        A beginning of the text whose end must be a timed word boundary; nothing is cut there.
    """

    track: str
    role: str
    text: str
    cut_after: str | None = None
    mark: str | None = None


def lines_of(dialogue: Dialogue) -> tuple[Line, ...]:
    """Return the lines of a dialogue that are spoken, in order; the target is the last.

    The user's turns of the history and the target are spoken, the assistant's stay text. A noise
    is not spoken.
    """
    lines = [
        Line(track=f"history-{turn}-user", role="user", text=one.user)
        for turn, one in enumerate(dialogue.history, start=1)
        if one.user
    ]
    target = dialogue.target
    if target.text and target.role != "noise":
        cut = None if target.cut_after is None else dialogue.heard
        lines.append(Line(track="target", role=target.role, text=target.text, cut_after=cut))
    return tuple(lines)


class _NoSound(Exception):
    """A voice gave silence, or numbers that are no sound."""


class _Paced(NamedTuple):
    """An utterance at its speaking rate, by what factor it was stretched, and the rate."""

    spoken: Spoken
    stretch: float
    rate: float
    in_band: bool


class Synthesise:
    """Say the lines of a dialogue.

    Every role of a dialogue family has one voice, drawn from its own pool. The second attempt
    speaks the target at another speed, later ones with another voice as well; the history follows
    where its speaker is the same, or where it is gated too. A voice that gives silence rejects the
    item (``no-sound``).

    Adds the tracks and the field ``speech``: a row per track with what is heard in it, voice,
    speed, rate and word times.

    Parameters
    ----------
    tts : TTS
    pools : mapping
        Language to role to voices; no voice may be in two roles.
    aligners : sequence of Aligner
        For voices without word times, in this order.
    bands : mapping of str to Band
        Speaking rates per language that are aimed at; an utterance outside is stretched by a
        tenth at most.
    gate_history : bool
        Whether the history is checked as well (it changes with every attempt then).
    sample_rate : int
        Of the tracks, in Hz.
    casts : mapping of str to int
        Language to the number of casts that families are shared out over; 1 by default.
    lines : callable or None
        What of an item is spoken, whose fields then are ``language`` and ``family``; the lines of
        its dialogue by default.
    """

    name = "synthesise"
    version = 1

    def __init__(
        self,
        *,
        tts: TTS,
        pools: Mapping[str, Mapping[str, Sequence[Voice]]] = voices.KOKORO,
        aligners: Sequence[Aligner] = (),
        bands: Mapping[str, Band] = rate.BANDS,
        gate_history: bool = False,
        sample_rate: int = 24_000,
        casts: Mapping[str, int] | None = None,
        lines: Callable[[Item], tuple[Line, ...]] | None = None,
    ) -> None:
        for pool in pools.values():
            voices.disjoint(pool)
        self._tts = tts
        self._pools = pools
        self._aligners = aligners
        self._bands = bands
        self._gate_history = gate_history
        self._rate = sample_rate
        self._casts = dict(casts or {})
        self._lines = lines
        self.deterministic = tts.can.deterministic

    def settings(self) -> Mapping[str, JsonValue]:
        """Return voice, pools, rates and levels."""
        return {
            "tts": dict(self._tts.identity),
            "pools": {
                language: {role: [_name(v) for v in pool] for role, pool in pools.items()}
                for language, pools in self._pools.items()
            },
            "aligners": [dict(a.identity) for a in self._aligners],
            "bands": {k: [b.low, b.high] for k, b in self._bands.items()},
            "gate_history": self._gate_history,
            "rate": self._rate,
            "casts": {**self._casts},
            "level_db": LEVEL_DB,
            "speeds": [*SPEEDS, *STEPS],
        }

    def start(self) -> None:
        """Do nothing: the voice loads with the first line that is not in the cache."""

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Say one dialogue."""
        if self._lines is None:
            dialogue = dialogue_of(item)
            lines = lines_of(dialogue)
            language, family = str(dialogue.language), dialogue.family
            target_role: str = dialogue.target.role
        else:
            lines = self._lines(item)
            language, family = str(item.fields["language"]), str(item.fields["family"])
            target_role = lines[-1].role if lines else "user"
        pools = self._pools.get(language)
        if pools is None:
            raise DataError("FB871", f"no voice speaks {language!r}", where=Place(item=item.id))
        tracks: dict[str, str] = {}
        rows: list[JsonValue] = []
        for line in lines:
            tried = line.track == "target" or self._gate_history
            turn = max(0, bench.attempt - 1) if tried or line.role == target_role else 0
            faster = bench.attempt if tried else 0
            voice = voices.choose(
                pools.get(line.role, ()),
                seed=bench.seed,
                family=family,
                role=line.role,
                turn=turn,
                casts=self._casts.get(language, 1),
            )
            try:
                row, digest = self._say(
                    line,
                    bench=bench,
                    language=language,
                    voice=voice,
                    speed=self._speed(bench.seed, family, line.role, faster),
                    seed=int(generator(bench.seed, family, line.text, str(faster)).integers(2**31)),
                )
            except _NoSound as fault:
                return Rejected(
                    reason="no-sound", detail=f"{line.track}: {_name(voice)} says {fault}"
                )
            rows.append(row)
            tracks[line.track] = digest
        return made(item.having(audio=tracks, speech=rows))

    def _speed(self, seed: int, family: str, role: str, attempt: int) -> float:
        if not self._tts.can.speed:
            return 1.0
        base = generator(seed, family, role, "speed").uniform(*SPEEDS)
        return round(float(base) + STEPS[attempt % len(STEPS)], 2)

    def _say(
        self, line: Line, *, bench: Bench, language: str, voice: Voice, speed: float, seed: int
    ) -> tuple[dict[str, JsonValue], str]:
        spoken = self._tts.synthesize(
            line.text,
            language=language,
            voice=voice,
            speed=speed,
            seed=seed,
            prefix=line.cut_after or line.mark,
        )
        bench.note("voice", track=line.track, **facts_of(spoken.provenance))
        if not sounds(spoken.audio):
            raise _NoSound(f"nothing for {line.text!r}")
        paced = self._paced(spoken, line.text, language)
        audio, words, timed_by = self._placed(paced.spoken, line, language)
        row: dict[str, JsonValue] = {
            "track": line.track,
            "role": line.role,
            "text": line.cut_after or line.text,
            "said": line.text,
            "language": language,
            "voice": _name(voice),
            "speed": speed,
            "stretch": round(paced.stretch, 4),
            "rate": round(paced.rate, 3),
            "rate_unit": rate.UNIT.get(language),
            "in_band": paced.in_band,
            "phonemes": None if line.cut_after else paced.spoken.phonemes,
            "seconds": round(len(audio) / self._rate, 4),
            "words": None if words is None else [asdict(w) for w in words],
            "words_by": timed_by,
        }
        return row, bench.keep(audio.astype(np.float32), self._rate)

    def _paced(self, spoken: Spoken, text: str, language: str) -> _Paced:
        """Stretch an utterance into the band of its language; short ones stay as they are."""
        band = self._bands.get(language)
        before = self._measured(spoken, text, language)
        factor = 1.0 if band is None else rate.into(before, band)
        if (
            abs(factor - 1.0) < 0.01
            or gate.phonemes_of(text, language, spoken.phonemes) < gate.SHORT
        ):
            return _Paced(spoken, 1.0, before, band is None or before in band)
        stretched = replace(
            spoken,
            audio=rate.stretched(spoken.audio, spoken.rate, factor),
            words=None if spoken.words is None else moved(spoken.words, scale=factor),
        )
        after = self._measured(stretched, text, language)
        return _Paced(stretched, factor, after, band is None or after in band)

    @staticmethod
    def _measured(spoken: Spoken, text: str, language: str) -> float:
        count = rate.units(text, language, spoken.phonemes)
        return count / rate.voiced_seconds(spoken.audio, spoken.rate)

    def _placed(
        self, spoken: Spoken, line: Line, language: str
    ) -> tuple[mixing.Audio, tuple[Word, ...] | None, str | None]:
        """Cut, resample, trim, level and fade; the words move along."""
        words, timed_by = spoken.words, "native" if spoken.words is not None else None
        audio = spoken.audio.astype(np.float64)
        if line.cut_after is not None or line.mark is not None:
            words, timed_by = word_times(
                spoken, text=line.text, language=language, aligners=self._aligners
            )
        if line.cut_after is not None and words is not None:
            at = cut_after(words, line.cut_after)
            audio = mixing.cut(audio, spoken.rate, at_s=at, fade_s=CUT_FADE_S)
            if not sounds(audio):
                raise _NoSound(f"nothing before the cut in {line.text!r}")
            words = tuple(w for w in words if (w.start + w.end) / 2 < at)
        if spoken.rate != self._rate:
            import soxr

            audio = soxr.resample(audio, spoken.rate, self._rate)
        size = max(1, round(self._rate * mixing.WINDOW_S))
        first = int(np.flatnonzero(mixing.active_windows(audio, self._rate))[0]) * size
        audio = mixing.trim(audio, self._rate, end=line.cut_after is None)
        if words is not None:
            length = round(len(audio) / self._rate, 4)
            words = tuple(
                replace(w, start=max(0.0, w.start), end=min(length, w.end))
                for w in moved(words, by_s=-first / self._rate)
            )
        audio, _ = mixing.guard(mixing.to_level(audio, self._rate, LEVEL_DB))
        audio = mixing.fade(audio, self._rate, start_s=EDGE_FADE_S, end_s=EDGE_FADE_S)
        return audio, words, timed_by


def _name(voice: Voice) -> str:
    return voice if isinstance(voice, str) else voice.path.name
