"""Items of several runs on one data set, as columns that can be filtered, sorted and paged.

A :class:`Group` holds the runs of one task on one data set. Its *rows* are the (sample, condition,
trial) keys that any of its runs was asked for, in the order of the data. Each run is seen through
*layers*: pairs of gold and predicted columns of the task's own scoring units (CoDeTT has two, the
action and the intent). Right and wrong are read off these units; no rule is written twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from floorbench.core.prediction import Decision, PredictionKey
from floorbench.core.sample import Sample
from floorbench.errors import UsageError
from floorbench.metrics.base import OUTCOMES, DueItem, Scored
from floorbench.report.stored import LabelPair, StoredRun, label_pairs

NOT_DUE = -1
NO_ANSWER = "no usable answer"
RIGHT, WRONG, UNDECIDED = 1, 0, -1
FACET_LIMIT = 40
PENDING = OUTCOMES.index("absent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One run through one pair of columns, aligned with the group's rows.

    ``gold`` and ``predicted`` are codes into ``labels`` (-1 for none), ``right`` is 1, 0 or -1.
    Where a row has several units (slots of a stimulus, for example) a row is right when all of
    them are, and its labels are those of its first wrong unit.
    """

    name: str
    labels: tuple[str, ...]
    gold: NDArray[np.int32]
    predicted: NDArray[np.int32]
    right: NDArray[np.int8]


