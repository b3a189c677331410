"""What readers of two-channel sessions share.

A reader finds its sessions and loads one at a time, so memory is that of one session. Channels are
roles: each reader says which file or channel is the user's, ``user`` changes it.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from floorbench.core.sample import JsonValue, Sample
from floorbench.core.vocab import Role
from floorbench.datasets.two_channel_session import ROLES, TwoChannelSession
from floorbench.datasets.two_channel_splits import Splits
from floorbench.errors import DataError, Place, did_you_mean

KEPT = 48
"""Sessions that stay in memory, so that a small corpus is read once and a large one streams."""


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
