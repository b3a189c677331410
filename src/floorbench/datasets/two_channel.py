"""Sessions of two channels: who speaks when, which words, which audio; and what readers share.

A reader finds its sessions and loads one at a time, so memory is that of one session. Times are
integer ticks (1 microsecond). Channels are roles: each reader says which file or channel is the
user's, ``user`` changes it.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from floorbench.core.sample import AudioRef, JsonValue, Observation, Sample, Word
from floorbench.core.time import Span, Ticks, exact, from_ticks, to_ticks
from floorbench.core.vocab import Role
from floorbench.datasets.two_channel_splits import Splits
from floorbench.errors import DataError, Place
from floorbench.events.dualturn_words import TimedWord
from floorbench.events.spans import Bools, Floats, Ints, union
from floorbench.events.tokens import is_speech

if TYPE_CHECKING:
    import numpy as np

KEPT = 48
"""Sessions that stay in memory, so that a small corpus is read once and a large one streams."""
ROLES = (Role.USER, Role.SYSTEM)
FAULTS = "faults in the annotation"
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
    **more: Any,
) -> TwoChannelSession:
    """Return a session from the timed tokens of both sides.

    Tokens are sorted by start; tokens that overlap within a side are kept and counted, and so are
    ``faults`` of the annotation that its reader got over.

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
    counted = {"overlapping words": overlaps, FAULTS: faults}
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


class TwoChannelSource(ABC):
    """What every reader of two-channel sessions shares.

    Parameters
    ----------
    path : str or Path
    splits : str or None
        ``"none"``, a JSON file that puts session ids into train, validation and test, or ``None``
        for the list that floorbench keeps for these sessions, if it has one.
    language : str
    name : str or None

    Raises
    ------
    DataError
        ``FB211`` when no session is found, ``FB254`` for a list that does not fit.
    """

    reader: ClassVar[str]
    licence: ClassVar[str] = "unknown"
    fvad: Literal["disjoint", "cumulative"] = "disjoint"
    """How windows of stored future activity lie."""

    def __init__(
        self,
        path: str | Path,
        *,
        splits: str | None = None,
        language: str = "en",
        name: str | None = None,
    ) -> None:
        self.path = Path(path)
        self.language = language
        self._found = dict(sorted(self._find().items()))
        if not self._found:
            raise DataError("FB211", f"no session of '{self.reader}' here", where=Place(str(path)))
        self._splits_given = splits
        self.splits = Splits.choose(splits, self._found, self._own_splits())
        self.name = name or self.path.resolve().name
        self._digest: str | None = None
        self._kept: dict[str, TwoChannelSession] = {}

    @abstractmethod
    def _find(self) -> Mapping[str, Any]:
        """Return what is needed to load each session, by its id."""

    @abstractmethod
    def _load(self, session_id: str, found: Any) -> TwoChannelSession:
        """Load one session."""

    def _own_splits(self) -> Splits | None:
        """Return the splits that the data bring along."""
        return None

    def _options(self) -> Mapping[str, JsonValue]:
        """Return the reader's own keyword arguments."""
        return {}

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all sessions, sorted."""
        return tuple(self._found)

    def session(self, session_id: str) -> TwoChannelSession:
        """Load one session.

        Raises
        ------
        DataError
            ``FB204`` for an unknown id, ``FB25x`` for a session that cannot be read.
        """
        if session_id not in self._found:
            from floorbench.errors import did_you_mean

            near = did_you_mean(session_id, self._found)
            more = ", ..." if len(self.ids) > 8 else ""
            raise DataError(
                "FB204",
                f"there is no session '{session_id}'",
                where=Place(str(self.path)),
                hint=f"did you mean '{near}'?"
                if near
                else f"known: {', '.join(self.ids[:8])}{more}",
            )
        kept = self._kept.get(session_id)
        if kept is None:
            kept = self._load(session_id, self._found[session_id])
            if len(self._kept) < KEPT:
                self._kept[session_id] = kept
        return kept

    def sessions(self, split: str | None = None) -> Iterator[TwoChannelSession]:
        """Yield all sessions, or those of one split, one in memory at a time."""
        for session_id in self._found:
            if split is None or self.splits.of(session_id) == split:
                yield self.session(session_id)

    def samples(self) -> Iterator[Sample]:
        """Yield one sample a session; its cluster is the session."""
        for session in self.sessions():
            split = self.splits.of(session.id)
            yield Sample(
                id=session.id,
                cluster=session.id,
                observation=session.observation(),
                target={},
                tags={
                    "split": split or "",
                    "activity": session.source,
                    **{f"speaker.{role}": s for role, s in session.speakers.items()},
                },
            )

    def locator(self) -> Mapping[str, JsonValue]:
        """Return reader, path and options."""
        return {
            "reader": self.reader,
            "path": str(self.path),
            "splits": self._splits_given,
            "language": self.language,
            "name": self.name,
            **self._options(),
        }

    def describe(self) -> Mapping[str, JsonValue]:
        """Return name, licence, notices, size and splits."""
        return {
            "name": self.name,
            "version": "unknown",
            "licence": self.licence,
            "notices": [],
            "samples": len(self._found),
            "splits": self.splits.counts(self._found),
        }

    def digest(self) -> str:
        """Return the SHA-256 over words, speech, length, splits and decoded audio."""
        if self._digest is None:
            total = hashlib.sha256()
            for session in self.sessions():
                line = [session.id, session.end, self.splits.of(session.id)]
                for role in ROLES:
                    line += [role.value, session.words.get(role, ()), session.speech[role].tolist()]
                    if role in session.audio:
                        line.append(session.audio[role].digest())
                total.update(hashlib.sha256(repr(line).encode()).digest())
            self._digest = total.hexdigest()
        return self._digest


USERS = frozenset({"user", "caller", "customer", "client", "human"})
SYSTEMS = frozenset({"system", "agent", "assistant", "bot"})


def pair_roles(sides: Sequence[str], user: str | None, *, where: Place) -> dict[Role, str]:
    """Return which of two sides is whose.

    ``user`` names the user's side. By default a name that says so decides (``caller``, ``agent``),
    else the first one is the user's.

    Raises
    ------
    DataError
        ``FB251`` when there are not two sides or none has that name.
    """
    if len(sides) != 2:
        named = ", ".join(sides) or "none"
        raise DataError("FB251", f"two sides are needed, these are there: {named}", where=where)
    if user is not None and user not in sides:
        raise DataError("FB251", f"no side is named '{user}': {', '.join(sides)}", where=where)
    first = user if user is not None else _by_name(sides)
    second = next(s for s in sides if s != first)
    return {Role.USER: first, Role.SYSTEM: second}


def _by_name(sides: Sequence[str]) -> str:
    names = [side.strip().lower() for side in sides]
    second = names[1] in USERS or names[0] in SYSTEMS
    clear = names[0] not in USERS and names[1] not in SYSTEMS
    return sides[1] if second and clear else sides[0]


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
