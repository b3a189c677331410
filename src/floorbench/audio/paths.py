"""Paths that data may name: inside the dataset's folder, links resolved."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from floorbench.errors import DataError, Place


def inside(root: Path, relative: str) -> Path:
    """Return the file that ``relative`` names below ``root``.

    Parameters
    ----------
    root : Path
        The dataset's folder.
    relative : str
        Path as written in the data; forward or backward slashes.

    Returns
    -------
    Path
        Absolute, links resolved. The file need not exist.

    Raises
    ------
    DataError
        ``FB308`` when the path is empty, absolute, or ends up outside ``root``.
    """
    where = Place(relative or "(empty path)")
    if not relative or "\0" in relative:
        raise DataError("FB308", "the path is empty or holds a null character", where=where)
    if PurePosixPath(relative).is_absolute() or PureWindowsPath(relative).drive:
        raise DataError("FB308", "the path is absolute", where=where)
    base = root.resolve()
    try:
        full = (base / relative.replace("\\", "/")).resolve()
    except (OSError, RuntimeError) as error:  # a loop of links
        raise DataError("FB308", f"the path cannot be followed ({error})", where=where) from None
    if not full.is_relative_to(base):
        raise DataError("FB308", f"the path leads outside {root}", where=where)
    return full
