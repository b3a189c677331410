"""Within-turn TRP: precision, recall and F over slots in three aggregations.

Columns of slot units are described in :mod:`floorbench.metrics.slots`; distances are in
:mod:`floorbench.metrics.distances`.

Aggregations
    ``pooled``: counts over all slots (default). ``list_mean``: mean over the declared lists of
    the value per list, which is what the 2024 paper says. ``stimulus_list_macro``: mean over
    stimuli within a list, then over lists, as in the 2026 follow-up. Table 2 of the paper does
    not tell the first two apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from floorbench.core.spec import MetricSpec
from floorbench.core.words import counted
from floorbench.errors import DataError, UsageError
from floorbench.metrics import counts
from floorbench.metrics.base import Floats, Ints, Scored, ratio
from floorbench.metrics.inputs import (
    check_choice,
    check_labels,
    check_missing,
    coded,
    codes_of,
)
from floorbench.metrics.kinds import Additive
from floorbench.metrics.slots import Slots, read_slots

AGGREGATIONS = ("pooled", "list_mean", "stimulus_list_macro")
Statistic = Callable[[counts.Counts], Floats]


def slot_precision(
    *, aggregation: str = "pooled", lists: Sequence[str] = (), missing: str = "wrong"
) -> Additive:
    """Precision of positive slots.

    Parameters
    ----------
    aggregation : {'pooled', 'list_mean', 'stimulus_list_macro'}
    lists : sequence of str
        The declared lists; needed by the two means, and empty for ``pooled``.
    missing : {'wrong', 'drop'}
        A missing answer is a miss on a positive slot and leaves the negatives, or its slot leaves.

    Undefined
    ---------
    No slot was predicted (``pooled``), or so in one list (means). In ``stimulus_list_macro`` a
    stimulus whose value is undefined is left out of its list's mean and counted.

    Source
    ------
    Within-turn TRP, section 5.
    """
    return _slot_metric(
        "slot_precision",
        lambda c: counts.precision(c.tp, c.fp),
        "no slot was predicted",
        ("fn", "tn"),
        (aggregation, lists, missing),
    )


def slot_recall(
    *, aggregation: str = "pooled", lists: Sequence[str] = (), missing: str = "wrong"
) -> Additive:
    """Recall of consensus-positive slots; parameters as for :func:`slot_precision`.

    Parameters
    ----------
    aggregation : {'pooled', 'list_mean', 'stimulus_list_macro'}
        How counts become one value (see the module).
    lists : sequence of str
        The declared lists for the two means; empty for ``pooled``.
    missing : {'wrong', 'drop'}
        A missing answer is a miss on a positive slot and leaves the negatives, or its slot leaves.

    Undefined
    ---------
    No slot is consensus-positive.

    Source
    ------
    Within-turn TRP, section 5.
    """
    return _slot_metric(
        "slot_recall",
        lambda c: counts.recall(c.tp, c.fn),
        "no slot is consensus-positive",
        ("fp", "tn"),
        (aggregation, lists, missing),
    )


def slot_f(
    *,
    beta: float = 1.0,
    aggregation: str = "pooled",
    lists: Sequence[str] = (),
    missing: str = "wrong",
) -> Additive:
    """F-beta of positive slots; parameters as for :func:`slot_precision`.

    Parameters
    ----------
    beta : float
        Weight of recall, > 0.
    aggregation : {'pooled', 'list_mean', 'stimulus_list_macro'}
        How counts become one value (see the module).
    lists : sequence of str
        The declared lists for the two means; empty for ``pooled``.
    missing : {'wrong', 'drop'}
        A missing answer is a miss on a positive slot and leaves the negatives, or its slot leaves.

    Undefined
    ---------
    No slot is consensus-positive and none was predicted. A system that predicts nothing has F 0.

    Raises
    ------
    UsageError
        ``FB103`` for a ``beta`` that is not above 0.

    Source
    ------
    Within-turn TRP, section 5.
    """
    if not (np.isfinite(beta) and beta > 0):
        raise UsageError("FB103", f"beta={beta} is not a positive number")
    return _slot_metric(
        "slot_f",
        lambda c: counts.f_beta(c.tp, c.fp, c.fn, beta),
        "no slot is consensus-positive and none was predicted",
        ("tn",),
        (aggregation, lists, missing),
        beta=beta,
    )


def slot_specificity(
    *, aggregation: str = "pooled", lists: Sequence[str] = (), missing: str = "wrong"
) -> Additive:
    """Specificity over slots; parameters as for :func:`slot_precision`.

    Parameters
    ----------
    aggregation : {'pooled', 'list_mean', 'stimulus_list_macro'}
        How counts become one value (see the module).
    lists : sequence of str
        The declared lists for the two means; empty for ``pooled``.
    missing : {'wrong', 'drop'}
        A missing answer is a miss on a positive slot and leaves the negatives, or its slot leaves.

    Undefined
    ---------
    No answered slot is consensus-negative.

    Source
    ------
    Ours, beside the precision and recall of within-turn TRP, section 5.
    """
    return _slot_metric(
        "slot_specificity",
        lambda c: counts.specificity(c.tn, c.fp),
        "no answered slot is consensus-negative",
        ("tp", "fn"),
        (aggregation, lists, missing),
    )


def slot_balanced_accuracy(
    *, aggregation: str = "pooled", lists: Sequence[str] = (), missing: str = "wrong"
) -> Additive:
    """Mean of recall and specificity over slots; parameters as for :func:`slot_precision`.

    Parameters
    ----------
    aggregation : {'pooled', 'list_mean', 'stimulus_list_macro'}
        How counts become one value (see the module).
    lists : sequence of str
        The declared lists for the two means; empty for ``pooled``.
    missing : {'wrong', 'drop'}
        A missing answer is a miss on a positive slot and leaves the negatives, or its slot leaves.

    Undefined
    ---------
    No slot is consensus-positive, or no answered one consensus-negative.

    Source
    ------
    Ours, beside the precision and recall of within-turn TRP, section 5.
    """
    return _slot_metric(
        "slot_balanced_accuracy",
        lambda c: (counts.recall(c.tp, c.fn) + counts.specificity(c.tn, c.fp)) / 2,
        "consensus-positive or answered consensus-negative slots are lacking",
        (),
        (aggregation, lists, missing),
    )


def _slot_metric(
    name: str,
    statistic: Statistic,
    why: str,
    unread: tuple[str, ...],
    where: tuple[str, Sequence[str], str],
    **parameters: float,
) -> Additive:
    aggregation, lists, missing = where
    check_choice("aggregation", aggregation, AGGREGATIONS)
    check_missing(missing)
    if (aggregation == "pooled") != (not lists):
        raise UsageError(
            "FB103",
            f"aggregation='{aggregation}' with "
            f"{counted(len(lists), 'list')}; the list means need the "
            "declared lists, pooled takes none",
        )
    declared = check_labels(lists) if lists else ()
    spec = MetricSpec(
        name=name,
        version="1",
        unit="slot",
        columns=("gold", "predicted", "outcome", "stimulus", "slot", *(("list",) * bool(lists))),
        source="within-turn TRP",
        parameters={
            "aggregation": aggregation,
            "lists": list(declared),
            "missing": missing,
            **parameters,
        },
    )
    if aggregation == "pooled":
        return Additive(
            spec=spec,
            names=counts.Counts._fields,
            statistics=lambda scored: _counts(read_slots(scored, missing=missing)),
            of_totals=lambda t: statistic(counts.split(t)),
            why=lambda _: why,
            unread=unread,
        )
    if aggregation == "list_mean":
        return _list_mean(spec, statistic, why, unread, declared, missing)
    return _stimulus_macro(spec, statistic, why, declared, missing)


def _list_mean(
    spec: MetricSpec,
    statistic: Statistic,
    why: str,
    unread: tuple[str, ...],
    lists: tuple[str, ...],
    missing: str,
) -> Additive:
    def statistics(scored: Scored) -> Floats:
        slots = read_slots(scored, missing=missing)
        member = _list_of(scored, slots, lists)[:, np.newaxis] == np.arange(len(lists))
        blocks: Floats = _counts(slots)[:, np.newaxis, :] * member[:, :, np.newaxis]
        return blocks.reshape(len(scored), 4 * len(lists))

    def per_list(t: Floats) -> Floats:
        return statistic(counts.split(t.reshape(*t.shape[:-1], len(lists), 4)))

    def of_totals(t: Floats) -> Floats:
        mean: Floats = per_list(t).mean(axis=-1)
        return mean

    def reason(totals: Mapping[str, float]) -> str:
        values = per_list(np.array(list(totals.values())))
        return f"{why} in list {_undefined_lists(values, lists)}"

    return Additive(
        spec=spec,
        names=tuple(f"{kind}:{name}" for name in lists for kind in counts.Counts._fields),
        statistics=statistics,
        of_totals=of_totals,
        why=reason,
        unread=tuple(f"{kind}:{name}" for name in lists for kind in unread),
    )


def _stimulus_macro(
    spec: MetricSpec, statistic: Statistic, why: str, lists: tuple[str, ...], missing: str
) -> Additive:
    """One value per stimulus, on the row of its first slot: the rows stay additive."""
    k = len(lists)

    def statistics(scored: Scored) -> Floats:
        slots = read_slots(scored, missing=missing)
        member = _list_of(scored, slots, lists)
        table = _counts(slots)
        rows = np.zeros((len(scored), 2 * k + 1))
        for s in slots:
            value = float(statistic(counts.split(table[s.rows].sum(axis=0))))
            first = s.rows[0]
            if np.isnan(value):
                rows[first, 2 * k] = 1
            else:
                rows[first, member[first]] = value
                rows[first, k + member[first]] = 1
        return rows

    def of_totals(t: Floats) -> Floats:
        mean: Floats = ratio(t[..., :k], t[..., k : 2 * k]).mean(axis=-1)
        return mean

    def reason(totals: Mapping[str, float]) -> str:
        t = np.array(list(totals.values()))
        empty = _undefined_lists(ratio(t[:k], t[k : 2 * k]), lists)
        return f"{why} in any stimulus of list {empty}"

    return Additive(
        spec=spec,
        names=(
            *(f"sum:{name}" for name in lists),
            *(f"stimuli:{name}" for name in lists),
            "excluded",
        ),
        statistics=statistics,
        of_totals=of_totals,
        why=reason,
        unread=("excluded",),
    )


def _counts(slots: Slots) -> Floats:
    return counts.one_label(slots.labels, 1)


def _list_of(scored: Scored, slots: Slots, lists: tuple[str, ...]) -> Ints:
    """Return each unit's place in the declared lists; a stimulus stays in one list."""
    found = coded(scored, "list")
    place = np.full(len(scored.vocab["list"]), -1, dtype=np.int64)
    place[codes_of(scored, "list", lists)] = np.arange(len(lists))
    member = place[found]
    if (member < 0).any():
        name = scored.vocab["list"][int(found[np.argmax(member < 0)])]
        raise DataError("FB627", f"list '{name}' is not among the declared lists")
    for s in slots:
        if (member[s.rows] != member[s.rows[0]]).any():
            raise DataError("FB625", f"the stimulus of row {s.rows[0]} stands in two lists")
    return member


def _undefined_lists(values: Floats, lists: tuple[str, ...]) -> str:
    return ", ".join(
        f"'{name}'" for name, value in zip(lists, values.tolist(), strict=True) if np.isnan(value)
    )
