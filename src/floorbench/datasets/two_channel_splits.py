"""Which session belongs to the training, validation and test part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.core.words import counted
from floorbench.errors import DataError, Place

SPLITS = ("train", "validation", "test")
FOLDER = Path(__file__).parent / "splits"
_ALIASES = {"val": "validation", "dev": "validation", "valid": "validation", "eval": "test"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    """Split of each session id; without any, nothing is split."""

    by_id: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> Splits:
        """Read a JSON object of lists: ``{"train": [...], "validation": [...], "test": [...]}``.

        Keys other than splits must hold text (a note, a source).

        Raises
        ------
        DataError
            ``FB201``, ``FB402`` or ``FB254``.
        """
        where = Place(str(path))
        plain = codec.parse(codec.read_bytes(path), where=where)
        if not isinstance(plain, dict):
            raise DataError("FB254", "a list of splits is an object of lists", where=where)
        found: dict[str, str] = {}
        for key, ids in plain.items():
            if isinstance(ids, str):
                continue
            split = _ALIASES.get(key.lower(), key.lower())
            if split not in SPLITS or not _texts(ids):
                raise DataError("FB254", f"'{key}' is no split with a list of ids", where=where)
            for session_id in ids:
                if session_id in found:
                    raise DataError("FB254", f"'{session_id}' stands twice", where=where)
                found[session_id] = split
        return cls(by_id=found)

    @classmethod
    def choose(cls, given: str | None, ids: Iterable[str], own: Splits | None) -> Splits:
        """Return the splits to use.

        Parameters
        ----------
        given : str or None
            ``"none"``, or a file whose list must name exactly the sessions; with ``None`` the
            data's own list, else a list of floorbench that holds all the sessions.
        """
        known = set(ids)
        if given == "none":
            return cls(by_id={})
        if given is not None:
            found = cls.read(Path(given))
            for what, names in (
                ("does not name", known - found.by_id.keys()),
                ("names, without being there,", found.by_id.keys() - known),
            ):
                if names:
                    raise DataError(
                        "FB254",
                        f"it {what} {counted(len(names), 'session')}: "
                        f"{', '.join(sorted(names)[:5])}",
                        where=Place(given),
                    )
            return found
        if own is not None:
            return own
        for path in sorted(FOLDER.glob("*.json")):
            found = cls.read(path)
            if known <= found.by_id.keys():
                return found
        return cls(by_id={})

    def of(self, session_id: str) -> str | None:
        """Return the split of a session, ``None`` when nothing is split."""
        return self.by_id.get(session_id)

    def counts(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the number of sessions per split; empty when nothing is split."""
        seen = Counter(self.by_id[i] for i in ids if i in self.by_id)
        return {split: seen[split] for split in SPLITS if split in seen}


def _texts(ids: Any) -> bool:
    return isinstance(ids, list) and all(isinstance(i, str) for i in ids)
