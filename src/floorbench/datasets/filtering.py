"""A part of a dataset: the samples whose tags, id, cluster or stratum have given values.

A part has a digest of its own, made of the whole's digest and the conditions, so that its figures
are never taken for those of the whole. Clusters and strata are those of the whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from floorbench.core.ports import DatasetSource
from floorbench.core.sample import JsonValue, Sample
from floorbench.errors import UsageError

OWN = ("id", "cluster", "stratum")


class Condition(NamedTuple):
    """``name=a,b`` (one of these values) or ``name!=a,b`` (none of them)."""

    name: str
    values: tuple[str, ...]
    wanted: bool

    def holds(self, sample: Sample) -> bool:
        """Tell whether a sample keeps to it; a tag that it lacks has the empty value."""
        value = getattr(sample, self.name) if self.name in OWN else sample.tags.get(self.name, "")
        return (value in self.values) is self.wanted

    def __str__(self) -> str:
        return f"{self.name}{'=' if self.wanted else '!='}{','.join(self.values)}"


def conditions(texts: Sequence[str]) -> tuple[Condition, ...]:
    """Read conditions as a user writes them.

    Raises
    ------
    UsageError
        ``FB103`` for text of another form.

    Examples
    --------
    >>> [str(c) for c in conditions(["language = en,zh", "source!=real"])]
    ['language=en,zh', 'source!=real']
    """
    out = []
    for text in texts:
        name, equals, values = text.partition("=")
        wanted = not name.endswith("!")
        name = name.removesuffix("!").strip()
        if not equals or not name:
            raise UsageError(
                "FB103",
                f"'{text}' is not NAME=VALUE or NAME!=VALUE",
                hint="for example language=en, or source!=real,unknown",
            )
        out.append(Condition(name, tuple(v.strip() for v in values.split(",")), wanted))
    return tuple(out)


class FilteredSource:
    """The samples of a dataset that keep to all conditions.

    Parameters
    ----------
    source : DatasetSource
    only : sequence of str
        Conditions, ``NAME=VALUE[,VALUE]`` or ``NAME!=VALUE[,VALUE]``; names are tags, ``id``,
        ``cluster`` and ``stratum``.
    """

    def __init__(self, source: DatasetSource, only: Sequence[str]) -> None:
        self._source = source
        self.conditions = conditions(only)
        self.name = f"{source.name} ({' '.join(map(str, self.conditions))})"

    def locator(self) -> Mapping[str, JsonValue]:
        """Return the whole's locator and the conditions."""
        return {**self._source.locator(), "only": [str(c) for c in self.conditions]}

    def describe(self) -> Mapping[str, JsonValue]:
        """Return what the whole says of itself, with the part's name and without its size."""
        told = {k: v for k, v in self._source.describe().items() if k != "samples"}
        return {**told, "name": self.name, "only": [str(c) for c in self.conditions]}

    def digest(self) -> str:
        """Return the SHA-256 of the whole's digest and the conditions."""
        text = "\n".join([self._source.digest(), *sorted(map(str, self.conditions))])
        return hashlib.sha256(text.encode()).hexdigest()

    def samples(self) -> Iterator[Sample]:
        """Yield the samples that keep to all conditions."""
        return (s for s in self._source.samples() if all(c.holds(s) for c in self.conditions))
