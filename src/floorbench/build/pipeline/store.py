"""What a build keeps: sounds by their content and results by all that went into them.

Everything is written beside its place, synced, and renamed into it, so that a process that is
killed leaves either nothing or the whole. Several builds may share one cache folder.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from floorbench import codec
from floorbench.build.pipeline.stage import Audio, Item, Made, Outcome, Rejected
from floorbench.core.sample import JsonValue
from floorbench.errors import DataError, EnvironmentProblem, FloorbenchError, Place

FULL_SCALE = 32768
_STOPPING = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}


def refused(error: OSError, path: Path) -> EnvironmentProblem:
    """Return the error for a write that the operating system refuses."""
    return EnvironmentProblem(
        "FB858", f"cannot be written: {error.strerror or error}", where=Place(str(path))
    )


def stops_the_build(error: OSError) -> bool:
    """Say whether no other item could be written either: disk full, quota, read-only."""
    return error.errno in _STOPPING


class Folder:
    """A cache folder with a place for files that are being written.

    Parameters
    ----------
    path : Path
        Made when the first file is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._unfinished = path / "unfinished"
        self._host = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]

    def write(self, path: Path, data: bytes) -> None:
        """Write a whole file, or raise ``FB858`` and leave no part of it."""
        temporary: Path | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._unfinished.mkdir(parents=True, exist_ok=True)
            prefix = f"{self._host}-{os.getpid()}-"
            with tempfile.NamedTemporaryFile(
                dir=self._unfinished, prefix=prefix, delete=False
            ) as file:
                temporary = Path(file.name)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        except OSError as error:
            raise refused(error, path) from None
        finally:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    temporary.unlink(missing_ok=True)

    def token(self, name: str) -> Path:
        """Leave an empty file by which other machines know the folder; :meth:`sweep` takes it."""
        prefix = f"{self._host}-{os.getpid()}-{name}-"
        try:
            self._unfinished.mkdir(parents=True, exist_ok=True)
            file, path = tempfile.mkstemp(dir=self._unfinished, prefix=prefix)
        except OSError as error:
            raise refused(error, self._unfinished) from None
        os.close(file)
        return Path(path)

    def sweep(self) -> int:
        """Delete what killed processes of this machine left unfinished; return how many files."""
        count = 0
        for path in self._unfinished.glob(f"{self._host}-*"):
            process = path.name.split("-")[1]
            if process.isdecimal() and not _alive(int(process)):
                path.unlink(missing_ok=True)
                count += 1
        return count


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:  # one that has ended and that nobody has waited for writes no more
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    except OSError:
        return True
    return not state.startswith(" Z")


class SoundDamaged(DataError):
    """A stored sound is missing or not what its digest says; it has been taken out."""

    def __init__(self, digest: str, path: Path) -> None:
        self.digest = digest
        super().__init__(
            "FB856", f"the sound {digest[:12]} is missing or damaged", where=Place(str(path))
        )


def sound_digest(pcm: np.ndarray[Any, Any], rate: int) -> str:
    """Return the SHA-256 of the rate and of 16-bit little-endian samples."""
    head = f"{rate}\n".encode()
    return hashlib.sha256(head + pcm.astype("<i2").tobytes()).hexdigest()


class SoundStore:
    """Mono sounds as 16-bit FLAC, named by what is in them."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Return where a sound lies."""
        return self.folder.path / "sounds" / digest[:2] / f"{digest}.flac"

    def keep(self, samples: Audio, rate: int) -> tuple[str, float]:
        """Store samples in [-1, 1]; return digest and seconds.

        Samples that came out of :meth:`load` go in again unchanged.

        Raises
        ------
        DataError
            ``FB856`` when they are not mono, empty, not finite or beyond full scale, or for a rate
            below 1 Hz.
        EnvironmentProblem
            ``FB858`` when the file cannot be written.
        """
        values = np.asarray(samples)
        if values.ndim != 1 or values.size == 0 or rate < 1:
            raise DataError("FB856", f"a sound of shape {values.shape} at {rate} Hz is not mono")
        peak = float(np.max(np.abs(values)))
        if not peak <= 1.0:
            raise DataError("FB856", f"a sound reaches {peak:.4g}; full scale is 1")
        scaled = np.rint(values.astype(np.float64) * FULL_SCALE)
        pcm = np.clip(scaled, -FULL_SCALE, FULL_SCALE - 1).astype("<i2")
        digest = sound_digest(pcm, rate)
        try:
            self.pcm(digest)
        except SoundDamaged:
            self.folder.write(self.path(digest), _flac(pcm, rate))
        return digest, pcm.size / rate

    def pcm(self, digest: str) -> tuple[np.ndarray[Any, Any], int]:
        """Return 16-bit samples and rate after checking them against the digest.

        Raises
        ------
        SoundDamaged
            ``FB856``; a damaged file has been removed, so that it will be made again.
        """
        import soundfile

        path = self.path(digest)
        try:
            pcm, rate = soundfile.read(io.BytesIO(path.read_bytes()), dtype="int16")
            if sound_digest(pcm, rate) == digest:
                return pcm, int(rate)
        except FileNotFoundError:  # another build may be putting it there just now
            raise SoundDamaged(digest, path) from None
        except (OSError, soundfile.LibsndfileError):
            pass
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise SoundDamaged(digest, path)

    def load(self, digest: str) -> tuple[Audio, int]:
        """Return mono samples in [-1, 1] and their rate (errors as :meth:`pcm`)."""
        pcm, rate = self.pcm(digest)
        return (pcm / np.float32(FULL_SCALE)).astype(np.float32), rate

    def size(self, digest: str) -> int | None:
        """Return the bytes of a stored sound, or ``None`` when it is not there."""
        try:
            return self.path(digest).stat().st_size
        except OSError:
            return None


