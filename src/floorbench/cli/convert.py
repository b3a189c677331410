"""``floorbench data convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.formats.convert import convert as convert_file


def convert(
    source: Path,
    target: Path,
    /,
    *,
    strict: Annotated[bool, Parameter(negative=())] = False,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    json: bool = False,
) -> int:
    """Convert an annotation file and say what the new format does not hold.

    Formats are found by name and content. Exits 1 when something was lost.

    Parameters
    ----------
    source
        File to read.
    target
        File to write; replaced whole or not at all.
    strict
        Refuse a source with faults and a conversion with losses.
    from_
        Format of the source.
    to
        Format of the target.
    json
        Print JSON.
    """
    report = convert_file(source, target, strict=strict, src_format=from_, dst_format=to)
    if json:
        console.data_json(
            {
                "losses": [str(loss) for loss in report.losses],
                "warnings": [str(w) for w in report.warnings],
            }
        )
    else:
        for warning in report.warnings:
            console.say(f"warning: {warning}")
        for loss in report.losses:
            console.data(f"lost: {loss}")
        console.say(f"wrote {target}")
    return 1 if report.losses else 0