class RunView:
    """One run aligned with the rows of its group."""

    def __init__(self, stored: StoredRun, rows: Mapping[PredictionKey, int], position: int) -> None:
        self.stored = stored
        self.position = position
        self.name = stored.result.system.name
        n = len(rows)
        self.item: NDArray[np.int32] = np.full(n, NOT_DUE, dtype=np.int32)
        self.outcome = np.full(n, NOT_DUE, dtype=np.int8)
        self.score = np.full(n, np.nan)
        self.answer: list[str] = [""] * n
        for i, item in enumerate(stored.items):
            row = rows[key_of(item)]
            self.item[row] = i
            self.outcome[row] = PENDING
            if item.prediction is not None:
                decision = item.prediction.decision
                self.outcome[row] = OUTCOMES.index(decision.outcome.value)
                score = self._score(decision)
                self.score[row] = np.nan if score is None else score
                self.answer[row] = decision.label or (decision.raw or "")[:80]
        self._rows = rows
        self._layers: dict[str, Layer] = {}
        self._clusters: dict[tuple[str, str], list[DueItem]] | None = None

    def _score(self, decision: Decision) -> float | None:
        name = self.stored.record.system_spec.score
        if name is not None:
            return decision.scores.get(name)
        return decision.scores.get(decision.label) if decision.label is not None else None

    @cached_property
    def _pairs(self) -> dict[str, LabelPair]:
        units = self._units
        return {} if units is None else {pair.name: pair for pair in label_pairs(units)}

    @property
    def layer_names(self) -> tuple[str, ...]:
        """Names of the layers, the task's main labels (``label``) first."""
        return tuple(self._pairs)

    @property
    def _units(self) -> Scored | None:
        """The units that stand for items: ``sample`` where there are any, else the first kind."""
        scored = self.stored.scored
        return scored.get("sample", next(iter(scored.values()), None))

    @cached_property
    def tallies(self) -> dict[str, tuple[int, int]]:
        """Right and all events per item, where items are recordings of many events.

        By the first cell of the task that has an answer to each event; of all trials together.
        Empty where items are judged as a whole.
        """
        if any((self.layer(name).right != UNDECIDED).any() for name in self.layer_names):
            return {}
        for measure in self.stored.measures:
            units = measure.scored
            if measure.undeclared is None and not {"predicted", "gold"} - set(units.columns):
                break
        else:
            return {}
        out: dict[str, tuple[int, int]] = {}
        good = (units.column("predicted") == units.column("gold")) & (units.column("gold") >= 0)
        for name, right in zip(units.units or (), good.tolist(), strict=False):
            before = out.get(name, (0, 0))
            out[name] = (before[0] + right, before[1] + 1)
        return out

    def cluster_of(self, item: DueItem) -> list[DueItem]:
        """Return the items of an item's cluster under its condition, as a task scores them."""
        if self._clusters is None:
            self._clusters = {}
            for one in self.stored.items:
                self._clusters.setdefault((one.sample.cluster, one.condition), []).append(one)
        return self._clusters[item.sample.cluster, item.condition]

    def layer(self, name: str) -> Layer:
        """Return a layer; one that the run does not have is empty."""
        if name not in self._layers:
            self._layers[name] = self._make_layer(name)
        return self._layers[name]

    def _make_layer(self, name: str) -> Layer:
        n = len(self._rows)
        gold = np.full(n, -1, dtype=np.int32)
        predicted = np.full(n, -1, dtype=np.int32)
        right = np.full(n, UNDECIDED, dtype=np.int8)
        units = self._units
        labels: tuple[str, ...] = ()
        pair = self._pairs.get(name)
        if units is not None and pair is not None:
            labels = units.vocab[pair.gold]
            rows = self.unit_rows(units)
            said, truth = units.column(pair.predicted), units.column(pair.gold)
            for row, g, p in zip(rows.tolist(), truth.tolist(), said.tolist(), strict=True):
                if row < 0:
                    continue
                good = g == p and p >= 0
                if right[row] == UNDECIDED or (right[row] == RIGHT and not good):
                    gold[row], predicted[row] = g, p
                    right[row] = good
            right[self.outcome == PENDING] = UNDECIDED
        return Layer(name=name, labels=labels, gold=gold, predicted=predicted, right=right)

    def unit_rows(self, units: Scored) -> NDArray[np.int64]:
        """Return the row of each unit, -1 for a unit that is not one of the items."""
        names = units.units or ()
        codes = units.columns.get("condition")
        vocab = units.vocab.get("condition", ())
        given = units.columns.get("trial")
        trials: dict[tuple[str, str], int] = {}
        alone: dict[str, str] = {}
        if codes is None:
            for key in self._rows:
                alone.setdefault(key.sample_id, key.condition)
        out = np.full(len(names), -1, dtype=np.int64)
        for i, name in enumerate(names):
            if codes is None:
                condition = alone.get(name, "")
            else:
                condition = vocab[int(codes[i])] if vocab else str(codes[i])
            trial = trials.get((name, condition), 0) if given is None else int(given[i])
            row = self._rows.get(PredictionKey(name, condition, trial))
            if row is None and trial:  # more units than trials: several units of one item
                row = self._rows.get(PredictionKey(name, condition, 0))
            else:
                trials[(name, condition)] = trial + 1
            out[i] = -1 if row is None else row
        return out


