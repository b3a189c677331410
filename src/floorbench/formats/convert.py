"""Convert an annotation file from one format to another and report what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from floorbench.errors import DataError, Place
from floorbench.formats.abilities import Loss
from floorbench.formats.files import read, render, write_whole
from floorbench.formats.tiers import Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionReport:
    """What a conversion lost and what the reader noticed.

    Parameters
    ----------
    losses : tuple of Loss
        What the new file does not hold, and what had to be filled in.
    warnings : tuple of Notice
        What was noticed in the old file.
    """

    losses: tuple[Loss, ...]
    warnings: tuple[Notice, ...]


def convert(
    src: str | Path,
    dst: str | Path,
    *,
    strict: bool = False,
    src_format: str | None = None,
    dst_format: str | None = None,
) -> ConversionReport:
    """Read ``src`` and write ``dst``, formats by name and content unless given.

    Parameters
    ----------
    src, dst : str or Path
        May be the same file; ``dst`` is replaced whole or not at all.
    strict : bool
        Refuse a source with faults and a conversion with losses; nothing is written then.
    src_format, dst_format : str or None
        Names from ``FORMATS``.

    Raises
    ------
    DataError
        As ``read`` and ``write`` do; ``FB708`` when strict and something would be lost.
    """
    document = read(src, format=src_format, strict=strict)
    text, losses = render(document, dst, format=dst_format)
    if strict and losses:
        said = "; ".join(str(loss) for loss in losses[:3])
        more = f" and {len(losses) - 3} more" if len(losses) > 3 else ""
        raise DataError("FB708", f"not held by the target: {said}{more}", where=Place(str(dst)))
    write_whole(Path(dst), text)
    return ConversionReport(losses=tuple(losses), warnings=document.warnings)
