"""One stratum per cluster: joined sets for clusters that touch several, and no stratum of one.

A stratified bootstrap draws clusters within strata. A cluster that touches several strata is not
split: its stratum is their joined set. A stratum with a single cluster comes back in every draw
and would hide that cluster's variance, so strata of one are collapsed into one stratum per group
(the usual remedy in survey sampling).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

JOIN = " + "
COLLAPSED = "(strata of one cluster)"


class Strata(Generic[K]):
    """Collects the strata that clusters touch.

    Examples
    --------
    >>> strata = Strata[str]()
    >>> for cluster, stratum in [("a", "y"), ("a", "x"), ("b", "x"), ("c", "x"), ("d", "z")]:
    ...     strata.add(cluster, stratum)
    >>> strata.final()
    {'a': '(strata of one cluster)', 'b': 'x', 'c': 'x', 'd': '(strata of one cluster)'}
    """

    def __init__(self) -> None:
        self._joined: dict[K, str] = {}

    def add(self, cluster: K, stratum: str) -> None:
        """Note that a cluster has a unit in a stratum."""
        known = self._joined.get(cluster)
        if known is None:
            self._joined[cluster] = sys.intern(stratum)
        elif stratum not in known.split(JOIN):
            self._joined[cluster] = sys.intern(JOIN.join(sorted([*known.split(JOIN), stratum])))

    def final(self, group: Callable[[str], str] | None = None) -> dict[K, str]:
        """Return one stratum per cluster.

        Parameters
        ----------
        group : callable or None
            Stratum to the group within which strata of one cluster may be collapsed (its
            language); all together when ``None``. A group with only one such stratum keeps it.
        """
        count = Counter(self._joined.values())
        groups = {s: group(s) if group is not None else "" for s, n in count.items() if n == 1}
        size = Counter(groups.values())
        collapsed = {
            stratum: f"{name} x {COLLAPSED}" if name else COLLAPSED
            for stratum, name in groups.items()
            if size[name] > 1
        }
        return {cluster: collapsed.get(s, s) for cluster, s in self._joined.items()}
