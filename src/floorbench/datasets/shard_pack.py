"""Packing a dataset into shards; the same data give the same bytes.

Everything is written into a hidden folder beside the target, which takes its name in the end, so
there is never half a dataset under that name. An interrupted call goes on behind its last whole
shard when it is called again with the same data and settings.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from floorbench import codec
from floorbench.audio.decode import probe
from floorbench.audio.member import LARGEST, AudioFile
from floorbench.audio.ref import FileAudio, file_of
from floorbench.core.plain import sample_to_plain
from floorbench.core.ports import DatasetSource
from floorbench.core.sample import AudioRef, JsonValue, Sample
from floorbench.core.words import counted
from floorbench.datasets.echo_audio import SilencedAudio, parts_of
from floorbench.datasets.new_folder import locked, taken
from floorbench.datasets.shard_index import (
    FORMAT,
    HEADER,
    Entry,
    Header,
    Shard,
    Span,
    key_of,
    read_header,
)
from floorbench.errors import DataError, EnvironmentProblem, FloorbenchError, Place, UsageError

SHARD_SIZE = 512_000_000
PER_SHARD = 10_000
BLOCK = tarfile.BLOCKSIZE
AGAIN = "Make room, or name another folder, and pack again; shards that are whole are kept."
_PLAN, _DONE = "plan.json", "done.jsonl"
_SUFFIX = re.compile(r"\.[a-z0-9]{1,8}")
_COPY = 1 << 20


def pack(
    source: DatasetSource,
    out: Path,
    *,
    shard_size: int = SHARD_SIZE,
    per_shard: int = PER_SHARD,
    progress: Callable[[int], None] | None = None,
) -> Header:
    """Write a dataset as shards.

    Parameters
    ----------
    source : DatasetSource
    out : Path
        Folder to make. When it holds the same data already, nothing is done.
    shard_size : int
        Bytes after which a shard ends; a single larger sample has a shard of its own.
    per_shard : int
        Samples after which a shard ends.
    progress : callable or None
        Called with the number of samples written.

    Returns
    -------
    Header
        What was written, as in ``shards.json``.

    Raises
    ------
    DataError
        ``FB288`` for audio that cannot be packed, ``FB289`` when the folder holds something else,
        ``FB203`` for a sample id that stands twice; and what reading the data raises.
    EnvironmentProblem
        ``FB504`` when it cannot be written.
    UsageError
        ``FB103`` for a size or count below 1, ``FB503`` when another process packs into it.
    """
    if shard_size < 1 or per_shard < 1:
        raise UsageError(
            "FB103", f"shard size {shard_size} and {counted(per_shard, 'sample')} must be above 0"
        )
    plan = {
        "format": FORMAT,
        "name": source.name,
        "digest": source.digest(),
        "describe": source.describe(),
        "shard_size": shard_size,
        "per_shard": per_shard,
    }
    out = Path(out)
    if out.resolve() == Path.cwd():
        what = "the current folder cannot become the packed dataset"
        raise DataError("FB289", what, where=Place(str(out)), hint="Name a folder to be made.")
    if taken(out):
        return _same_or_refuse(out, plan)
    data = Path(str(source.locator().get("path", "")))
    if data.is_dir() and data.resolve() in out.resolve().parents:
        what = f"lies inside the data '{data}', which would be others with it"
        raise DataError("FB289", what, where=Place(str(out)))
    partial = out.parent / f".{out.name}.partial"
    try:
        partial.mkdir(parents=True, exist_ok=True)
        with locked(partial):
            done = _take_up(partial, plan)
            shards = list(_shards(source, partial, plan, done, progress))
            header = Header(
                format=FORMAT,
                name=source.name,
                digest=str(plan["digest"]),
                describe=source.describe(),
                samples=sum(shard.samples for shard in shards),
                shards=tuple(shards),
            ).sealed()
            _write(partial / HEADER, codec.encode_pretty(header).encode())
            for name in (_PLAN, _DONE):
                (partial / name).unlink(missing_ok=True)
            if taken(out):
                raise DataError("FB289", "the folder has come up meanwhile", where=Place(str(out)))
            partial.rename(out)
        return header
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        raise EnvironmentProblem("FB504", what, where=Place(str(out)), hint=AGAIN) from None


class _Packed(NamedTuple):
    """A sample with its audio files, ready to be written."""

    plain: dict[str, JsonValue]
    encoded: bytes
    files: dict[str, AudioFile]

    @property
    def size(self) -> int:
        """Bytes in the tar file."""
        sizes = [len(self.encoded), *(file.stat().st_size for file in self.files.values())]
        return sum(BLOCK + size + -size % BLOCK for size in sizes)


def _shards(
    source: DatasetSource,
    folder: Path,
    plan: dict[str, Any],
    done: list[Shard],
    progress: Callable[[int], None] | None,
) -> Iterator[Shard]:
    """Write what is not done yet; yield all shards in order."""
    yield from done
    number = sum(shard.samples for shard in done)
    count = len(done)
    seen: set[bytes] = set()
    samples = source.samples()
    for sample in islice(samples, number):
        _once(sample.id, seen)
    with contextlib.ExitStack() as opened:
        writer: _ShardWriter | None = None
        for sample in samples:
            _once(sample.id, seen)
            item = _packed(sample)
            if writer is not None and (
                writer.samples >= plan["per_shard"] or writer.size + item.size > plan["shard_size"]
            ):
                yield _closed(writer, folder)
                count += 1
                writer = None
            if writer is None:
                writer = opened.enter_context(_ShardWriter(folder, f"shard-{count:06d}"))
            writer.add(key_of(number), item, sample.id)
            number += 1
            if progress is not None:
                progress(number)
        if writer is not None:
            yield _closed(writer, folder)
    if not number:
        raise DataError("FB288", "the dataset has no sample", where=Place(source.name))


def _closed(writer: _ShardWriter, folder: Path) -> Shard:
    shard = writer.close()
    with (folder / _DONE).open("ab") as file:
        file.write(codec.encode(shard) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return shard


class _ShardWriter:
    """One tar file and its index."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._tar, self._index = f"{name}.tar", f"{name}.jsonl"
        self._file = (folder / self._tar).open("wb")
        self._lines = (folder / self._index).open("wb")
        self._hash, self._index_hash = hashlib.sha256(), hashlib.sha256()
        self.size = self._index_size = self.samples = 0

    def add(self, key: str, item: _Packed, sample_id: str) -> None:
        """Write one sample: its JSON first, then its audio."""
        text = io.BytesIO(item.encoded)
        json = self._member(f"{key}.json", text, len(item.encoded), sample_id)
        spans: dict[str, Span] = {}
        for name, file in item.files.items():
            with file.open("rb") as data:
                spans[name] = self._member(f"{key}.{name}", data, file.stat().st_size, sample_id)
        entry = Entry(key=key, json=json, sample=item.plain, members=spans)
        line = msgspec.json.encode(entry) + b"\n"
        self._lines.write(line)
        self._index_hash.update(line)
        self._index_size += len(line)
        self.samples += 1

    def __enter__(self) -> _ShardWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._lines.close()

    def close(self) -> Shard:
        """End both files and return their entry of the header."""
        rest = -(self.size + 2 * BLOCK) % tarfile.RECORDSIZE
        self._put(bytes(2 * BLOCK + rest))
        for file in (self._file, self._lines):
            file.flush()
            os.fsync(file.fileno())
            file.close()
        return Shard(
            file=self._tar,
            size=self.size,
            sha256=self._hash.hexdigest(),
            index=self._index,
            index_size=self._index_size,
            index_sha256=self._index_hash.hexdigest(),
            samples=self.samples,
        )

    def _member(self, name: str, data: BinaryIO, size: int, sample_id: str) -> Span:
        head = tarfile.TarInfo(name)
        head.size = size
        head.mode = 0o644
        self._put(head.tobuf(tarfile.USTAR_FORMAT))
        offset = self.size
        hashed = hashlib.sha256()
        while block := data.read(_COPY):
            hashed.update(block)
            self._put(block)
        if self.size - offset != size:
            what = f"'{name}' of sample '{sample_id}' changed while it was packed"
            raise DataError("FB288", what)
        self._put(bytes(-size % BLOCK))
        return Span(offset, size, hashed.hexdigest())

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)


