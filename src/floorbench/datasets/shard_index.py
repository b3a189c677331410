"""The format of a packed dataset: one header, and for each shard a tar file and its index.

``shards.json``
    Name, description and digest of the data, and one entry a shard: both file names, sizes,
    SHA-256 and the number of samples. ``content`` is the digest of all the rest.
``shard-000000.tar``
    The samples one after the other: ``000000000.json`` and the audio files that it names, such as
    ``000000000.user.wav``: what WebDataset and its readers call a sample with the key
    ``000000000``. Nothing of one shard is needed to read another.
``shard-000000.jsonl``
    One line a sample: its key, the sample itself, and where in the tar file each member lies
    (offset, size, SHA-256). Whoever lists, filters or scores reads these files alone.

Header, index and members form a chain of checksums: whatever is read has been checked against the
header first, and the header against itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from floorbench import codec
from floorbench.audio.addresses import is_url, join, shown
from floorbench.audio.member import LARGEST
from floorbench.audio.storage import read_whole
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.errors import DataError, FloorbenchError, Place

HEADER = "shards.json"
FORMAT = "floorbench-shards-1"
HEADER_LIMIT = 64 << 20
INDEX_LIMIT = 1 << 30
SHARD_LIMIT = 1 << 40

_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.(?:tar|jsonl)")
_MEMBER = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One entry of the header: a tar file and its index, with sizes in bytes and SHA-256."""

    file: str
    size: int
    sha256: str
    index: str
    index_size: int
    index_sha256: str
    samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """All of ``shards.json``.

    Parameters
    ----------
    format, name : str
    digest : str
        Digest of the data that were packed; equal to that of the unpacked dataset.
    describe : mapping
        What the data say of themselves.
    samples : int
    shards : tuple of Shard
        In the order of the samples.
    content : str
        Digest of everything above.
    """

    format: str
    name: str
    digest: str
    describe: Mapping[str, JsonValue]
    samples: int
    shards: tuple[Shard, ...]
    content: str = ""

    def sealed(self) -> Header:
        """Return the header with its ``content``."""
        return replace(self, content=codec.digest(replace(self, content="")))


class Span(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Where a member lies in its tar file: offset and size of its bytes, and their SHA-256."""

    offset: int
    size: int
    sha256: str


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of an index."""

    key: str
    json: Span
    sample: dict[str, Any]
    members: dict[str, Span] = msgspec.field(default_factory=dict)


_ENTRY = msgspec.json.Decoder(Entry)


def header_address(folder: str) -> str:
    """Return the address of a dataset's header."""
    return join(folder, HEADER)


def read_header(folder: str) -> Header:
    """Read and check the header of a packed dataset.

    Raises
    ------
    DataError
        ``FB281`` when it is not one, or was changed after packing, ``FB287`` for a file name that
        leads elsewhere or an impossible size; ``FB282`` or ``FB286`` when it cannot be read.
    """
    address = header_address(folder)
    where = Place(shown(address))
    plain = codec.parse(read_whole(address, limit=HEADER_LIMIT), where=where)
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise DataError("FB281", f"the header is not of format '{FORMAT}'", where=where)
    try:
        header = codec.convert(plain, Header, where=where)
    except FloorbenchError as error:
        raise DataError("FB281", f"the header is malformed: {error.what}", where=where) from None
    if header.sealed().content != header.content:
        raise DataError("FB281", "the header does not match its own digest", where=where)
    names = [name for shard in header.shards for name in (shard.file, shard.index)]
    for shard in header.shards:
        _check_shard(shard, where)
    twice = sorted({n for n in names if names.count(n) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise DataError("FB285", f"the file '{twice[0]}' stands twice in the header", where=where)
    if sum(shard.samples for shard in header.shards) != header.samples:
        raise DataError("FB285", "the shards' samples do not add up to the header's", where=where)
    if not is_url(folder):
        for name in names:
            file = Path(folder) / name
            if file.is_symlink() or (file.exists() and not file.is_file()):
                what = "is a link" if file.is_symlink() else "is not a plain file"
                raise DataError("FB287", what, where=Place(shown(join(folder, name))))
    return header


def read_index(folder: str, shard: Shard, *, first: int) -> Iterator[Entry]:
    """Yield the entries of one shard.

    Parameters
    ----------
    folder : str
        Address of the dataset.
    shard : Shard
    first : int
        Number of the shard's first sample in the dataset.

    Raises
    ------
    DataError
        ``FB282`` missing, ``FB283`` shortened, ``FB284`` other bytes than packed, ``FB285`` for
        an entry that contradicts the header, ``FB287`` for a member that cannot be in the shard.
    """
    address = join(folder, shard.index)
    where = Place(shown(address))
    data = read_whole(address, limit=shard.index_size)
    if len(data) < shard.index_size:
        what = f"{counted(len(data), 'byte is', 'bytes are')} there, {shard.index_size} were packed"
        raise DataError("FB283", what, where=where)
    if hashlib.sha256(data).hexdigest() != shard.index_sha256:
        raise DataError("FB284", "the bytes are not those of its SHA-256", where=where)
    number = start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        try:
            line = data[start:end]
            entry = _ENTRY.decode(line)
            # Packing writes every entry like this; another program may have spaces, or keys twice.
            if line != msgspec.json.encode(entry):
                _refuse_twice(line)
            _check_entry(entry, shard, first + number)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            place = where._replace(line=number + 1)
            raise DataError("FB285", f"the entry is malformed ({error})", where=place) from None
        except DataError as error:
            place = where._replace(line=number + 1)
            raise DataError(error.code, error.what, where=place) from None
        yield entry
        number += 1
        start = end + 1
    if number != shard.samples:
        raise DataError(
            "FB285",
            f"{counted(number, 'sample')} in the index, {shard.samples} in the header",
            where=where,
        )


def key_of(number: int) -> str:
    """Return the key of a sample: its place in the dataset, in nine digits."""
    return f"{number:09d}"


def check_member_name(name: str) -> bool:
    """Tell whether a name is one that floorbench writes: no folder, no dots in a row."""
    return _MEMBER.fullmatch(name) is not None and len(name) <= 80


def _check_shard(shard: Shard, where: Place) -> None:
    for name in (shard.file, shard.index):
        if not _FILE.fullmatch(name):
            raise DataError("FB287", f"'{name}' is not a plain file name", where=where)
    if not 0 <= shard.size <= SHARD_LIMIT or not 0 <= shard.index_size <= INDEX_LIMIT:
        raise DataError("FB287", f"'{shard.file}' has an impossible size", where=where)
    if shard.samples < 1:
        raise DataError(
            "FB285", f"'{shard.file}' holds {counted(shard.samples, 'sample')}", where=where
        )


def _refuse_twice(line: bytes) -> None:
    twice = codec.doubled_key(line)
    if twice is not None:
        raise DataError("FB285", f"the key '{twice}' stands twice in one object")


def _check_entry(entry: Entry, shard: Shard, number: int) -> None:
    if entry.key != key_of(number):
        what = f"the key is '{entry.key}', at this place it is '{key_of(number)}'"
        raise DataError("FB285", what)
    for name, span in (("json", entry.json), *entry.members.items()):
        if not check_member_name(name):
            raise DataError("FB287", f"'{name}' is not the name of a member")
        if span.offset < 0 or not 0 < span.size <= LARGEST or span.offset + span.size > shard.size:
            what = f"member '{name}' lies at {span.offset} with {counted(span.size, 'byte')}"
            raise DataError("FB287", f"{what}, the shard holds {shard.size}")
