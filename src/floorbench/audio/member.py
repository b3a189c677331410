"""A file inside a larger one: named by address, offset, size and SHA-256.

It takes the place of a path wherever audio is opened. Its bytes are fetched when they are first
needed and checked against the SHA-256 every time they are; the last ones stay in memory.
"""

from __future__ import annotations

import hashlib
import io
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Literal, NamedTuple, Self, final

from floorbench.audio.addresses import shown
from floorbench.audio.storage import read_range
from floorbench.errors import DataError, Place

KEPT = 32 << 20
"""Bytes of members that stay in memory, so that a header and its samples are fetched once."""
LARGEST = 1 << 31


class _Status(NamedTuple):
    st_size: int


@final
class Member(NamedTuple):
    """Bytes ``[offset, offset + size)`` of the file at ``address``, with their SHA-256 (hex).

    ``item`` is the member's name in its container, for messages and for the kind of file.
    """

    address: str
    offset: int
    size: int
    sha256: str
    item: str

    def __str__(self) -> str:
        return f"{shown(self.address)}[{self.item}]"

    @property
    def name(self) -> str:
        """Name in the container."""
        return self.item

    @property
    def stem(self) -> str:
        """Name without its last suffix."""
        return PurePosixPath(self.item).stem

    def stat(self) -> _Status:
        """Return the size, as ``Path.stat`` does."""
        return _Status(self.size)

    def stamp(self) -> tuple[str, int, int]:
        """Return what identifies the content."""
        return (f"sha256:{self.sha256}", 0, self.size)

    def open(self, mode: Literal["rb"] = "rb") -> BinaryIO:
        """Return the bytes as a file.

        Raises
        ------
        DataError
            ``FB282``, ``FB283`` or ``FB286`` when they cannot be read, ``FB284`` when they are not
            those of the checksum.
        """
        return io.BytesIO(self.read_bytes())

    def read_bytes(self) -> bytes:
        """Return the bytes (see :meth:`open`)."""
        held = _HELD.get(self)
        if held is None:
            held = read_range(self.address, offset=self.offset, size=self.size)
            if hashlib.sha256(held).hexdigest() != self.sha256:
                raise DataError("FB284", "the bytes are not those of its SHA-256", where=self.place)
            _HELD.put(self, held)
        return held

    @property
    def place(self) -> Place:
        """Container and item, for messages."""
        return Place(shown(self.address), item=self.item)

    def to_wire(self) -> dict[str, Any]:
        """Return a JSON-ready form for a worker process."""
        return self._asdict()

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """Rebuild the member from :meth:`to_wire` (``TypeError`` when the mapping is another)."""
        return cls(**wire)


AudioFile = Path | Member
"""Where audio is read from."""


class _Held:
    """The members read last, up to ``KEPT`` bytes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bytes: OrderedDict[tuple[str, int, str], bytes] = OrderedDict()
        self._total = 0

    def get(self, member: Member) -> bytes | None:
        with self._lock:
            key = (member.address, member.offset, member.sha256)
            found = self._bytes.get(key)
            if found is not None:
                self._bytes.move_to_end(key)
            return found

    def put(self, member: Member, data: bytes) -> None:
        with self._lock:
            key = (member.address, member.offset, member.sha256)
            if key not in self._bytes:
                self._total += len(data)
            self._bytes[key] = data
            while self._total > KEPT and len(self._bytes) > 1:
                _, old = self._bytes.popitem(last=False)
                self._total -= len(old)


_HELD = _Held()
