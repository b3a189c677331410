"""What a format can hold, and what does not fit into it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Names = Literal["any", "speaker", "channel", "fixed"]
Text = Literal["any", "lines", "xml", "cue", "line", "token", "none"]
Untimed = Literal["no", "whole", "partial"]

_ILLEGAL_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a format can hold.

    Parameters
    ----------
    names : {"any", "speaker", "channel", "fixed"}
        Whether tiers have names of their own, or are known by speaker, by channel, or not at all.
    fixed_name : str
        The tier name its reader gives where the file names none.
    name_text, text : str
        What a name and a label may contain: ``any`` text, text without bare carriage returns
        (``lines``), ``xml`` characters, non-blank lines (``cue``), one ``line``, one ``token``,
        or nothing (``none``).
    forbidden : mapping of str to str
        Character sequences that a label cannot contain, and what replaces them.
    extra_text, header_text : str
        What the values of ``extra`` and of the metadata may contain, as for ``text``.
    unique_names : bool
        Whether two tiers may not share a name.
    several_tiers, empty_tiers, point_tiers : bool
        Whether there may be more than one tier, tiers without entries, tiers of points.
    sorted_tiers : bool
        Whether the tiers' order is not stored (readers sort by recording, channel, name).
    recordings, channels, speakers : bool
        Whether the format names recordings, channels, and speakers apart from tier names.
    placeholder : str
        Label written for an empty one where an empty label would mean a gap.
    overlap, zero_length, negative : bool
        Whether entries of one tier may overlap, have no length, start before 0.
    untimed : {"no", "whole", "partial"}
        Whether entries may lack both times, or just one.
    decimals : int or None
        Decimals of a time; ``None`` for any number.
    confidence, hierarchy, estimated, extents, duration : bool
        Whether these fields of the model are kept.
    extra, metadata : frozenset of str or None
        Keys that are kept; ``None`` for all.
    """

    names: Names = "any"
    fixed_name: str = ""
    name_text: Text = "any"
    text: Text = "any"
    extra_text: Text = "line"
    header_text: Text = "lines"
    forbidden: Mapping[str, str] | None = None
    unique_names: bool = True
    several_tiers: bool = True
    empty_tiers: bool = False
    point_tiers: bool = False
    sorted_tiers: bool = True
    recordings: bool = False
    channels: bool = False
    speakers: bool = False
    placeholder: str = ""
    overlap: bool = True
    zero_length: bool = True
    negative: bool = False
    untimed: Untimed = "no"
    decimals: int | None = None
    confidence: bool = False
    hierarchy: bool = False
    estimated: bool = False
    extents: bool = False
    duration: bool = False
    extra: frozenset[str] | None = frozenset()
    metadata: frozenset[str] | None = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """One thing that the written file does not hold, or that had to be filled in.

    Parameters
    ----------
    what : str
        What it is, in words.
    tier : str or None
        The tier concerned, by its name before writing.
    count : int
        How many entries of the tier, or without a tier how many tiers, are concerned.
    """

    what: str
    tier: str | None = None
    count: int = 1

    def __str__(self) -> str:
        where = "" if self.tier is None else f"tier {self.tier!r}: "
        unit = "tiers" if self.tier is None else "entries"
        return f"{where}{self.what}" + (f" ({self.count} {unit})" if self.count > 1 else "")


class LossCounter:
    """Collects losses, counting equal ones of one tier."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str | None, str]] = Counter()

    def add(self, what: str, tier: str | None = None) -> None:
        """Count one more of these."""
        self._counts[(tier, what)] += 1

    def all(self) -> list[Loss]:
        """Return them in the order in which they first came up."""
        return [Loss(what=w, tier=t, count=n) for (t, w), n in self._counts.items()]


def clean_text(text: str, level: Text, forbidden: Mapping[str, str] | None = None) -> str:
    """Return ``text`` with everything replaced that a format of that level cannot hold."""
    for bad, good in (forbidden or {}).items():
        text = text.replace(bad, good)
    if level == "any":
        return text
    if level == "none":
        return ""
    if level == "xml":
        return _ILLEGAL_XML.sub("\ufffd", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if level == "lines":
        return text
    if level == "cue":
        parts = (line.strip(" \t") for line in text.split("\n"))
        return "\n".join(part for part in parts if part)
    text = text.replace("\n", " ").strip(" \t")
    if level == "token":
        return re.sub(r"[ \t]+", "_", text)
    return text
