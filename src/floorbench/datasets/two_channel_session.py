"""Sessions of two channels: who speaks when, which words, which audio.

Times are integer ticks (1 microsecond).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from floorbench.core.sample import AudioRef, Observation, Word
from floorbench.core.time import Span, Ticks, exact, from_ticks, to_ticks
from floorbench.core.vocab import Role
from floorbench.errors import DataError, Place
from floorbench.events.dualturn_words import TimedWord
from floorbench.events.spans import Bools, Floats, Ints, union
from floorbench.events.tokens import is_speech
from floorbench.formats.tiers import Entry

if TYPE_CHECKING:
    import numpy as np

ROLES = (Role.USER, Role.SYSTEM)
FAULTS = "faults in the annotation"
UNTIMED = "words without times"
LONGEST = to_ticks(360_000)
"""Ticks that a session may last: longer ones have their times in another unit."""
SLACK = to_ticks(exact("0.08"))
"""Ticks that lengths of two channels, or annotation and audio, may differ by: one frame."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoChannelSession:
    """One conversation.

    Parameters
    ----------
    id : str
    speech : mapping of Role to int64 array (n, 2)
        Speech of both channels in ticks, sorted by start; spans may overlap.
    end : int
        End of the session in ticks: the largest end over both sides, non-speech included.
    source : str
        Where ``speech`` comes from: ``words``, ``segments``, ``frames`` or ``vad NAME``.
    words : mapping of Role to tuple of TimedWord
        All tokens with times, non-speech included; empty where a corpus has no word times.
    audio : mapping of Role to AudioRef
    language : str
    speakers : mapping of Role to str
        Speaker ids, where the corpus has them.
    counted : mapping of str to int
        Faults that were got over, by name.
    stored : mapping of str to mapping of Role to bool array
        Frame labels that the corpus brings along, by name; never used as gold, only compared.
    stored_fvad : mapping of Role to float64 array (T, 4)
        Future activity that it brings along; compared like ``stored``.
    """

    id: str
    speech: Mapping[Role, Ints]
    end: Ticks
    source: str
    words: Mapping[Role, tuple[TimedWord, ...]] = field(default_factory=dict)
    audio: Mapping[Role, AudioRef] = field(default_factory=dict)
    language: str = "en"
    speakers: Mapping[Role, str] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)
    stored: Mapping[str, Mapping[Role, Bools]] = field(default_factory=dict)
    stored_fvad: Mapping[Role, Floats] = field(default_factory=dict)

    def vad(self, rate: Fraction) -> dict[Role, Bools]:
        """Return binary activity of both channels at a frame rate."""
        from floorbench.events.frames import session_activity

        return session_activity(self.speech, end=self.end, rate=rate)

    def observation(self) -> Observation:
        """Return all that may be shown of the session."""
        return Observation(
            language=self.language,
            channels=dict(self.audio),
            words=tuple(
                Word(text=w.text, span=Span(from_ticks(w.start), from_ticks(w.end)), role=role)
                for role, words in self.words.items()
                for w in words
            ),
            activity={
                role: tuple(
                    Span(from_ticks(start), from_ticks(end))
                    for start, end in union(self.speech[role]).tolist()
                )
                for role in self.speech
            },
            cutoff=from_ticks(self.end),
        )


def words_session(
    session_id: str,
    sides: Mapping[Role, Sequence[TimedWord]],
    *,
    where: Place,
    audio: Mapping[Role, AudioRef] | None = None,
    end: Ticks = 0,
    faults: int = 0,
    untimed: int = 0,
    **more: Any,
) -> TwoChannelSession:
    """Return a session from the timed tokens of both sides.

    Tokens are sorted by start; tokens that overlap within a side are kept and counted, and so are
    ``faults`` of the annotation that its reader got over and its ``untimed`` words, left out.

    Raises
    ------
    DataError
        ``FB251`` for a missing side, ``FB253`` for words past the end of the audio, ``FB257`` for
        times that cannot be seconds.
    """
    _two(session_id, sides, where)
    times = [t for ws in sides.values() for w in ws for t in (w.start, w.end)]
    _possible(session_id, min(times, default=0), max(times, default=0), where)
    ordered = {role: tuple(sorted(sides[role], key=lambda w: w.start)) for role in ROLES}
    last = max((w.end for words in ordered.values() for w in words), default=0)
    overlaps = sum(_overlaps(ordered[role]) for role in ROLES)
    counted = {"overlapping words": overlaps, FAULTS: faults, UNTIMED: untimed}
    ends = [max((w.end for w in ordered[role]), default=0) for role in ROLES]
    if abs(ends[0] - ends[1]) > SLACK:
        counted["sides of unequal length"] = 1
    return checked(
        TwoChannelSession(
            id=session_id,
            words=ordered,
            speech={
                role: _spans([w for w in ordered[role] if is_speech(w.text)]) for role in ROLES
            },
            end=max(last, end),
            source="words",
            audio=audio or {},
            counted={k: n for k, n in counted.items() if n},
            **more,
        ),
        last=last,
        where=where,
    )


