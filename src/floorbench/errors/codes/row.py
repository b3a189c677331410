"""A row of the error table."""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """One row of the error table: what it means and what usually helps."""

    title: str
    meaning: str
    way_out: str
