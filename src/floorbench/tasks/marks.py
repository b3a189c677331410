"""What stands on the time line of a sample: the events behind scoring units, with their rules.

A task whose units are events of a recording gives them through ``marks(sample)``, one group per
kind of unit, in the order in which ``scored`` makes the units of that sample. So an answer to a
unit can be drawn where the event lies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from floorbench.core.sample import Sample
from floorbench.core.time import Seconds
from floorbench.core.vocab import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One event: when, of which channel, what it is and which rule made it so.

    Parameters
    ----------
    time : float
        Seconds on the media clock.
    end : float or None
        Of an event with a length.
    role : Role
        Whose event it is.
    label : str
    rule : str
        In words.
    """

    time: Seconds
    end: Seconds | None = None
    role: Role
    label: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The events of one kind of unit.

    Parameters
    ----------
    title : str
    where : mapping of str to str
        The part of a cell's slice that says that the cell is about these units.
    marks : tuple of Mark
    names : mapping of str to str
        What labels of the units are called here; others keep their names.
    preferred : mapping of str to str
        Part of the slice of the cells that are read first, where several cells decide on a unit.
    """

    title: str
    where: Mapping[str, str]
    marks: tuple[Mark, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    preferred: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class Marked(Protocol):
    """A task that can say where its units lie in time."""

    def marks(self, sample: Sample) -> Mapping[str, Marks]:
        """Return the events behind the units of a sample, by kind of unit."""
        ...