def _flac(pcm: np.ndarray[Any, Any], rate: int) -> bytes:
    import soundfile

    buffer = io.BytesIO()
    try:
        soundfile.write(buffer, pcm, rate, subtype="PCM_16", format="FLAC")
    except soundfile.LibsndfileError as error:
        raise DataError("FB856", f"a sound at {rate} Hz cannot be stored ({error})") from None
    return buffer.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A sound that a stage stored: digest, seconds, and bytes on disk."""

    digest: str
    seconds: float
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one stage made of one item, and how.

    Parameters
    ----------
    key : str
        See :func:`result_key`.
    stage : str
    version : int
    deterministic : bool
    item : str
        Id of what went in; empty for a gathering step.
    attempt : int
    items : tuple of Item or None
        What was made; ``None`` when it was rejected.
    rejected : Rejected or None
    left_out : mapping of str to Rejected
        A gathering step's rejections by item.
    notes : tuple of mapping
        Lines of lineage in the order in which the stage wrote them.
    sounds : tuple of Kept
    wall, cpu : float
        Seconds.
    """

    key: str
    stage: str
    version: int
    deterministic: bool
    item: str
    attempt: int
    items: tuple[Item, ...] | None = None
    rejected: Rejected | None = None
    left_out: Mapping[str, Rejected] = field(default_factory=dict)
    notes: tuple[Mapping[str, JsonValue], ...] = ()
    sounds: tuple[Kept, ...] = ()
    wall: float = 0.0
    cpu: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """The stage's outcome."""
        return self.rejected if self.rejected is not None else Made(items=self.items or ())

    @property
    def seconds(self) -> float:
        """Seconds of sound that were stored."""
        return sum(s.seconds for s in self.sounds)


def result_key(
    *,
    stage: str,
    version: int,
    settings: Mapping[str, JsonValue],
    content: object,
    attempt: int,
    seed: int,
) -> str:
    """Return the SHA-256 of everything that a result depends on."""
    return codec.digest(
        {
            "stage": stage,
            "version": version,
            "settings": settings,
            "content": content,
            "attempt": attempt,
            "seed": seed,
        }
    )


class ResultCache:
    """Results as small files under their keys: a line with a seal, a line with the result."""

    def __init__(self, folder: Folder, sounds: SoundStore) -> None:
        self.folder = folder
        self._sounds = sounds

    def path(self, key: str) -> Path:
        """Return where a result lies."""
        return self.folder.path / "results" / key[:2] / f"{key}.jsonl"

    def put(self, result: Result) -> Result:
        """Write a result and return it as a reader would get it.

        Raises
        ------
        DataError
            ``FB202`` or ``FB201`` when a field cannot be written as JSON.
        EnvironmentProblem
            ``FB858``.
        """
        body = codec.encode(result)
        self.folder.write(self.path(result.key), _seal(body) + b"\n" + body + b"\n")
        return codec.decode(body, Result)

    def get(self, key: str, *, whole: bool = True) -> Result | None:
        """Return a result, or ``None`` when it must be made: absent, damaged, a sound missing.

        Without ``whole`` its sounds are not looked at.
        """
        try:
            seal, _, body = self.path(key).read_bytes().partition(b"\n")
        except OSError:
            return None
        body = body.removesuffix(b"\n")
        if _seal(body) != seal:
            return None
        try:
            result = codec.decode(body, Result)
        except FloorbenchError:  # of another version of floorbench
            return None
        if result.key != key:
            return None
        there = (self._sounds.size(s.digest) == s.size for s in result.sounds)
        return result if not whole or all(there) else None


def _seal(body: bytes) -> bytes:
    return codec.encode({"sha256": hashlib.sha256(body).hexdigest()})


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file for one building process; the system releases it when the process ends.

    Raises
    ------
    DataError
        ``FB853`` when another process holds it.
    EnvironmentProblem
        ``FB858`` when it cannot be made.
    """
    import fcntl

    with contextlib.ExitStack() as opened:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            opened.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            raise DataError(
                "FB853", f"is being built by process {holder}", where=Place(str(path))
            ) from None
        except OSError as error:
            raise refused(error, path) from None
        yield
