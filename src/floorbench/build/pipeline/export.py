"""The dataset's folder: written beside its place, put there when it is whole."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.audio.decode import resample
from floorbench.audio.paths import inside
from floorbench.build.pipeline.record import BUILD_FILE
from floorbench.build.pipeline.store import FULL_SCALE, SoundStore, refused
from floorbench.core.sample import JsonValue
from floorbench.datasets.file_check import CHECKSUMS_FILE
from floorbench.errors import DataError, Place, UsageError

FORMATS = {".flac": ("FLAC", "PCM_16"), ".wav": ("WAV", "PCM_16"), ".opus": ("OGG", "OPUS")}
UNLISTED = {BUILD_FILE, "build-report.html", "report.json"}
"""Files that tell of one sitting and are no part of the dataset: not in the checksums."""


class ExportFolder:
    """A folder that is being written (see :class:`~floorbench.build.pipeline.stage.Export`).

    Parameters
    ----------
    root : Path
    sounds : SoundStore
    """

    def __init__(self, root: Path, sounds: SoundStore) -> None:
        self.root = root
        self._sounds = sounds
        self._written: set[Path] = set()

    def text(self, path: str, content: str) -> None:
        """Write a text file, UTF-8."""
        self._write(path, content.encode())

    def lines(self, path: str, rows: Iterable[Mapping[str, JsonValue]]) -> None:
        """Write a JSONL file."""
        self._write(path, b"".join(codec.encode(row) + b"\n" for row in rows))

    def sound(self, path: str, digest: str, *, rate: int | None = None) -> None:
        """Write a stored track; ``.flac`` and ``.wav`` keep its samples, ``.opus`` is lossy.

        Raises
        ------
        DataError
            ``FB856`` for another suffix, or when the stored sound is damaged; ``FB852`` for a path
            written before.
        """
        suffix = Path(path).suffix
        if suffix not in FORMATS:
            known = ", ".join(FORMATS)
            raise DataError("FB856", f"'{path}' cannot be written: {known} only")
        pcm, own = self._sounds.pcm(digest)
        if rate is not None and rate != own:
            moved = resample((pcm / FULL_SCALE).astype("float32"), source=own, target=rate)
            pcm = (moved * FULL_SCALE).round().clip(-FULL_SCALE, FULL_SCALE - 1).astype("int16")
            own = rate
        self._write(path, encoded(pcm, own, suffix))

    def _write(self, path: str, data: bytes) -> None:
        full = inside(self.root, path)
        if full in self._written:
            raise DataError("FB852", f"the export writes '{path}' twice")
        try:
            full.parent.mkdir(parents=True, exist_ok=True)
            with full.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise refused(error, full) from None
        self._written.add(full)

    def checksums(self) -> None:
        """Write ``checksums.txt``: SHA-256 of every file, as ``sha256sum -c`` reads it."""
        files = sorted(p.relative_to(self.root).as_posix() for p in self._written)
        rows = [
            f"{hashlib.sha256((self.root / name).read_bytes()).hexdigest()}  {name}\n"
            for name in files
            if name not in UNLISTED
        ]
        self.text(CHECKSUMS_FILE, "".join(rows))


def encoded(pcm: Any, rate: int, suffix: str) -> bytes:
    """Return a sound file's bytes; equal samples give equal bytes, also in Ogg."""
    import io

    import soundfile

    form, subtype = FORMATS[suffix]
    buffer = io.BytesIO()
    try:
        soundfile.write(buffer, pcm, rate, format=form, subtype=subtype)
    except soundfile.LibsndfileError as error:
        raise DataError(
            "FB856", f"{suffix} cannot hold {rate} Hz ({str(error).rstrip('.')})"
        ) from None
    data = buffer.getvalue()
    return same_serial(data) if form == "OGG" else data


