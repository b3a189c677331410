"""What native labels mean, per system: one versioned table for all tasks.

A system stores what it said; its spec names a table here, and the meaning is applied when a run
is scored. Changing a table changes ``VERSION``, which is part of every signature.

Lookup is exact after folding case, width, brackets and spaces, never by substring: KE-SemanticVAD's
``未完成`` (not finished) contains ``完成`` (finished).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from floorbench.core.prediction import Decision
from floorbench.core.spec import SystemSpec
from floorbench.errors import UsageError, did_you_mean

VERSION = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelMap:
    """The meaning of one system's native labels.

    Parameters
    ----------
    actions : mapping
        Native label to CoDeTT action.
    clips : mapping
        Native label to one of the four clip labels.
    positive, negative : str or None
        For scored systems: the native labels above the threshold and at or below it.
    """

    actions: Mapping[str, str]
    clips: Mapping[str, str]
    positive: str | None = None
    negative: str | None = None
    _folded: Mapping[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names = {*self.actions, *self.clips}
        object.__setattr__(self, "_folded", {fold(name): name for name in names})

    def native(self, said: str) -> str | None:
        """Return the native label that was said, in the table's spelling."""
        return self._folded.get(fold(said))


def fold(said: str) -> str:
    """Return a native label without case, width, brackets and spaces.

    Examples
    --------
    >>> fold("<|COMPLETE|>"), fold(" ＜未完成＞ "), fold("S-L")
    ('complete', '未完成', 's-l')
    """
    return re.sub(r"[<>|\[\]【】《》\s]+", "", unicodedata.normalize("NFKC", said).casefold())


_ENDPOINT = LabelMap(
    actions={"complete": "Takeover", "incomplete": "Dismiss"},
    clips={"complete": "complete", "incomplete": "incomplete"},
    positive="complete",
    negative="incomplete",
)

TABLES: dict[str, LabelMap] = {
    "smart-turn": _ENDPOINT,
    "firered": _ENDPOINT,
    "namo": _ENDPOINT,
    "easy-turn": LabelMap(
        actions={
            "complete": "Takeover",
            "incomplete": "Dismiss",
            "backchannel": "Maintain",
            "wait": "StopandListen",
        },
        clips={
            "complete": "complete",
            "incomplete": "incomplete",
            "backchannel": "backchannel",
            "wait": "wait",
        },
    ),
    "ten": LabelMap(
        actions={"finished": "Takeover", "unfinished": "Dismiss", "wait": "StopandListen"},
        clips={"finished": "complete", "unfinished": "incomplete", "wait": "wait"},
    ),
    "ke-semanticvad": LabelMap(
        actions={
            "完成": "Takeover",
            "未完": "Dismiss",
            "未完成": "Dismiss",
            "打断": "StopandListen",
            "附和": "Maintain",
        },
        clips={"完成": "complete", "未完": "incomplete", "未完成": "incomplete"},
    ),
}


def label_map(name: str) -> LabelMap:
    """Return a table by name.

    Raises
    ------
    UsageError
        ``FB221`` for an unknown name.
    """
    if name not in TABLES:
        near = did_you_mean(name, TABLES)
        raise UsageError(
            "FB221",
            f"there is no label map '{name}'",
            hint=f"did you mean '{near}'?" if near else f"known: {', '.join(TABLES)}",
        )
    return TABLES[name]


@runtime_checkable
class ReadsNative(Protocol):
    """A task whose reading of a label depends on what the system declares."""

    def unread(self, decision: Decision, system: SystemSpec) -> str | None:
        """Say why a label that the task knows means nothing from this system, or ``None``."""
        ...


def unread(said: str | None, own: Collection[str], system: SystemSpec) -> str | None:
    """Say why a known label means nothing from a system, or return ``None``.

    Parameters
    ----------
    said : str or None
    own : collection of str
        The task's own labels, read where no label map is declared.
    system : SystemSpec
    """
    if said is None:
        return None
    if system.label_map is not None:
        known = label_map(system.label_map).native(said) is not None
        return None if known else f"label '{said}' is not in the label map '{system.label_map}'"
    tables = [name for name, table in TABLES.items() if table.native(said) is not None]
    if said in own or not tables:
        return None
    return (
        f"label '{said}' is a system's own word, and the system declares no label map "
        f"(known from {', '.join(tables)})"
    )


def native_label(
    decision: Decision, table: LabelMap, *, score: float | None, threshold: float | None
) -> str | None:
    """Return the native label of a decision, in the table's spelling.

    With a ``threshold`` and a table of a scored system the label comes from the score: positive
    when it is greater than the threshold. A decision without a score (one that a gate in front of
    the model took) keeps its label.
    """
    if threshold is not None and table.positive is not None and score is not None:
        return table.positive if score > threshold else table.negative
    return table.native(decision.label) if decision.label is not None else None
