"""Whether the files of a dataset are whole: its list of checksums, and every sound it names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from floorbench import codec
from floorbench.core.ports import DatasetSource
from floorbench.core.sample import AudioRef, Sample
from floorbench.errors import DataError, FloorbenchError, Place

CHECKSUMS_FILE = "checksums.txt"
"""Name of the list: SHA-256, two spaces, a path in the folder; as ``sha256sum -c`` reads it."""


def changed_files(folder: Path) -> list[FloorbenchError]:
    """Compare every file that a folder's list names with its checksum.

    Parameters
    ----------
    folder : Path
        One without ``checksums.txt`` has nothing to compare.

    Returns
    -------
    list of FloorbenchError
        ``FB277`` for a file that is missing or changed, for a line that is none of a list, and for
        a path that leads out of the folder, which is not read.
    """
    listed = folder / CHECKSUMS_FILE
    if not listed.is_file():
        return []
    found: list[FloorbenchError] = []
    root = folder.resolve()
    lines = listed.read_bytes().decode("utf-8", "replace").removesuffix("\n").split("\n")
    for number, given in enumerate(lines, start=1):
        line = given.removesuffix("\r")
        digest, gap, name = line[:64], line[64:66], line[66:]
        place = Place(str(listed), number)
        if gap != "  " or not name or not set(digest) <= set("0123456789abcdef"):
            found.append(DataError("FB277", "no checksum and path in this line", where=place))
            continue
        try:
            path = (folder / name).resolve()
            there = path.is_file()
        except (OSError, ValueError):  # no name that a file can have
            found.append(DataError("FB277", f"{name!r:.100} is no path", where=place))
            continue
        if not path.is_relative_to(root):
            found.append(DataError("FB277", f"'{name}' leads out of the folder", where=place))
        elif not there:
            found.append(DataError("FB277", f"'{name}' is missing", where=place))
        elif _sha256(path) != digest:
            found.append(DataError("FB277", f"'{name}' has other bytes", where=place))
    return found


def unreadable_audio(
    source: DatasetSource, progress: Callable[[int], None] = lambda _: None
) -> tuple[int, int, list[FloorbenchError]]:
    """Decode every sound that the samples of a dataset name; one that is named twice, once.

    Parameters
    ----------
    source : DatasetSource
    progress : function
        Hears the number of samples looked at.

    Returns
    -------
    samples, sounds : int
        How many there are.
    faults : list of FloorbenchError
        What each sound that cannot be decoded is refused with.
    """
    seen: set[str] = set()
    faults: list[FloorbenchError] = []
    samples = 0
    for samples, sample in enumerate(source.samples(), start=1):
        for ref in audio_of(sample):
            name = codec.digest(ref.to_wire()) if hasattr(ref, "to_wire") else ref.digest()
            if name in seen:
                continue
            seen.add(name)
            try:
                ref.read()
            except FloorbenchError as error:
                faults.append(error)
        progress(samples)
    return samples, len(seen), faults


def audio_of(sample: Sample) -> Iterator[AudioRef]:
    """Yield the sounds of a sample: those of its turns, then its channels."""
    turns: Iterable[AudioRef | None] = (turn.audio for turn in sample.observation.turns)
    yield from (ref for ref in turns if ref is not None)
    yield from sample.observation.channels.values()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
