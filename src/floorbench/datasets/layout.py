"""Where files of a dataset lie: folders whose spelling varies, and paths that must stay inside."""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePosixPath

from floorbench.audio.ref import inside
from floorbench.datasets.codett_labels import normalise
from floorbench.errors import DataError, Place

RELEASE_FOLDER = "Benchmark_Datasets"


class AudioPaths:
    """Turns the audio paths written in a dataset into files below its root.

    Parameters
    ----------
    root : Path
        Nothing outside this folder is ever opened.

    Notes
    -----
    Paths written on another machine are cut after their ``Benchmark_Datasets`` folder. Folder
    names match by their normalised spelling (``System_Idle`` is ``SystemIdle``), file names only
    exactly. Nothing is opened here, and a file that does not exist keeps its path: reading it is
    what fails.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folders = cache(_folders)

    def relative(self, written: str, where: Place) -> str:
        """Return the path below the root, with forward slashes.

        Raises
        ------
        DataError
            ``FB3xx`` when the path leaves the dataset.
        """
        parts = list(PurePosixPath(written.replace("\\", "/")).parts)
        folded = [normalise(p) for p in parts]
        if normalise(RELEASE_FOLDER) in folded:
            parts = parts[folded.index(normalise(RELEASE_FOLDER)) + 1 :]
        relative = "/".join(p for p in parts if p != ".") or written
        try:
            inside(self.root, relative)
        except DataError as error:
            raise DataError(error.code, error.what, where=where, hint=error.hint) from None
        return self._respell(relative)

    def _respell(self, relative: str) -> str:
        parts = relative.split("/")
        folder = ""
        for i, part in enumerate(parts[:-1]):
            known = self._folders(self.root / folder)
            if part not in known.values():
                parts[i] = known.get(normalise(part), part)
            folder = "/".join(parts[: i + 1])
        return "/".join(parts)


def _folders(folder: Path) -> dict[str, str]:
    try:
        return {normalise(p.name): p.name for p in sorted(folder.iterdir()) if p.is_dir()}
    except OSError:
        return {}


def find_root(path: Path) -> Path:
    """Return the folder that holds a CoDeTT release: ``path`` or its ``Benchmark_Datasets``."""
    if path.is_file():
        return path.parent
    nested = path / RELEASE_FOLDER
    return nested if nested.is_dir() else path


def jsonl_files(path: Path) -> tuple[Path, ...]:
    """Return the JSONL files of a dataset in a stable order: of ``jsonls`` if there is one."""
    if path.is_file():
        return (path,)
    root = find_root(path)
    below = root / "jsonls"
    return tuple(sorted((below if below.is_dir() else root).rglob("*.jsonl")))
