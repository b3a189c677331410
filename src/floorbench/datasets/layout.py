"""Where files of a dataset lie: folders whose spelling varies, and paths that must stay inside."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import cache
from os.path import islink
from pathlib import Path

from floorbench.audio.paths import inside
from floorbench.datasets.codett_labels import normalise
from floorbench.errors import DataError, Place

RELEASE_FOLDER = "Benchmark_Datasets"
LOCK = ".lock"
OWN = {
    "run.json": "predictions.jsonl",
    "plan.json": "reviewers",
    "session.json": "participants",
}
"""By their head: what else lies in a run, a review, a listening session; or the lock of one."""


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
        self._prefix = f"{root}/"
        self._names = cache(self._folder_names)
        self._folder = cache(self._checked_folder)

    def relative(self, written: str, where: Place) -> str:
        """Return the path below the root, with forward slashes.

        Raises
        ------
        DataError
            ``FB308`` when the path leaves the dataset.
        """
        folder, slash, name = written.replace("\\", "/").rpartition("/")
        try:
            if name in ("", ".", "..") or "\0" in written:
                return self._odd(written)
            path = self._folder(folder + slash) + name
            if islink(self._prefix + path):  # noqa: PTH114 - one call per turn; Path is slow here
                inside(self.root, path)
        except DataError as error:
            raise DataError(
                error.code, f"audio '{written}': {error.what}", where=where, hint=error.hint
            ) from None
        return path

    def _odd(self, path: str) -> str:
        return inside(self.root, path).relative_to(self.root.resolve()).as_posix()

    def _checked_folder(self, written: str) -> str:
        """Return a folder below the root as it is spelt on disk, ending in a slash if any."""
        parts = [p for p in written.split("/") if p not in ("", ".")]
        folded = [normalise(p) for p in parts]
        if normalise(RELEASE_FOLDER) in folded:
            parts = parts[folded.index(normalise(RELEASE_FOLDER)) + 1 :]
        elif written.startswith("/"):
            return self._odd(written)
        if ".." in parts:
            return f"{self._odd('/'.join(parts))}/"
        for i, part in enumerate(parts):
            known = self._names("/".join(parts[:i]))
            if not known:  # nor are there folders further down
                break
            if part not in known.values():
                parts[i] = known.get(normalise(part), part)
        if not parts:
            return ""
        inside(self.root, "/".join(parts))
        return "/".join(parts) + "/"

    def _folder_names(self, folder: str) -> dict[str, str]:
        try:
            below = sorted((self.root / folder).iterdir())
        except OSError:
            return {}
        return {normalise(p.name): p.name for p in below if p.is_dir()}


def find_root(path: Path) -> Path:
    """Return the folder that audio paths start from.

    The folder above ``jsonls`` when ``path`` is it or lies in it, else ``Benchmark_Datasets``
    below ``path``, else ``path`` itself (its folder for a file).
    """
    for folder in (path, *path.parents):
        if folder.name == "jsonls":
            return folder.parent
    if path.is_file():
        return path.parent
    nested = path / RELEASE_FOLDER
    return nested if nested.is_dir() else path


def jsonl_files(path: Path) -> tuple[Path, ...]:
    """Return the JSONL files of a dataset in a stable order: of ``jsonls`` if there is one."""
    if path.is_file():
        return (path,)
    nested = path / RELEASE_FOLDER
    folder = nested if nested.is_dir() else path
    below = folder / "jsonls"
    return tuple(files_below(below if below.is_dir() else folder, (".jsonl",)))


def is_own(names: Collection[str]) -> bool:
    """Tell by the names in a folder whether floorbench keeps a run, review or session in it."""
    return any(head in names and (LOCK in names or mate in names) for head, mate in OWN.items())


def data_files(folder: Path) -> list[Path]:
    """Return all files of a dataset, sorted; what floorbench keeps there is none of them."""
    found: list[Path] = []
    for base, folders, names in os.walk(folder):
        if is_own((*folders, *names)):
            folders.clear()
        else:
            found += (Path(base, name) for name in names)
    return sorted(found)


def files_below(folder: Path, suffixes: Collection[str], *, deep: bool = True) -> list[Path]:
    """Return what has one of some suffixes below a folder, sorted; links to folders are left out.

    So are runs, reviews and listening sessions: whoever works in the folder of the data has them
    there, and they are no part of it (:func:`is_own`).

    With ``deep=False`` only the folder itself is looked at.

    Raises
    ------
    DataError
        ``FB402`` when a folder cannot be listed or a name cannot be read as text: leaving either
        out would silently leave out data.
    """

    def refuse(error: OSError) -> None:
        what = f"cannot be listed: {error.strerror or error}"
        raise DataError("FB402", what, where=Place(str(error.filename)))

    found = []
    for base, folders, names in os.walk(folder, onerror=refuse):
        if is_own((*folders, *names)):
            folders.clear()
            continue
        for name in (*folders, *names):
            if os.path.splitext(name)[1].lower() not in suffixes:  # noqa: PTH122 - one per file
                continue
            path = Path(base, name)
            try:
                str(path).encode()
            except UnicodeEncodeError:
                what = f"the file name {str(path)!a} is no text in UTF-8"
                raise DataError(
                    "FB402", what, hint="Rename it, or work in a UTF-8 locale."
                ) from None
            found.append(path)
        if not deep:
            break
    return sorted(found)