def _packed(sample: Sample) -> _Packed:
    """Take the audio files out of a sample; a file that it uses twice is packed once."""
    files: dict[str, AudioFile] = {}
    names: dict[AudioFile, str] = {}

    def audio(place: str, ref: AudioRef) -> JsonValue:
        silent = None
        if isinstance(ref, SilencedAudio):
            ref, silent = parts_of(ref)
        if not isinstance(ref, FileAudio):
            what = f"audio of type {type(ref).__name__} in sample '{sample.id}' lies in no file"
            raise DataError("FB288", what)
        file = file_of(ref)
        if file not in names:
            probe(file)  # whole, and audio
            size = file.stat().st_size
            if size > LARGEST:
                raise DataError(
                    "FB288", f"the file holds {counted(size, 'byte')}", where=Place(str(file))
                )
            suffix = os.path.splitext(file.name)[1].lower()  # noqa: PTH122 - of a member, too
            names[file] = place + (suffix if _SUFFIX.fullmatch(suffix) else ".audio")
            files[names[file]] = file
        wire = ref.to_wire()
        said = {"channel": wire["channel"], "cutoff": wire["cutoff"], "silent_from": silent}
        return {"member": names[file], **{k: v for k, v in said.items() if v is not None}}

    plain = codec.to_builtins(sample_to_plain(sample, audio))
    return _Packed(plain, codec.encode(plain), files)


