"""Pair units: two linked samples answered in the same trial, as one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from floorbench.core.sample import Sample
from floorbench.datasets.echo_tables import ACTION_OF, CONTRASTS
from floorbench.metrics.base import INVALID, OK, Scored
from floorbench.tasks.echo_answers import Said
from floorbench.tasks.units import stratum_code

SIDES = ("a", "b")
SUFFIXES = ("", "_tail1")


class _Member(NamedTuple):
    role: str
    said: Sequence[Said]


class PairUnits:
    """Collects samples and links those that belong together.

    A pair whose members were not both asked for (a run with a limit) gives no unit.

    Parameters
    ----------
    languages, actions, roles : sequence of str
        Label sets.
    """

    def __init__(
        self, *, languages: Sequence[str], actions: Sequence[str], roles: Sequence[str]
    ) -> None:
        self._languages = tuple(languages)
        self._actions = tuple(actions)
        self._roles = tuple(roles)
        self._clusters: dict[str, int] = {}
        self._strata: list[int] = []
        self._pairs: dict[tuple[str, str, int], dict[str, _Member]] = {}
        self._place: dict[tuple[str, str, int], tuple[int, int]] = {}

    def add(self, sample: Sample, trial: int, role: str, said: Sequence[Said]) -> None:
        """Take one sample's answer, read at every tail."""
        if sample.cluster not in self._clusters:
            self._clusters[sample.cluster] = len(self._clusters)
            self._strata.append(stratum_code(sample.stratum))
        where = (
            self._clusters[sample.cluster],
            self._languages.index(sample.observation.language),
        )
        for pair, contrast, side in sample.target.get("pairs", ()):
            key = (str(pair), str(contrast), trial)
            self._place[key] = where
            self._pairs.setdefault(key, {})[str(side)] = _Member(role, said)

    def scored(self) -> Scored:
        """Return the pairs as columns (their meaning: :mod:`floorbench.metrics.pairs`).

        ``outcome`` is that of the first member whose outcome is not ok.
        """
        whole = {k: m for k, m in self._pairs.items() if len(m) == len(SIDES)}
        contrasts = tuple(CONTRASTS.values())
        trials = Counter((pair, contrast) for pair, contrast, _ in whole)
        columns: dict[str, list[int]] = {
            "contrast": [contrasts.index(contrast) for _, contrast, _ in whole],
            "language": [self._place[key][1] for key in whole],
        }
        for side in SIDES:
            members = [m[side] for m in whole.values()]
            columns[f"gold_{side}"] = [self._actions.index(ACTION_OF[m.role]) for m in members]
            columns[f"role_{side}"] = [self._roles.index(m.role) for m in members]
            for i, suffix in enumerate(SUFFIXES):
                said = [m.said[i] for m in members]
                columns[f"predicted_{side}{suffix}"] = [
                    -1 if s.action is None else self._actions.index(s.action) for s in said
                ]
                columns[f"outcome_{side}{suffix}"] = [s.outcome for s in said]
            first = [m.said[0] for m in members]
            columns[f"predicted_role_{side}"] = [
                -1 if s.role is None else self._roles.index(s.role) for s in first
            ]
            columns[f"outcome_role_{side}"] = [
                INVALID if s.outcome == OK and s.role is None else s.outcome for s in first
            ]
        for suffix in ("", "_tail1", "_role"):
            name = f"outcome{suffix}"
            both = zip(
                columns[_of("outcome", "a", suffix)],
                columns[_of("outcome", "b", suffix)],
                strict=True,
            )
            columns[name] = [a if a != OK else b for a, b in both]
        return Scored(
            cluster=np.array([self._place[key][0] for key in whole], dtype=np.int64),
            clusters=tuple(self._clusters),
            strata=np.array(self._strata, dtype=np.int64),
            weight=np.array([1.0 / trials[k[:2]] for k in whole], dtype=np.float64),
            columns={k: np.array(v, dtype=np.int64) for k, v in columns.items()},
            vocab={
                "gold": self._actions,
                "role": self._roles,
                "contrast": contrasts,
                "language": self._languages,
            },
            units=tuple(pair for pair, _, _ in whole),
        )


def _of(kind: str, side: str, suffix: str) -> str:
    return f"{kind}_role_{side}" if suffix == "_role" else f"{kind}_{side}{suffix}"
