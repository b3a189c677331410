"""Checking a packed dataset: every byte against its checksum, in one pass over each file."""

from __future__ import annotations

import hashlib
import tarfile
from array import array
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from floorbench import codec
from floorbench.audio.addresses import join, shown
from floorbench.audio.storage import stream
from floorbench.core.words import counted
from floorbench.datasets.shard_index import (
    Entry,
    Header,
    Shard,
    Span,
    check_member_name,
    read_header,
    read_index,
)
from floorbench.datasets.shards import sample_of
from floorbench.errors import DataError, FloorbenchError, Place

_BLOCK = tarfile.BLOCKSIZE


class Checked(NamedTuple):
    """What a check found: the header, every fault, and the bytes that were read."""

    header: Header
    faults: tuple[FloorbenchError, ...]
    bytes: int


def check_shards(folder: str, *, progress: Callable[[int], None] | None = None) -> Checked:
    """Read every shard from front to back and compare it with its index and the header.

    Parameters
    ----------
    folder : str
        Folder or URL of the dataset.
    progress : callable or None
        Called with the number of shards checked.

    Returns
    -------
    Checked
        Faults: ``FB282`` missing, ``FB283`` shortened, ``FB284`` changed bytes, ``FB285`` index and
        tar file disagree or a key stands twice, ``FB286`` cannot be read, ``FB287`` a link, a
        folder or an unsafe name, ``FB203`` a sample id that stands twice.

    Raises
    ------
    DataError
        ``FB281`` and others of :func:`floorbench.datasets.shard_index.read_header`: without its
        header nothing else can be checked.
    """
    header = read_header(folder)
    faults: list[FloorbenchError] = []
    ids = array("Q")
    first = total = 0
    for number, shard in enumerate(header.shards, start=1):
        entries: list[Entry] = []
        tar = join(folder, shard.file)
        try:
            for entry in read_index(folder, shard, first=first):
                entries.append(entry)
                ids.append(_code(sample_of(entry, tar).id))
                if hashlib.sha256(codec.encode(entry.sample)).hexdigest() != entry.json.sha256:
                    what = "the sample in the index is not the one in the shard"
                    where = Place(shown(join(folder, shard.index)), item=entry.key)
                    faults.append(DataError("FB285", what, where=where))
        except DataError as error:
            faults.append(error)
        else:
            walk = _Walk(tar, shard)
            faults += walk.faults(entries)
            total += walk.held
        first += shard.samples
        if progress is not None:
            progress(number)
    faults += _doubled(folder, header, ids)
    return Checked(header, tuple(faults), total)


class _Walk:
    """One pass over one tar file."""

    def __init__(self, address: str, shard: Shard) -> None:
        self._shard = shard
        self._name = shown(address)
        self._blocks = stream(address, limit=shard.size + 1)
        self._buffer = bytearray()
        self._hash = hashlib.sha256()
        self.held = 0
        self._at = 0

    def faults(self, entries: list[Entry]) -> Iterator[FloorbenchError]:
        """Yield what is wrong with the file."""
        try:
            whole = yield from self._members(entries)
            while self._take(1 << 20):
                pass
        except DataError as error:
            yield error
            return
        where = Place(self._name)
        if self.held != self._shard.size:
            held = counted(self.held, "byte is", "bytes are")
            more = "more bytes are" if self.held > self._shard.size else held
            what = f"{more} there, {self._shard.size} were packed"
            yield DataError("FB283", what, where=where)
        elif whole and self._hash.hexdigest() != self._shard.sha256:
            yield DataError(
                "FB284", "bytes between the members are not those of the SHA-256", where=where
            )

    def _members(self, entries: list[Entry]) -> Generator[FloorbenchError, None, bool]:
        """Compare the members with the index; return whether all were as they should be."""
        expected = _expected(entries)
        seen: set[str] = set()
        fine = True
        while True:
            head = self._take(_BLOCK)
            if len(head) < _BLOCK:
                return fine  # the size says what is missing
            if not any(head):
                break
            try:
                member = tarfile.TarInfo.frombuf(head, tarfile.ENCODING, "surrogateescape")
            except tarfile.HeaderError:
                what = f"no member begins at byte {self._at - _BLOCK}"
                yield self._fault("FB284", what)
                return False
            name, offset = member.name, self._at
            problem = _unsafe(member)
            if problem is not None:
                yield self._fault("FB287", problem, name)
                return False
            data = hashlib.sha256()
            left = member.size
            while left:
                block = self._take(min(left, 1 << 20))
                if not block:
                    yield self._fault(
                        "FB283", f"the shard ends {counted(left, 'byte')} before it does", name
                    )
                    return False
                data.update(block)
                left -= len(block)
            self._take(-member.size % _BLOCK)
            found = Span(offset, member.size, data.hexdigest())
            wrong = _compare(found, expected.pop(name, None), twice=name in seen)
            seen.add(name)
            if wrong is not None:
                fine = False
                yield self._fault(*wrong, name)
        for name in list(expected)[:3]:
            fine = False
            yield self._fault("FB285", "the index names a member that is not there", name)
        return fine

    def _take(self, size: int) -> bytes:
        """Return the next bytes, fewer at the end of the file."""
        while len(self._buffer) < size:
            block = next(self._blocks, None)
            if block is None:
                break
            self._hash.update(block)
            self.held += len(block)
            self._buffer += block
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._at += len(taken)
        return taken

    def _fault(self, code: str, what: str, item: str | None = None) -> DataError:
        return DataError(code, what, where=Place(self._name, item=item))


def _expected(entries: list[Entry]) -> dict[str, Span]:
    """Return what the index says of every member, by its name in the tar file."""
    return {
        f"{entry.key}.{name}": span
        for entry in entries
        for name, span in (("json", entry.json), *entry.members.items())
    }


def _compare(found: Span, known: Span | None, *, twice: bool) -> tuple[str, str] | None:
    if twice:
        return "FB285", "the member stands twice"
    if known is None:
        return "FB285", "the index does not name this member"
    if (found.offset, found.size) != (known.offset, known.size):
        what = (
            f"lies at {found.offset} with {counted(found.size, 'byte')}, "
            f"the index says {known.offset}"
        )
        return "FB285", f"{what} with {known.size}"
    if found.sha256 != known.sha256:
        return "FB284", "the bytes are not those of its SHA-256"
    return None


def _unsafe(member: tarfile.TarInfo) -> str | None:
    if member.issym() or member.islnk():
        return f"the member is a link to '{member.linkname}'"
    if not member.isreg():
        return "the member is not a plain file"
    if not check_member_name(member.name):
        return "the member's name leads elsewhere, or is not one that floorbench writes"
    return None


def _code(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())


def _doubled(folder: str, header: Header, ids: array[int]) -> Iterator[FloorbenchError]:
    """Yield a fault for every sample id that stands twice, reading the indexes again if any does.

    Eight bytes a sample are kept, no names.
    """
    ordered = sorted(ids)
    doubled = {a for a, b in pairwise(ordered) if a == b}
    if not doubled:
        return
    first = 0
    met: set[str] = set()
    for shard in header.shards:
        with suppress(DataError):  # already named
            for entry in read_index(folder, shard, first=first):
                name = str(entry.sample.get("id"))
                if _code(name) not in doubled:
                    continue
                if name in met:
                    where = Place(shown(join(folder, shard.index)), item=entry.key)
                    yield DataError("FB203", f"sample '{name}' appears twice", where=where)
                met.add(name)
        first += shard.samples
