"""Builders of metrics over label units; the families name, document and parametrise them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from floorbench.core.sample import JsonValue
from floorbench.core.spec import MetricSpec
from floorbench.metrics import counts
from floorbench.metrics.base import Floats, Scored, ratio
from floorbench.metrics.inputs import (
    as_rows,
    check_labels,
    check_missing,
    code_of,
    codes_of,
)
from floorbench.metrics.inputs import labels as read_labels
from floorbench.metrics.kinds import Additive

Why = Callable[[Mapping[str, float]], str]


def label_spec(
    name: str,
    gold: str,
    predicted: str,
    missing: str,
    parameters: Mapping[str, JsonValue],
    *,
    better: str | None = "higher",
    version: str = "1",
) -> MetricSpec:
    """Return the spec of a metric over label units.

    Parameters
    ----------
    name : str
    gold, predicted, missing : str
        Columns and missing policy; they enter the spec.
    parameters : mapping
        What else changes the value.
    better : {'higher', 'lower'} or None
    version : str
    """
    return MetricSpec(
        name=name,
        version=version,
        unit="sample",
        columns=(gold, predicted, "outcome"),
        better=better,
        source="ours",
        parameters={"gold": gold, "missing": check_missing(missing), **parameters},
    )


def one_label_metric(
    name: str,
    label: str,
    where: tuple[str, str, str],
    statistic: Callable[[counts.Counts], Floats],
    why: Why,
    parameters: Mapping[str, JsonValue] | None = None,
    *,
    unread: tuple[str, ...] = (),
) -> Additive:
    """Build a metric of the tp, fp, fn and tn of one label.

    Parameters
    ----------
    name, label : str
    where : (str, str, str)
        Gold column, predicted column, missing policy.
    statistic : callable
        Counts to values.
    why : callable
        Totals by name to the reason for being undefined.
    parameters : mapping or None
        What else changes the value.
    unread : tuple of str
        Those of the four counts that do not.
    """
    gold, predicted, missing = where

    def statistics(scored: Scored) -> Floats:
        code = code_of(scored, gold, label)
        labels = read_labels(scored, missing=missing, gold=gold, predicted=predicted)
        return counts.one_label(labels, code)

    return Additive(
        spec=label_spec(name, gold, predicted, missing, {"label": label, **(parameters or {})}),
        names=counts.Counts._fields,
        statistics=statistics,
        of_totals=lambda t: statistic(counts.split(t)),
        why=why,
        unread=unread,
    )


def recall_metric(name: str, label: str, gold: str, predicted: str, missing: str) -> Additive:
    """Build the recall of one label under the given name.

    Parameters
    ----------
    name, label : str
    gold, predicted : str
        Names of the two label columns.
    missing : {'wrong', 'drop'}
    """
    return one_label_metric(
        name,
        label,
        (gold, predicted, missing),
        lambda c: counts.recall(c.tp, c.fn),
        lambda _: f"no unit has gold label '{label}'",
        unread=("fp", "tn"),
    )


def many_label_metric(
    name: str,
    labels: Sequence[str],
    where: tuple[str, str, str],
    of_totals: Callable[[Floats], Floats],
    *,
    gold_only: bool,
    unread: tuple[str, ...] = (),
) -> Additive:
    """Build a metric of the tp, fp and fn of a declared set of labels.

    Parameters
    ----------
    name : str
    labels : sequence of str
        The declared label set.
    where : (str, str, str)
        Gold column, predicted column, missing policy.
    of_totals : callable
        Totals ``(..., 3 k)`` to values.
    gold_only : bool
        Whether a label without a gold unit makes it undefined, or only one without any trace.
    unread : tuple of str
        Those of tp, fp and fn that do not change the value.
    """
    gold, predicted, missing = where
    wanted = check_labels(labels)

    def statistics(scored: Scored) -> Floats:
        codes = codes_of(scored, gold, wanted)
        found = read_labels(scored, missing=missing, gold=gold, predicted=predicted)
        return counts.many_labels(found, codes)

    def why(totals: Mapping[str, float]) -> str:
        empty = counts.empty_labels(np.array(list(totals.values())), wanted, gold_only=gold_only)
        missing_from = "gold" if gold_only else "gold and predictions"
        return f"no unit of {', '.join(repr(label) for label in empty)} in {missing_from}"

    return Additive(
        spec=label_spec(name, gold, predicted, missing, {"labels": list(wanted)}),
        names=counts.count_names(wanted),
        statistics=statistics,
        of_totals=of_totals,
        why=why,
        unread=tuple(f"{kind}:{label}" for kind in unread for label in wanted),
    )


def macro_recall_metric(
    name: str, labels: Sequence[str], gold: str, predicted: str, missing: str
) -> Additive:
    """Build the mean recall of a declared set under the given name.

    Parameters
    ----------
    name : str
    labels : sequence of str
        The declared label set.
    gold, predicted : str
        Names of the two label columns.
    missing : {'wrong', 'drop'}
    """

    def of_totals(totals: Floats) -> Floats:
        tp, _, fn = counts.thirds(totals)
        mean: Floats = counts.recall(tp, fn).mean(axis=-1)
        return mean

    where = (gold, predicted, missing)
    return many_label_metric(name, labels, where, of_totals, gold_only=True, unread=("fp",))


def prevalence_metric(
    name: str, label: str, where: tuple[str, str, str], value: Callable[[Floats], Floats]
) -> Additive:
    """Build a function of one label's prevalence.

    Parameters
    ----------
    name, label : str
    where : (str, str, str)
        Gold column, predicted column, missing policy.
    value : callable
        Prevalences to values.
    """
    gold, predicted, missing = where

    def statistics(scored: Scored) -> Floats:
        code = code_of(scored, gold, label)
        labels = read_labels(scored, missing=missing, gold=gold, predicted=predicted)
        return as_rows((labels.gold == code) & labels.kept, labels.kept)

    def why(totals: Mapping[str, float]) -> str:
        return "no units to score" if totals["units"] == 0 else f"no unit has label '{label}'"

    return Additive(
        spec=label_spec(name, gold, predicted, missing, {"label": label}, better=None, version="2"),
        names=("of_label", "units"),
        statistics=statistics,
        of_totals=lambda totals: value(ratio(totals[..., 0], totals[..., 1])),
        why=why,
    )