def same_serial(data: bytes) -> bytes:
    """Return an Ogg file with stream number 1, which the encoder draws at random."""
    out = bytearray(data)
    at = 0
    while at + 27 <= len(out):
        segments = out[at + 26]
        end = at + 27 + segments + sum(out[at + 27 : at + 27 + segments])
        out[at + 14 : at + 18] = (1).to_bytes(4, "little")
        out[at + 22 : at + 26] = bytes(4)
        out[at + 22 : at + 26] = _ogg_crc(bytes(out[at:end])).to_bytes(4, "little")
        at = end
    return bytes(out)


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = ((value << 1) ^ (0x04C11DB7 if value & 0x80000000 else 0)) & 0xFFFFFFFF
        table.append(value)
    return tuple(table)


_TABLE = _crc_table()


def _ogg_crc(page: bytes) -> int:
    """CRC-32 of an Ogg page: polynomial 0x04C11DB7, not reflected, from 0 (RFC 3533)."""
    value = 0
    for byte in page:
        value = ((value << 8) & 0xFFFFFFFF) ^ _TABLE[(value >> 24) ^ byte]
    return value


def check_target(out: Path) -> None:
    """Refuse an output path that holds something which no build has written.

    Raises
    ------
    DataError
        ``FB855``: a file, a folder that is no build, or a build that somebody has put a file into.
    """
    if not out.exists():
        return
    if not out.is_dir() or (any(out.iterdir()) and not (out / BUILD_FILE).is_file()):
        raise DataError("FB855", "exists and is not a build", where=Place(str(out)))
    strange = sorted(_files(out) - _written(out))
    if strange:
        more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
        raise DataError(
            "FB855",
            f"holds '{strange[0]}'{more}, which no build has written",
            where=Place(str(out)),
            hint="move it away: a build replaces the whole folder",
        )


def _files(out: Path) -> set[str]:
    found = (p for p in out.rglob("*") if p.is_symlink() or not p.is_dir())
    return {p.relative_to(out).as_posix() for p in found}


def _written(out: Path) -> set[str]:
    """Return the files that an earlier build has written, by its checksums."""
    names = {CHECKSUMS_FILE, *UNLISTED}
    with contextlib.suppress(OSError, UnicodeDecodeError):
        rows = (out / CHECKSUMS_FILE).read_text("utf-8").splitlines()
        names |= {row.partition("  ")[2] for row in rows}
    return names


def check_apart(out: Path, cache: Path, sources: Iterable[Path]) -> None:
    """Refuse a dataset inside the cache, a cache inside the dataset, and either inside a source.

    Raises
    ------
    UsageError
        ``FB837``.
    """
    one, other = out.resolve(), cache.resolve()
    if one.is_relative_to(other) or other.is_relative_to(one):
        raise UsageError("FB837", f"the dataset {one} and the cache {other} lie in one another")
    for source in sources:
        for what, folder in (("dataset", one), ("cache", other)):
            if folder.is_relative_to(source.resolve()):
                says = f"the {what} {folder} lies inside '{source}', which the recipe reads"
                raise UsageError("FB837", says)


@contextmanager
def exporting(out: Path, sounds: SoundStore) -> Iterator[ExportFolder]:
    """Give a folder to write into; at the end it takes the place of ``out``.

    An earlier build there stays until then. Leave by an exception and nothing has changed.

    Raises
    ------
    DataError
        ``FB855`` when something was put into ``out`` meanwhile.
    EnvironmentProblem
        ``FB858``.
    """
    partial = out.with_name(f".{out.name}.partial")
    old = out.with_name(f".{out.name}.old")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
    except OSError as error:
        raise refused(error, partial) from None
    try:
        yield ExportFolder(partial, sounds)
        try:
            restore(out)
            check_target(out)
            if out.exists():
                out.rename(old)
            partial.rename(out)
        except OSError as error:
            raise refused(error, out) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if out.exists():
            with contextlib.suppress(OSError):
                shutil.rmtree(old)


def restore(out: Path) -> None:
    """Put an earlier build back that a killed process had moved aside."""
    old = out.with_name(f".{out.name}.old")
    if old.exists() and not out.exists():
        old.rename(out)
    shutil.rmtree(old, ignore_errors=True)
