"""TRP scores when stimuli and listeners are both drawn again.

The consensus comes from a panel of listeners. The ordinary interval of a TRP score is conditional
on that panel; here listeners are drawn too, within their list, and the labels are recomputed in
every draw. Two systems share the draws, so their difference can be read off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from floorbench.core.score import Interval
from floorbench.errors import UsageError
from floorbench.events.trp import TrpRules, consensus
from floorbench.metrics import counts
from floorbench.metrics.base import Bools, Floats, Ints, Scored
from floorbench.metrics.inputs import answers
from floorbench.run.scoring import Opened, scored_units
from floorbench.stats.bootstrap import DRAWS
from floorbench.stats.bootstrap_twoway import TwoWay, bootstrap_twoway
from floorbench.stats.intervals import interval
from floorbench.tasks.trp import TrpTask

STATISTICS = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelResult:
    """One statistic under a two-way bootstrap.

    Parameters
    ----------
    statistic : str
    values : mapping of str to float or None
        Of every system on the data as they are.
    intervals : mapping of str to Interval
    difference : Interval or None
        Of the first system minus the second, when there are two.
    flip_rate : float or None
        Mean share of slots whose label another panel would have turned round.
    stimuli, listeners : int
    """

    statistic: str
    values: Mapping[str, float | None]
    intervals: Mapping[str, Interval]
    difference: Interval | None
    flip_rate: float | None
    stimuli: int
    listeners: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Panel:
    """All slots of all stimuli once, with who responded and who heard."""

    stimulus: Ints
    slot: Ints
    stimulus_list: Ints
    person_list: Ints
    responded: Ints
    heard: Ints
    final: Bools


def panel_bootstrap(
    systems: Mapping[str, Scored],
    *,
    rules: TrpRules,
    statistic: str = "f1",
    draws: int = DRAWS,
    seed: int = 0,
    level: float = 0.95,
) -> PanelResult:
    """Bootstrap a pooled slot statistic over stimuli and listeners.

    Parameters
    ----------
    systems : mapping of str to Scored
        Slot units of one condition by system, over the same slots (see the TRP task).
    rules : TrpRules
        The rule of the consensus, applied to every drawn panel.
    statistic : {'precision', 'recall', 'f1'}
    draws, seed, level
        As elsewhere.

    Raises
    ------
    UsageError
        ``FB103`` for an unknown statistic, no system, or systems over different slots.

    Notes
    -----
    A missing answer counts as a miss on positive slots and as nothing on negative ones. A listener
    counts in one list; the interval is a percentile interval.
    """
    if statistic not in STATISTICS:
        raise UsageError("FB103", f"statistic='{statistic}' is not one of {', '.join(STATISTICS)}")
    if not systems:
        raise UsageError("FB103", "no system to bootstrap")
    panel = _panel(next(iter(systems.values())))
    found = bootstrap_twoway(
        lambda people: _labels(panel, people, rules),
        {name: _Counting(panel, _passes(s, panel), statistic) for name, s in systems.items()},
        stimulus_list=panel.stimulus_list,
        participant_list=panel.person_list,
        draws=draws,
        seed=seed,
        slots=len(panel.slot),
    )
    names = list(systems)
    difference = found.difference(names[0], names[1]) if len(names) == 2 else None
    return PanelResult(
        statistic=statistic,
        values={name: _value(found, name) for name in names},
        intervals={name: interval(found.models[name], level=level) for name in names},
        difference=interval(difference, level=level) if difference is not None else None,
        flip_rate=found.flip_rate,
        stimuli=found.stimuli,
        listeners=found.participants,
    )


def panel_results(
    runs: Sequence[Opened], *, draws: int = DRAWS, level: float = 0.95
) -> tuple[PanelResult, ...]:
    """Bootstrap precision, recall and F1 of TRP runs over stimuli and listeners.

    Parameters
    ----------
    runs : sequence of Opened
        From :func:`floorbench.run.scoring.open_predictions`, all of the TRP task; the seed is the
        first one's. A run with several conditions counts as several systems.
    draws, level
        As elsewhere.

    Returns
    -------
    tuple of PanelResult
        One per statistic.

    Raises
    ------
    UsageError
        ``FB103`` for a run of another task or with ``missing=drop``, ``FB520`` for runs over
        other data or rules.
    """
    systems: dict[str, Scored] = {}
    for number, run in enumerate(runs, start=1):
        if not isinstance(run.task, TrpTask):
            raise UsageError(
                "FB103", f"'{run.path}' is of task '{run.task.spec.name}', which has no listeners"
            )
        if run.task.spec.parameters["missing"] != "wrong":
            raise UsageError("FB103", "with drawn listeners a missing answer counts as wrong")
        if run.source.digest() != runs[0].source.digest() or run.task.rules != _rules(runs):
            raise UsageError("FB520", f"'{run.path}' has other data or rules than the first run")
        units = scored_units(run).units["slot"]
        for code in sorted(set(units.column("condition").tolist())):
            condition = units.vocab["condition"][code]
            name = " ".join(part for part in (run.system.name, condition) if part != "none")
            if name in systems:
                name += f" #{number}"
            systems[name] = units.where(units.column("condition") == code)
    return tuple(
        panel_bootstrap(
            systems,
            rules=_rules(runs),
            statistic=statistic,
            draws=draws,
            seed=runs[0].seed,
            level=level,
        )
        for statistic in STATISTICS
    )


def _rules(runs: Sequence[Opened]) -> TrpRules:
    task = runs[0].task
    assert isinstance(task, TrpTask)  # noqa: S101 -- the caller has looked
    return task.rules


class _Counting:
    """Pooled counts of one system under drawn stimuli and labels."""

    def __init__(self, panel: _Panel, yes: Floats, statistic: str) -> None:
        self._panel = panel
        self._yes = yes
        self._statistic = statistic

    def __call__(self, stimuli: Floats, labels: Bools) -> Floats:
        weight = stimuli[:, self._panel.stimulus]
        tp = (weight * labels * self._yes).sum(axis=1)
        fp = (weight * ~labels * self._yes).sum(axis=1)
        fn = (weight * labels * (1.0 - self._yes)).sum(axis=1)
        if self._statistic == "precision":
            return counts.precision(tp, fp)
        if self._statistic == "recall":
            return counts.recall(tp, fn)
        return counts.f_beta(tp, fp, fn, 1.0)


def _panel(scored: Scored) -> _Panel:
    keys = np.stack([scored.column("stimulus"), scored.column("slot")])
    unique, first = np.unique(keys, axis=1, return_index=True)
    stimuli, place = np.unique(unique[0], return_inverse=True)
    responses = scored.column("responses")[first]
    used = (responses >= 0).any(axis=0)
    responses = responses[:, used]
    stimulus_list = np.zeros(len(stimuli), dtype=np.int64)
    stimulus_list[place] = scored.column("list")[first]
    heard = responses >= 0
    person_list = scored.column("list")[first][np.argmax(heard, axis=0)]
    return _Panel(
        stimulus=place,
        slot=unique[1],
        stimulus_list=stimulus_list,
        person_list=person_list.astype(np.int64),
        responded=(responses == 1).astype(np.int64),
        heard=heard.astype(np.int64),
        final=scored.column("final")[first],
    )


def _passes(scored: Scored, panel: _Panel) -> Floats:
    """Return the share of a slot's trials that said yes; a missing answer did not."""
    keys = np.stack([scored.column("stimulus"), scored.column("slot")])
    unique, place = np.unique(keys, axis=1, return_inverse=True)
    if unique.shape[1] != len(panel.slot) or (unique[1] != panel.slot).any():
        raise UsageError("FB103", "the systems were not asked about the same slots")
    answered = answers(scored, "wrong").answered
    yes = answered & (scored.column("predicted") == scored.code("predicted", "yes"))
    place = place.reshape(-1)
    slots = len(panel.slot)
    share: Floats = np.bincount(place, weights=yes, minlength=slots) / np.bincount(place)
    return share


def _labels(panel: _Panel, people: Ints, rules: TrpRules) -> Bools:
    """Return the consensus of drawn panels, in exact arithmetic."""
    responders, heard = people @ panel.responded.T, people @ panel.heard.T
    if rules.rule == "fixed":
        tau = rules.tau
        labels: Bools = tau.denominator * responders > tau.numerator * heard
    else:
        labels = np.zeros(responders.shape, dtype=np.bool_)
        for number in range(int(panel.stimulus.max()) + 1):
            at = np.flatnonzero(panel.stimulus == number)
            for draw in range(len(people)):
                audience = int(heard[draw, at[0]])
                if audience:
                    mine = responders[draw, at]
                    labels[draw, at] = consensus(mine, heard=audience, rules=rules)
    if rules.final_slot == "always":
        labels[:, panel.final] = True
    return labels


def _value(found: TwoWay, name: str) -> float | None:
    value = found.models[name].point
    return None if np.isnan(value) else value