class Group:
    """The runs of one task on one data set."""

    def __init__(self, runs: Sequence[StoredRun]) -> None:
        self.task = runs[0].record.task_spec.name
        self.data = runs[0].record.dataset
        rows: dict[PredictionKey, int] = {}
        self.samples: list[Sample] = []
        for key, sample in _in_data_order(runs):
            rows[key] = len(rows)
            self.samples.append(sample)
        self.rows = rows
        self.keys = list(rows)
        self.kind = self._kind()
        self.runs = [RunView(run, rows, i) for i, run in enumerate(runs)]
        self.tags = self._tags()
        self.texts = [_searchable(s) for s in self.samples]

    def _tags(self) -> dict[str, tuple[tuple[str, ...], NDArray[np.int32]]]:
        """Return tag -> (values, code per row), for tags with few values; conditions are one."""
        names = dict.fromkeys(tag for sample in self.samples for tag in sample.tags)
        columns = {name: [s.tags.get(name, "") for s in self.samples] for name in names}
        if self.kind == "role":
            columns["role"] = [self.kind_of(sample) for sample in self.samples]
        columns["condition"] = [key.condition for key in self.keys]
        columns["trial"] = [str(key.trial) for key in self.keys]
        out = {}
        for name, values in columns.items():
            known = tuple(dict.fromkeys(values))
            if 1 < len(known) <= FACET_LIMIT:
                place = {value: i for i, value in enumerate(known)}
                out[name] = (known, np.array([place[v] for v in values], dtype=np.int32))
        return out

    def _kind(self) -> str:
        """Return what tells the sorts of items apart: ``scenario``, ``role``, or nothing."""
        if any("scenario" in sample.tags for sample in self.samples):
            return "scenario"
        return "role" if any("role" in sample.target for sample in self.samples) else ""

    def kind_of(self, sample: Sample) -> str:
        """Return the scenario or role of a sample, empty where it has none."""
        named = sample.tags.get("scenario") or sample.target.get("role")
        return str(named) if self.kind and named else ""

    @cached_property
    def layer_names(self) -> tuple[str, ...]:
        """Layers of any run, in order."""
        return tuple(dict.fromkeys(name for run in self.runs for name in run.layer_names))

    def run(self, position: int) -> RunView:
        """Return a run by position, ``FB805`` when there is none."""
        if not 0 <= position < len(self.runs):
            raise UsageError("FB805", f"there is no run {position} in this group")
        return self.runs[position]

    def row(self, key: PredictionKey) -> int:
        """Return the row of a key, ``FB805`` when there is none."""
        if key not in self.rows:
            raise UsageError("FB805", f"there is no item {tuple(key)!r}")
        return self.rows[key]

    def cell_mask(self, run: RunView, metric: str, slice_: Mapping[str, str]) -> NDArray[np.bool_]:
        """Return which rows stand behind a cell of a table.

        Raises
        ------
        UsageError
            ``FB805`` when the run has no such cell.
        """
        for measure in run.stored.measures:
            if measure.metric.spec.name == metric and dict(measure.slice) == dict(slice_):
                break
        else:
            raise UsageError("FB805", f"the run has no cell {metric} {dict(slice_)}")
        mask = np.zeros(len(self.keys), dtype=np.bool_)
        rows = run.unit_rows(measure.scored)
        if (rows >= 0).any():
            mask[rows[rows >= 0]] = True
        else:  # units that are no samples (pairs, stimuli): all items of their clusters
            present = measure.scored.present()
            names = {c for c, p in zip(measure.scored.clusters, present, strict=True) if p}
            mask = np.array([s.cluster in names for s in self.samples], dtype=np.bool_)
        for name in ("condition", "language"):
            if name in slice_ and name in self.tags:
                values, codes = self.tags[name]
                if slice_[name] in values:
                    mask &= codes == values.index(slice_[name])
        return mask & (run.item >= 0)


class Line(NamedTuple):
    """A row on its way into the common order: the sample's place in the data, then the rest."""

    key: PredictionKey
    sample: Sample


def key_of(item: DueItem) -> PredictionKey:
    """Return the key of a due item."""
    return PredictionKey(item.sample.id, item.condition, item.trial)


def _in_data_order(runs: Sequence[StoredRun]) -> list[Line]:
    """Return the union of all runs' keys, samples in data order, conditions in the task's."""
    found: dict[PredictionKey, Sample] = {}
    for run in runs:
        for item in run.items:
            found.setdefault(key_of(item), item.sample)
    if len(runs) == 1:
        return [Line(key, sample) for key, sample in found.items()]
    source = runs[0].opened.source
    place = {sample.id: i for i, sample in enumerate(source.samples())}
    conditions = {c: i for i, c in enumerate(runs[0].record.task_spec.conditions)}
    keys = sorted(
        found, key=lambda k: (place.get(k.sample_id, 0), conditions.get(k.condition, 0), k.trial)
    )
    return [Line(key, found[key]) for key in keys]


def _searchable(sample: Sample) -> str:
    return f"{sample.id}\n{sample.observation.text or ''}".casefold()
