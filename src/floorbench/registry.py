"""Names to objects: a table of ``name -> "module:attribute"`` plus entry points of other packages.

Nothing is imported until it is asked for. A name that two packages claim is an error, and a
misspelt name gets a suggestion.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from floorbench.errors import EnvironmentProblem, UsageError, did_you_mean, missing_extra


@dataclass(frozen=True, slots=True)
class Entry:
    """One catalogue line: where the object is, what it is, and which extra it needs."""

    target: str
    summary: str
    extra: str | None = None
    level: str | None = None


def required_parameters(factory: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names that must be given to build something: those without a default."""
    return tuple(
        name
        for name, p in inspect.signature(factory).parameters.items()
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    )


class Registry:
    """Lazy, collision-checked lookup of one kind of thing.

    Parameters
    ----------
    kind : str
        Singular noun for messages: ``task``, ``system``, ``dataset``, ``metric``.
    table : mapping of str to Entry
        The names that ship with floorbench.
    """

    def __init__(self, kind: str, table: Mapping[str, Entry]) -> None:
        self.kind = kind
        self._table = table
        self._merged: dict[str, Entry] | None = None

    @property
    def group(self) -> str:
        """Entry-point group that other packages use: ``floorbench.<kind>s``."""
        return f"floorbench.{self.kind}s"

    def entries(self) -> dict[str, Entry]:
        """Return all entries by name, built-in ones first.

        Raises
        ------
        EnvironmentProblem
            ``FB102`` when a name is taken twice.
        """
        if self._merged is None:
            merged = dict(self._table)
            for point in entry_points(group=self.group):
                package = point.dist.name if point.dist is not None else "another package"
                if point.name in merged:
                    raise EnvironmentProblem(
                        "FB102", f"{self.kind} '{point.name}' of {package} is already registered"
                    )
                merged[point.name] = Entry(point.value, f"from package {package}")
            self._merged = merged
        return self._merged

    def entry(self, name: str) -> Entry:
        """Return one entry or raise ``FB101`` with the nearest known name."""
        known = self.entries()
        if name not in known:
            near = did_you_mean(name, known)
            raise UsageError(
                "FB101",
                f"there is no {self.kind} '{name}'",
                hint=f"did you mean '{near}'?"
                if near
                else f"`floorbench list {self.kind}s` shows all names",
            )
        return known[name]

    def load(self, name: str) -> Any:
        """Import and return the object behind a name.

        Raises
        ------
        UsageError
            ``FB101`` for an unknown name.
        EnvironmentProblem
            ``FB401`` when its optional library is missing, with the install line.
        """
        entry = self.entry(name)
        module, _, attribute = entry.target.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            missing = error.name or module
            if missing.startswith("floorbench") or entry.extra is None:
                raise
            raise missing_extra(missing, entry.extra) from None
