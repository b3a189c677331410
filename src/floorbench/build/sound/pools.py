"""Pools of recordings: the noises and the babble that a soundscape is mixed from.

A pool is a folder of sound files with a ``credits.json`` beside them: file name to ``author``,
``source``, ``licence`` and ``kind`` in plain words. What a recording is called in a dataset is
what its credit says it is, or else the name of the sub-folder it lies in (``cough/17.wav``); a
file with neither is not used, because nobody says what it is. A file without a licence is used
only when the user allows ``unknown``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorbench import codec
from floorbench.core.words import counted
from floorbench.errors import DataError, Place, UsageError

SUFFIXES = frozenset({".flac", ".wav", ".ogg", ".opus", ".mp3"})
CREDITS_FILE = "credits.json"
UNKNOWN = "unknown"
FREE_LICENCES = ("CC0", "MIT", "public domain")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One file of a pool.

    Parameters
    ----------
    name : str
        Path below the pool's folder.
    path : Path
    kind : str
        What is heard, in plain words.
    licence, author, source : str
    sha256 : str
        Of the file's bytes.
    """

    name: str
    path: Path
    kind: str
    licence: str
    author: str
    source: str
    sha256: str

    def credit(self) -> dict[str, str]:
        """Return what a dataset says about it."""
        return {
            "name": self.name,
            "kind": self.kind,
            "licence": self.licence,
            "author": self.author,
            "source": self.source,
            "sha256": self.sha256,
        }


class Pool:
    """The recordings of a folder that a licence filter lets through, in the order of their names.

    Parameters
    ----------
    folder : Path
        May hold sub-folders; links out of it are not followed.
    licences : sequence of str
        Licences that may be used, compared without case; ``unknown`` admits files without credit.

    Raises
    ------
    UsageError
        FB881 when the folder is missing or nothing in it may be used.
    DataError
        FB882 when ``credits.json`` cannot be read.
    """

    def __init__(self, folder: Path, *, licences: Sequence[str] = FREE_LICENCES) -> None:
        if not folder.is_dir():
            raise UsageError(
                "FB881",
                f"there is no folder of recordings at {folder}",
                hint="`floorbench assets get speech` prepares the CC0 recordings",
            )
        credits = _credits(folder / CREDITS_FILE)
        root = folder.resolve()
        allowed = {name.casefold() for name in licences}
        found = []
        left_out = 0
        for path in sorted(root.rglob("*")):
            if path.suffix.lower() not in SUFFIXES or not path.resolve().is_relative_to(root):
                continue
            name = path.relative_to(root).as_posix()
            credit = credits.get(name, {})
            licence = str(credit.get("licence", UNKNOWN))
            kind = str(credit.get("kind") or name.rpartition("/")[0])
            if licence.casefold() not in allowed or not kind:
                left_out += 1
                continue
            found.append(_recording(path, name, kind, licence, credit))
        if not found:
            raise UsageError(
                "FB881",
                f"no recording in {folder} may be used under {', '.join(licences)}"
                f" ({left_out} have another licence, none stated, or nothing says what they are)",
                hint=f"give each file's licence and kind in {CREDITS_FILE}",
            )
        self.recordings = tuple(found)

    def digest(self) -> str:
        """Return a digest of names, licences and bytes: equal pools mix equal sounds."""
        text = json.dumps([r.credit() for r in self.recordings], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def draw(self, rng: np.random.Generator, count: int = 1) -> tuple[Recording, ...]:
        """Draw different recordings, as many as there are when ``count`` is higher."""
        chosen = rng.choice(
            len(self.recordings), size=min(count, len(self.recordings)), replace=False
        )
        return tuple(self.recordings[int(i)] for i in chosen)


def samples_of(recording: Recording, rate: int) -> NDArray[np.float64]:
    """Return a recording as mono at ``rate``.

    Raises
    ------
    DataError
        FB883 when it cannot be decoded, is empty (at ``rate`` too), silent or not finite.
    """
    import soundfile
    import soxr

    try:
        samples, own_rate = soundfile.read(recording.path, dtype="float64", always_2d=True)
    except (OSError, soundfile.LibsndfileError) as error:
        raise DataError(
            "FB883",
            f"cannot read the recording: {error}",
            where=Place(str(recording.path), None, None),
        ) from None
    mono = samples.mean(axis=1)
    if not len(mono) or not np.all(np.isfinite(mono)) or not np.any(mono):
        raise DataError(
            "FB883",
            "the recording is empty, silent or not finite",
            where=Place(str(recording.path), None, None),
        )
    result: NDArray[np.float64] = soxr.resample(mono, own_rate, rate)
    if not len(result):
        raise DataError(
            "FB883",
            f"{counted(len(mono), 'sample')} at {own_rate} Hz are nothing at {rate} Hz",
            where=Place(str(recording.path), None, None),
        )
    return result


def _credits(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    try:
        table = codec.parse(codec.read_bytes(path))
    except DataError as error:
        raise DataError(
            "FB882", f"cannot read the credits: {error.what}", where=Place(str(path), None, None)
        ) from None
    if not isinstance(table, dict) or not all(isinstance(v, dict) for v in table.values()):
        raise DataError(
            "FB882",
            "the credits are not an object of file name to an object",
            where=Place(str(path), None, None),
        )
    return table


def _recording(path: Path, name: str, kind: str, licence: str, credit: dict[str, Any]) -> Recording:
    return Recording(
        name=name,
        path=path,
        kind=kind,
        licence=licence,
        author=str(credit.get("author", UNKNOWN)),
        source=str(credit.get("source", UNKNOWN)),
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
    )
