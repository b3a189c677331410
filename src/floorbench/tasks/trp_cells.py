"""Every cell of the within-turn TRP result, from scoring units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.events.trp import TrpRules
from floorbench.metrics import trp
from floorbench.metrics.agreement import kappa_all, kappa_free, kappa_hit, kappa_near
from floorbench.metrics.base import OK, Measure, Metric, Scored, point
from floorbench.metrics.distances import (
    mae_density,
    mae_seconds,
    mae_seconds_recall,
    mae_slots,
    mae_slots_recall,
    mse_slots,
    nmae,
    nmse,
)
from floorbench.metrics.kinds import Additive
from floorbench.metrics.ranking import auc
from floorbench.tasks.trp_baselines import LINEAR, YES, answering, baselines, one_pass, repeats
from floorbench.tasks.units import coverage, no_cover, without_unscored

WINDOWS = (1, 2, 3)
NORMS = ("max_predicted", "n_slots", "none")
LIST_MEANS = ("list_mean", "stimulus_list_macro")
NOT_THE_PAPERS = "not the paper's kappa_true, which cannot be recovered"
SAME_EVERYWHERE = "reads no instruction: one run stands for every condition"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Builds the cells of one result.

    Parameters
    ----------
    slots : Scored
        All units of the run.
    rules : TrpRules
        The rule of the consensus.
    conditions : tuple of str
        All conditions of the task, in order.
    everywhere : str
        The condition of systems that read no instruction; its cells stand under all others too.
    ranked : bool
        Whether the system gives a score.
    missing : {'wrong', 'drop'}
    h : int
        Half-width of the headline windows.
    """

    slots: Scored
    rules: TrpRules
    conditions: tuple[str, ...]
    everywhere: str
    ranked: bool
    missing: str
    h: int

    def all(self) -> list[Measure]:
        """Return all cells: per condition, then listeners and baselines."""
        if not len(self.slots):
            return []
        found = baselines(self.slots, self.rules)
        beside = self._baseline_notes(found)
        present = {self.conditions[c] for c in set(self.slots.column("condition").tolist())}
        out: list[Measure] = []
        for condition in self.conditions:
            if condition in present:
                out += self._condition(condition, condition, beside)
            elif present == {self.everywhere}:
                same = self._condition(self.everywhere, condition, beside)
                out += [_quiet(m, SAME_EVERYWHERE) for m in same]
        out += self._panel()
        for name, units in found.items():
            cells = self._short(units, {"baseline": name})
            if name == "random":
                cells = [m for m in cells if m.metric.spec.name in LINEAR]
            out += [_quiet(m, None) for m in cells]
        return out

    # ---- one condition -----------------------------------------------------------------------

    def _condition(self, taken: str, shown: str, beside: Mapping[str, str]) -> list[Measure]:
        code = self.conditions.index(taken)
        units = self.slots.where(self.slots.column("condition") == code)
        where = {"condition": shown}
        out = [
            replace(m, headline=True, note=_joined(m.note, beside.get(m.metric.spec.name)))
            for m in self._short(units, where)
        ]
        if self.ranked:
            out += self._ranked(units, where)
        out += self._more(units, where)
        out += self._repeats(units, where)
        return out

    def _short(self, units: Scored, where: Mapping[str, str]) -> list[Measure]:
        """Return the measures of the printed table."""
        m = self.missing
        kappas: list[tuple[Metric, str | None]] = [
            (kappa_all(missing=m), None),
            (kappa_hit(h=self.h, missing=m), NOT_THE_PAPERS),
            (kappa_near(h=self.h, missing=m), NOT_THE_PAPERS),
        ]
        shares = [trp.slot_precision(missing=m), trp.slot_recall(missing=m), trp.slot_f(missing=m)]
        cells = [self._cell(s, units, where) for s in shares]
        cells += [self._cell(k, units, where, note) for k, note in kappas]
        distances = (
            mae_slots(missing=m),
            mae_slots_recall(missing=m),
            nmae(missing=m),
            nmse(missing=m),
            mae_density(h=self.h, missing=m),
        )
        return cells + [self._distance(d, units, where) for d in distances]

    def _more(self, units: Scored, where: Mapping[str, str]) -> Iterator[Measure]:
        """Return the measures that are stored and not printed by default."""
        m = self.missing
        yield self._cell(trp.slot_f(beta=0.5, missing=m), units, {**where, "beta": "0.5"})
        yield self._cell(trp.slot_specificity(missing=m), units, where)
        yield self._cell(trp.slot_balanced_accuracy(missing=m), units, where)
        lists = units.vocab["list"]
        for aggregation in LIST_MEANS:
            for factory in (trp.slot_precision, trp.slot_recall, trp.slot_f):
                metric = factory(aggregation=aggregation, lists=lists, missing=m)
                yield self._cell(metric, units, {**where, "aggregation": aggregation})
        for h in WINDOWS:
            if h != self.h:
                window = {**where, "h": str(h)}
                yield self._cell(kappa_hit(h=h, missing=m), units, window, NOT_THE_PAPERS)
                yield self._cell(kappa_near(h=h, missing=m), units, window, NOT_THE_PAPERS)
                yield self._distance(mae_density(h=h, missing=m), units, window)
        people = {**where, "density": "people"}
        yield self._distance(mae_density(h=self.h, density="people", missing=m), units, people)
        for distance in (
            mse_slots(missing=m),
            mae_seconds(missing=m),
            mae_seconds_recall(missing=m),
        ):
            yield self._distance(distance, units, where)
        for norm in NORMS:
            for normed in (nmae(norm=norm, missing=m), nmse(norm=norm, missing=m)):
                yield self._distance(normed, units, {**where, "norm": norm})

    def _ranked(self, units: Scored, where: Mapping[str, str]) -> Iterator[Measure]:
        ranked = without_unscored(units)
        yield replace(self._cell(auc(positive="yes"), ranked, where), headline=True)
        if (ranked.column("outcome") != OK).any():
            yield self._cell(
                auc(positive="yes", missing="drop"),
                ranked,
                {**where, "items": "answered"},
                "answered items only",
            )

    def _repeats(self, units: Scored, where: Mapping[str, str]) -> Iterator[Measure]:
        """Return how far a model agrees with itself, where it was asked more than once."""
        if units.column("trial").any():
            yield self._cell(
                _named("kappa_self", kappa_free(categories=2)),
                repeats(units),
                where,
                "the model's own repeats, no listener",
            )

    # ---- listeners and baselines -------------------------------------------------------------

    def _panel(self) -> Iterator[Measure]:
        """Return how far the listeners agree with each other."""
        once = one_pass(self.slots)
        heard = once.column("responses")
        counts = np.stack([(heard == 0).sum(axis=1), (heard == 1).sum(axis=1)], axis=1)
        yield self._cell(
            _named("kappa_listeners", kappa_free(categories=2)),
            answering(once.with_columns(counts=counts), once.column("final")),
            {"baseline": "panel"},
            "all listeners, no model",
        )

    def _baseline_notes(self, found: Mapping[str, Scored]) -> dict[str, str]:
        """Say, for F1 and kappa_all, what the baselines reach on the same slots."""
        notes = {"slot_recall": self._consensus_note()}
        for metric in (trp.slot_f(), kappa_all()):
            values = [f"{name} {_shown(metric, units)}" for name, units in found.items()]
            notes[metric.spec.name] = "baselines: " + ", ".join(values)
        return notes

    def _consensus_note(self) -> str:
        """Say how many slots the listeners agreed on, and which onsets lie outside all slots."""
        once = one_pass(self.slots)
        before, after, empty = once.column("strays").sum(axis=0).tolist()
        positive = int((once.column("gold") == YES).sum())
        text = f"{positive} of {counted(len(once), 'slot')} are consensus TRPs"
        if before or after:
            text += (
                f"; outside all slots: {counted(before, 'onset')} "
                f"before the first, {after} after the last"
            )
        return text + (f"; {counted(empty, 'empty slot')}" if empty else "")

    # ---- helpers -----------------------------------------------------------------------------

    def _cell(
        self,
        metric: Metric,
        units: Scored,
        where: Mapping[str, str],
        note: str | None = None,
    ) -> Measure:
        return Measure(
            metric=metric,
            slice=dict(where),
            scored=units,
            coverage=coverage(units),
            note=note,
        )

    def _distance(self, metric: Additive, units: Scored, where: Mapping[str, str]) -> Measure:
        """Return a distance with the stimuli that it leaves out."""
        try:
            rows = metric.rows(units)
        except DataError as error:
            if error.code != "FB625":
                raise
            return Measure(
                metric=metric,
                slice=dict(where),
                scored=units,
                coverage=no_cover(),
                undeclared="a consensus slot has no response around it (final_slot=always)",
            )
        totals = dict(zip(metric.names, rows.totals().tolist(), strict=True))
        left = []
        if totals["no_prediction"]:
            left.append(f"{totals['no_prediction']:g} without a prediction")
        if totals["no_consensus"]:
            left.append(f"{totals['no_consensus']:g} without a consensus slot")
        note = f"stimuli left out: {', '.join(left)}" if left else None
        return self._cell(metric, units, where, note)


def _named(name: str, metric: Additive) -> Additive:
    return replace(metric, spec=replace(metric.spec, name=name))


def _quiet(measure: Measure, note: str | None) -> Measure:
    return replace(measure, headline=False, note=_joined(measure.note, note))


def _joined(*notes: str | None) -> str | None:
    return "; ".join(dict.fromkeys(n for n in notes if n)) or None


def _shown(metric: Metric, units: Scored) -> str:
    value = point(metric, units).value if len(units) else None
    return "undefined" if value is None else f"{value:.3f}"
