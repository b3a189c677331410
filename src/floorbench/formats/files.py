"""Read and write annotation files by path."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from floorbench.errors import DataError, Place
from floorbench.formats.abilities import Loss, LossCounter
from floorbench.formats.fit import fit
from floorbench.formats.registry import FORMATS, by_content, by_extension, codec
from floorbench.formats.source import MAX_BYTES, Source
from floorbench.formats.tiers import Document

_HEAD = 8192


def detect(path: str | Path) -> str:
    """Tell which format a file has, by its first lines and by its name.

    The name decides when it has an extension of its own; first lines decide for ``.txt``,
    ``.json`` and the like, and when they carry the mark of another format than the name.

    Raises
    ------
    DataError
        ``FB701`` when neither tells, ``FB709`` when the file cannot be opened.
    """
    path = Path(path)
    return _detect(path, _load(path, most=_HEAD))


def read(path: str | Path, *, format: str | None = None, strict: bool = False) -> Document:
    """Read an annotation file.

    Parameters
    ----------
    path : str or Path
    format : str or None
        A name from ``FORMATS``; detected when ``None``.
    strict : bool
        Refuse the file at its first fault. Otherwise faulty entries are left out and the faults
        stand, with line numbers, in ``Document.warnings``.

    Raises
    ------
    DataError
        ``FB701`` to ``FB707`` for files that cannot be read, ``FB709`` when there is no file.
    """
    path = Path(path)
    data = _load(path, most=None)
    chosen = codec(format or _detect(path, data[:_HEAD]))
    try:
        return chosen.read(Source(name=str(path), data=data, strict=strict))
    except DataError as error:
        if error.where is not None:
            raise
        raise DataError(error.code, error.what, where=Place(str(path)), hint=error.hint) from None


def write(document: Document, path: str | Path, *, format: str | None = None) -> list[Loss]:
    """Write a document; the file appears whole or not at all.

    Parameters
    ----------
    document : Document
    path : str or Path
    format : str or None
        A name from ``FORMATS``; by the path's extension when ``None``.

    Returns
    -------
    list of Loss
        What the format cannot hold, and what had to be filled in. Reading the file gives the
        document without these.

    Raises
    ------
    DataError
        ``FB701`` when the extension names no format, ``FB709`` when the file cannot be written.
    """
    path = Path(path)
    text, losses = render(document, path, format=format)
    write_whole(path, text)
    return losses


def render(
    document: Document, path: str | Path, *, format: str | None = None
) -> tuple[str, list[Loss]]:
    """Return the text that :func:`write` would write to ``path``, and the losses."""
    path = Path(path)
    name = format or by_extension(path.name)
    if name is None:
        raise DataError("FB701", "the file name tells no format", where=Place(str(path)))
    chosen = codec(name)
    lost = LossCounter()
    stem = path.name.partition(".")[0].encode("utf-8", "replace").decode() or "_"
    fitted = chosen.prepare(fit(document, chosen.abilities, stem=stem, lost=lost), stem, lost)
    return chosen.render(fitted), lost.all()


def write_whole(path: Path, text: str) -> None:
    """Write UTF-8 text to a temporary file beside ``path`` and rename it."""
    data = text.encode("utf-8")
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o666 & ~_umask())
            Path(temporary).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        raise DataError(
            "FB709", f"cannot be written: {error.strerror or error}", where=Place(str(path))
        ) from None


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _load(path: Path, *, most: int | None) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1 if most is None else most)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError("FB709", f"cannot be read: {reason}", where=Place(str(path))) from None
    if len(data) > MAX_BYTES:
        raise DataError("FB705", f"larger than {MAX_BYTES} bytes", where=Place(str(path)))
    return data


def _detect(path: Path, head: bytes) -> str:
    if head.startswith(b"ooBinaryFile"):
        return "textgrid"
    named = by_extension(path.name)
    telling = {"textgrid", "eaf", "chat", "vtt"}
    try:
        text = Source(name=str(path), data=head, partial=True).text
    except DataError:
        if named is not None:
            return named
        raise
    found = by_content(text)
    if named is not None and found not in telling:
        return named
    if found is None:
        raise DataError(
            "FB701",
            "neither its name nor its first lines tell the format",
            where=Place(str(path)),
            hint=f"formats: {', '.join(FORMATS)}; a table needs columns word, start and end",
        )
    return found