def segments_session(
    session_id: str,
    sides: Mapping[Role, Sequence[tuple[Ticks, Ticks]]],
    *,
    where: Place,
    source: str = "segments",
    audio: Mapping[Role, AudioRef] | None = None,
    end: Ticks = 0,
    faults: int = 0,
    **more: Any,
) -> TwoChannelSession:
    """Return a session from speech spans of both sides (errors as :func:`words_session`)."""
    import numpy as np

    _two(session_id, sides, where)
    times = [t for s in sides.values() for span in s for t in span]
    _possible(session_id, min(times, default=0), max(times, default=0), where)
    spans = {role: np.asarray(sorted(sides[role]), dtype=np.int64).reshape(-1, 2) for role in ROLES}
    last = max((int(s[:, 1].max()) for s in spans.values() if len(s)), default=0)
    overlaps = sum(_crossing(s) for s in spans.values())
    counted = {"overlapping segments": overlaps, FAULTS: faults}
    return checked(
        TwoChannelSession(
            id=session_id,
            speech=spans,
            end=max(last, end),
            source=source,
            audio=audio or {},
            counted={k: n for k, n in counted.items() if n},
            **more,
        ),
        last=last,
        where=where,
    )


def checked(session: TwoChannelSession, *, last: Ticks, where: Place) -> TwoChannelSession:
    """Return the session if its annotation lies inside its audio and both channels are as long.

    Raises
    ------
    DataError
        ``FB252`` or ``FB253``.
    """
    if not session.audio:
        return session
    lengths = {
        role: to_ticks(Fraction(ref.frames, ref.rate)) for role, ref in session.audio.items()
    }
    if max(lengths.values()) - min(lengths.values()) > SLACK:
        told = ", ".join(f"{role} {from_ticks(n):.3f} s" for role, n in lengths.items())
        raise DataError("FB252", f"session '{session.id}': {told}", where=where)
    if last > max(lengths.values()) + SLACK:
        raise DataError(
            "FB253",
            f"session '{session.id}': speech until {from_ticks(last):.3f} s, the audio ends at "
            f"{from_ticks(max(lengths.values())):.3f} s",
            where=where,
        )
    return session


def span_of(start: str, end: str, where: Place) -> tuple[Ticks, Ticks]:
    """Return a span of an annotation, given in seconds, in ticks.

    Raises
    ------
    DataError
        ``FB257`` for a time that is no number, or a span that begins before 0 or after its end.
    """
    try:
        low, high = to_ticks(start), to_ticks(end)
    except DataError as error:
        raise DataError("FB257", error.what, where=where) from None
    if low < 0 or high < low:
        raise DataError("FB257", f"a span from {start} to {end} s", where=where)
    return low, high


def entry_words(entries: Iterable[Entry]) -> list[TimedWord]:
    """Return timed entries as words; untimed ones are left out."""
    return [TimedWord(e.text, *e.ticks) for e in entries if e.timed]


def _two(session_id: str, sides: Mapping[Role, Any], where: Place) -> None:
    if set(sides) != set(ROLES):
        named = ", ".join(sides) or "none"
        raise DataError("FB251", f"session '{session_id}' has channels: {named}", where=where)


def _possible(session_id: str, first: Ticks, last: Ticks, where: Place) -> None:
    if first < 0:
        what = f"session '{session_id}': speech at {from_ticks(first):g} s, before it begins"
        raise DataError("FB257", what, where=where)
    if last > LONGEST:
        raise DataError(
            "FB257",
            f"session '{session_id}': speech until {from_ticks(last):g} s, over 100 hours",
            where=where,
            hint="times are in seconds; are these milliseconds or samples?",
        )


def _spans(words: Sequence[TimedWord]) -> Ints:
    import numpy as np

    return np.asarray([(w.start, w.end) for w in words], dtype=np.int64).reshape(-1, 2)


def _overlaps(words: Sequence[TimedWord]) -> int:
    return _crossing(_spans(words))


def _crossing(spans: np.ndarray) -> int:
    import numpy as np

    if len(spans) < 2:
        return 0
    return int((spans[1:, 0] < np.maximum.accumulate(spans[:-1, 1])).sum())