def _once(name: str, seen: set[bytes]) -> None:
    code = hashlib.blake2b(name.encode(), digest_size=12).digest()
    if code in seen:
        raise DataError("FB203", f"sample '{name}' appears twice")
    seen.add(code)


def _same_or_refuse(out: Path, plan: dict[str, Any]) -> Header:
    where = Place(str(out))
    try:
        header = read_header(str(out))
    except FloorbenchError:
        raise DataError("FB289", "the folder holds something else", where=where) from None
    if header.digest != plan["digest"] or header.name != plan["name"]:
        what = f"the folder holds '{header.name}' with digest {header.digest[:12]}"
        raise DataError("FB289", what, where=where)
    return header


def _take_up(folder: Path, plan: dict[str, Any]) -> list[Shard]:
    """Return the shards that an interrupted call has finished; begin anew when it was another."""
    encoded = codec.encode_pretty(plan).encode()
    try:
        same = (folder / _PLAN).read_bytes() == encoded
    except OSError:
        same = False
    done: list[Shard] = []
    if same and (folder / _DONE).is_file():
        for line in (folder / _DONE).read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            shard = _whole(folder, line, f"shard-{len(done):06d}")
            if shard is None:
                break
            done.append(shard)
    kept = {name for shard in done for name in (shard.file, shard.index)}
    for path in folder.iterdir():
        if path.name not in kept:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    _write(folder / _PLAN, encoded)
    _write(folder / _DONE, b"".join(codec.encode(shard) + b"\n" for shard in done))
    return done


def _whole(folder: Path, line: bytes, name: str) -> Shard | None:
    """Return the shard of a line when it is the one of that name and lies there whole."""
    with contextlib.suppress(OSError, FloorbenchError):
        shard = codec.decode(line, Shard)
        if (shard.file, shard.index) == (f"{name}.tar", f"{name}.jsonl"):
            held = [(folder / n).stat().st_size for n in (shard.file, shard.index)]
            if held == [shard.size, shard.index_size] and shard.samples > 0:
                return shard
    return None


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
