"""Precision, recall, F and specificity of labels, their averages, and their chance baselines.

All are additive over label units (see :mod:`floorbench.metrics.inputs`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from floorbench.errors import UsageError
from floorbench.metrics import counts
from floorbench.metrics.base import Floats, ratio
from floorbench.metrics.kinds import Additive
from floorbench.metrics.labelled import (
    many_label_metric,
    one_label_metric,
    prevalence_metric,
    recall_metric,
)


def recall(
    *, label: str, gold: str = "gold", predicted: str = "predicted", missing: str = "wrong"
) -> Additive:
    """TP / (TP + FN) of one label; a missing prediction is a miss.

    Parameters
    ----------
    label : str
        The label that is counted, one of the task's label set.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction is a miss of its gold label, or its unit leaves.

    Undefined
    ---------
    The label has no unit.

    Source
    ------
    Standard.
    """
    return recall_metric("recall", label, gold, predicted, missing)


def precision(
    *, label: str, gold: str = "gold", predicted: str = "predicted", missing: str = "wrong"
) -> Additive:
    """TP / (TP + FP) of one label.

    Parameters
    ----------
    label : str
        The label that is counted, one of the task's label set.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction is a miss of its gold label, or its unit leaves.

    Undefined
    ---------
    The label was never predicted.

    Source
    ------
    Standard.
    """
    return one_label_metric(
        "precision",
        label,
        (gold, predicted, missing),
        lambda c: counts.precision(c.tp, c.fp),
        lambda _: f"label '{label}' was never predicted",
        unread=("fn", "tn"),
    )


def f_score(
    *,
    label: str,
    beta: float = 1.0,
    gold: str = "gold",
    predicted: str = "predicted",
    missing: str = "wrong",
) -> Additive:
    """F-beta of one label, (1 + b^2) TP / ((1 + b^2) TP + FP + b^2 FN).

    Parameters
    ----------
    beta : float
        Weight of recall, > 0; 0.5 favours precision.
    label : str
        The label that is counted, one of the task's label set.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction is a miss of its gold label, or its unit leaves.

    Undefined
    ---------
    The label occurs neither in gold nor in the predictions. A system that never predicts it has
    an undefined precision and an F of 0.

    Raises
    ------
    UsageError
        ``FB103`` for a ``beta`` that is not above 0.

    Source
    ------
    C. J. van Rijsbergen (1979), Information Retrieval, chapter 7. The count form stays defined for
    a system without predictions, which has F 0.
    """
    if not (np.isfinite(beta) and beta > 0):
        raise UsageError("FB103", f"beta={beta} is not a positive number")
    return one_label_metric(
        "f_score",
        label,
        (gold, predicted, missing),
        lambda c: counts.f_beta(c.tp, c.fp, c.fn, beta),
        lambda _: f"label '{label}' occurs neither in gold nor in the predictions",
        {"beta": beta},
        unread=("tn",),
    )


def specificity(
    *, label: str, gold: str = "gold", predicted: str = "predicted", missing: str = "wrong"
) -> Additive:
    """TN / (TN + FP) of one label; a missing negative leaves the denominator.

    Parameters
    ----------
    label : str
        The label that is counted, one of the task's label set.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction is a miss of its gold label, or its unit leaves.

    Undefined
    ---------
    No answered unit has another gold label.

    Source
    ------
    Standard: recall of the rest; an unanswered negative leaves the denominator.
    """
    return one_label_metric(
        "specificity",
        label,
        (gold, predicted, missing),
        lambda c: counts.specificity(c.tn, c.fp),
        lambda _: f"no answered unit has a gold label other than '{label}'",
        unread=("tp", "fn"),
    )


def balanced_accuracy(
    *, label: str, gold: str = "gold", predicted: str = "predicted", missing: str = "wrong"
) -> Additive:
    """Mean of recall and specificity of one label against the rest.

    Parameters
    ----------
    label : str
        The label that is counted, one of the task's label set.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction is a miss of its gold label, or its unit leaves.

    Undefined
    ---------
    Recall or specificity is.

    Source
    ------
    Standard: mean of sensitivity and specificity, for one label against the rest.
    """

    def why(totals: Mapping[str, float]) -> str:
        if totals["tp"] + totals["fn"] == 0:
            return f"no unit has gold label '{label}'"
        return f"no answered unit has a gold label other than '{label}'"

    def mean(c: counts.Counts) -> Floats:
        return (counts.recall(c.tp, c.fn) + counts.specificity(c.tn, c.fp)) / 2

    return one_label_metric("balanced_accuracy", label, (gold, predicted, missing), mean, why)


def macro_f1(
    *,
    labels: Sequence[str],
    gold: str = "gold",
    predicted: str = "predicted",
    missing: str = "wrong",
) -> Additive:
    """Unweighted mean of the F1 of a declared set of labels.

    Parameters
    ----------
    labels : sequence of str
        The declared label set: the task's, never read off the data.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction is a miss of its gold label, or its unit leaves.

    Undefined
    ---------
    A label of the set occurs neither in gold nor in the predictions; the reason names it.

    Source
    ------
    Standard, the mean of the labels' F1; the label set is the declared one.
    """
    return many_label_metric(
        "macro_f1",
        labels,
        (gold, predicted, missing),
        lambda t: counts.f_beta(*counts.thirds(t)).mean(axis=-1),
        gold_only=False,
    )


def micro_f1(
    *,
    labels: Sequence[str],
    gold: str = "gold",
    predicted: str = "predicted",
    missing: str = "wrong",
) -> Additive:
    """F1 of the counts summed over a declared set of labels.

    Over the whole label set and full coverage it equals accuracy.

    Parameters
    ----------
    labels : sequence of str
        The declared label set: the task's, never read off the data.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction is a miss of its gold label, or its unit leaves.

    Undefined
    ---------
    None of the labels occurs in gold or in the predictions.

    Source
    ------
    Standard: F1 of the summed counts of the declared labels.
    """

    def of_totals(totals: Floats) -> Floats:
        tp, fp, fn = (part.sum(axis=-1) for part in counts.thirds(totals))
        return counts.f_beta(tp, fp, fn)

    return many_label_metric(
        "micro_f1", labels, (gold, predicted, missing), of_totals, gold_only=False
    )


def weighted_f1(
    *,
    labels: Sequence[str],
    gold: str = "gold",
    predicted: str = "predicted",
    missing: str = "wrong",
) -> Additive:
    """Support-weighted mean of F1 (wF1); support = TP + FN, a label without support weighs 0.

    Parameters
    ----------
    labels : sequence of str
        The declared label set: the task's, never read off the data.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction is a miss of its gold label, or its unit leaves.

    Undefined
    ---------
    The total support is 0.

    Source
    ------
    DualTurn, wF1. Its description calls the support a "true positive count" and its recipe sums
    TP + FN; the recipe decides.
    """

    def of_totals(totals: Floats) -> Floats:
        tp, fp, fn = counts.thirds(totals)
        support = tp + fn
        f1 = np.nan_to_num(counts.f_beta(tp, fp, fn), nan=0.0)
        return ratio((f1 * support).sum(axis=-1), support.sum(axis=-1))

    return many_label_metric(
        "weighted_f1", labels, (gold, predicted, missing), of_totals, gold_only=True
    )


def chance_f1(
    *, label: str, gold: str = "gold", predicted: str = "predicted", missing: str = "wrong"
) -> Additive:
    """F1 expected from guessing the label at its prevalence p, which is p itself.

    Without a unit of the label the guess never says it, and the F1 of nothing is undefined.

    Parameters
    ----------
    label : str
        The label that is counted, one of the task's label set.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction is a miss of its gold label, or its unit leaves.

    Undefined
    ---------
    No unit is left, or the label has none.

    Source
    ------
    Printed as chance beside the backchannel F1 of DualTurn.
    """
    return prevalence_metric(
        "chance_f1", label, (gold, predicted, missing), lambda p: np.where(p == 0, np.nan, p)
    )


def always_f1(
    *, label: str, gold: str = "gold", predicted: str = "predicted", missing: str = "wrong"
) -> Additive:
    """F1 of answering the label everywhere, 2 p / (1 + p) at prevalence p; 0 without the label.

    Parameters
    ----------
    label : str
        The label that is counted, one of the task's label set.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction is a miss of its gold label, or its unit leaves.

    Undefined
    ---------
    No unit is left.

    Source
    ------
    Follows from F1 = 2 TP / (2 TP + FP + FN) with everything predicted: 2 pi / (1 + pi).
    """
    return prevalence_metric(
        "always_f1", label, (gold, predicted, missing), lambda p: 2 * p / (1 + p)
    )
