"""TRP scores when stimuli and listeners are both drawn again.

The consensus comes from a panel of listeners. The ordinary interval of a TRP score is conditional
on that panel; here listeners are drawn too, within their list, and the labels are recomputed in
every draw. Two systems share the draws, so their difference can be read off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from floorbench.core.score import Interval
from floorbench.errors import DataError, UsageError
from floorbench.events.trp import TrpRules, consensus
from floorbench.metrics import counts
from floorbench.metrics.base import Bools, Floats, Ints, Measure, Scored
from floorbench.metrics.inputs import answers
from floorbench.stats.bootstrap import DRAWS
from floorbench.stats.bootstrap_twoway import TwoWay, bootstrap_twoway
from floorbench.stats.intervals import interval

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
    slice : mapping of str to str
        The cell it stands beside, for example ``{"condition": "expert"}``.
    """

    statistic: str
    values: Mapping[str, float | None]
    intervals: Mapping[str, Interval]
    difference: Interval | None
    flip_rate: float | None
    stimuli: int
    listeners: int
    slice: Mapping[str, str] = field(default_factory=dict)


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


def beside(
    runs: Mapping[str, Sequence[Measure]],
    *,
    rules: TrpRules | None,
    draws: int,
    seed: int,
    level: float,
) -> tuple[PanelResult, ...]:
    """Return the two-way result beside every pooled F1 that is shown and that all runs have.

    Parameters
    ----------
    runs : mapping of str to sequence of Measure
        The cells of each run by a name for it; the first run's headline cells decide.
    rules : TrpRules or None
        The task's ``panel_rules``; ``None`` for a task without a panel.
    draws, seed, level
        As elsewhere.

    Undefined
    ---------
    There is no result for a cell whose runs were asked about different slots, or in whose lists
    nobody listened to that list alone.
    """
    if rules is None:
        return ()
    found = [
        {str(m.slice["condition"]): m for m in measures if _pooled(m)} for measures in runs.values()
    ]
    out = []
    for condition, measure in found[0].items():
        if not measure.headline or any(condition not in others for others in found):
            continue
        systems = {name: cells[condition].scored for name, cells in zip(runs, found, strict=True)}
        try:
            made = panel_bootstrap(systems, rules=rules, draws=draws, seed=seed, level=level)
        except (DataError, UsageError) as error:
            if error.code not in ("FB103", "FB651"):
                raise
            continue
        out.append(replace(made, slice=dict(measure.slice)))
    return tuple(out)


def _pooled(measure: Measure) -> bool:
    return measure.metric.spec.name == "slot_f" and set(measure.slice) == {"condition"}


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
    # Whole numbers far below 2^53 are exact as floats, which have the fast matrix product.
    drawn = people.astype(np.float64)
    responders, heard = (
        np.rint(drawn @ side.T.astype(np.float64)).astype(np.int64)
        for side in (panel.responded, panel.heard)
    )
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
