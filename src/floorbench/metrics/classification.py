"""Accuracies of closed labels: over units, per label, their means, and the semantic misalignment.

All are additive. Units carry ``gold``, ``predicted`` and ``outcome`` (see
:mod:`floorbench.metrics.inputs`); a task with two label levels names the second pair of columns.
Label sets are declared by the task and never read off the data: a declared label without a unit
makes a mean undefined and is named in the reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from floorbench.core.spec import MetricSpec
from floorbench.metrics.base import Floats, Scored, ratio
from floorbench.metrics.inputs import as_rows, code_of
from floorbench.metrics.inputs import labels as read_labels
from floorbench.metrics.kinds import Additive
from floorbench.metrics.labelled import (
    label_spec,
    macro_recall_metric,
    recall_metric,
)


def accuracy(
    *, gold: str = "gold", predicted: str = "predicted", missing: str = "wrong"
) -> Additive:
    """Share of units with the right label, micro over units.

    Parameters
    ----------
    gold, predicted : str
        Names of the two label columns.
    missing : {'wrong', 'drop'}
        A missing prediction counts as wrong, or its unit leaves the denominator.

    Undefined
    ---------
    No unit is left.

    Source
    ------
    Standard. With ``wrong`` its denominator is what the protocol asked for, not what was answered.
    """

    def statistics(scored: Scored) -> Floats:
        labels = read_labels(scored, missing=missing, gold=gold, predicted=predicted)
        return as_rows((labels.predicted == labels.gold) & labels.kept, labels.kept)

    return Additive(
        spec=label_spec("accuracy", gold, predicted, missing, {}),
        names=("right", "units"),
        statistics=statistics,
        of_totals=lambda totals: ratio(totals[..., 0], totals[..., 1]),
        why=lambda _: "no units to score",
    )


def class_accuracy(
    *, label: str, gold: str = "gold", predicted: str = "predicted", missing: str = "wrong"
) -> Additive:
    """Share of one gold label's units that got exactly that label, micro over units.

    The stage 1 action accuracy of CoDeTT and the accuracy per role of ECHO; the same number is
    the recall of the label.

    Parameters
    ----------
    label : str
        The label that is counted, one of the task's label set.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction counts as wrong, or its unit leaves the denominator.

    Undefined
    ---------
    The label has no unit.

    Source
    ------
    CoDeTT, stage 1. That the share is taken over units and not over scenarios is derived from the
    published tables.
    """
    return recall_metric("class_accuracy", label, gold, predicted, missing)


def scenario_accuracy(
    *,
    label: str,
    gold: str = "gold_intent",
    predicted: str = "predicted_intent",
    missing: str = "wrong",
) -> Additive:
    """Share of one scenario's units whose full label (state, action, scenario) is right.

    Parameters
    ----------
    label : str
        The label that is counted, one of the task's label set.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction counts as wrong, or its unit leaves the denominator.

    Undefined
    ---------
    The scenario has no unit.

    Source
    ------
    CoDeTT, stage 2.
    """
    return recall_metric("scenario_accuracy", label, gold, predicted, missing)


def macro_accuracy(
    *,
    labels: Sequence[str],
    gold: str = "gold",
    predicted: str = "predicted",
    missing: str = "wrong",
) -> Additive:
    """Unweighted mean of the accuracies of a declared set of labels.

    The row average of CoDeTT over a system's supported actions, and the macro of ECHO. The set is
    a parameter of the metric, so that two averages over different sets never compare.

    Parameters
    ----------
    labels : sequence of str
        The declared label set: the task's, never read off the data.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction counts as wrong, or its unit leaves the denominator.

    Undefined
    ---------
    A label of the set has no unit; the reason names it.

    Source
    ------
    CoDeTT, stage 1 row averages; ECHO, macro accuracy.
    """
    return macro_recall_metric("macro_accuracy", labels, gold, predicted, missing)


def average_all4(
    *,
    labels: Sequence[str],
    gold: str = "gold",
    predicted: str = "predicted",
    missing: str = "wrong",
) -> Additive:
    """Mean accuracy over *all* labels of the task, unsupported ones counted as wrong.

    The arithmetic is that of :func:`macro_accuracy`; what differs is the set, which is the task's
    whole set and not the system's, and the units, which include the cells that the system does
    not declare (outcome ``unsupported``). Only this average is ranked.

    Parameters
    ----------
    labels : sequence of str
        The declared label set: the task's, never read off the data.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction counts as wrong, or its unit leaves the denominator.

    Undefined
    ---------
    A label has no unit; the reason names it.

    Source
    ------
    Ours; the published row averages leave unsupported actions out and do not compare.
    """
    return macro_recall_metric("average_all4", labels, gold, predicted, missing)


def action_average(
    *,
    scenarios: Sequence[str],
    gold: str = "gold_intent",
    predicted: str = "predicted_intent",
    missing: str = "wrong",
) -> Additive:
    """Unweighted mean of the scenario accuracies of one action.

    Parameters
    ----------
    scenarios : sequence of str
        The full labels of the action's scenarios.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction counts as wrong, or its unit leaves the denominator.

    Undefined
    ---------
    A scenario of the action has no unit; the reason names it.

    Source
    ------
    CoDeTT, stage 2.
    """
    return macro_recall_metric("action_average", scenarios, gold, predicted, missing)


def smr(
    *,
    action: str,
    gold: str = "gold",
    predicted: str = "predicted",
    gold_intent: str = "gold_intent",
    predicted_intent: str = "predicted_intent",
) -> Additive:
    """Semantic misalignment rate: right action for the wrong reason.

    Among the units whose gold action and predicted action are both ``action``, the share whose
    predicted intent differs from the gold intent. It can fall because recall collapsed, so it is
    printed beside the accuracy of the action. Missing predictions have no action and stand
    outside the denominator under either policy.

    Parameters
    ----------
    action : str
        The action, one of the labels of ``gold``.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    gold_intent : str
        Column of gold intents.
    predicted_intent : str
        Column of predicted intents.

    Undefined
    ---------
    No unit of the action was answered with it.

    Source
    ------
    CoDeTT, semantic misalignment rate.
    """

    def statistics(scored: Scored) -> Floats:
        code = code_of(scored, gold, action)
        actions = read_labels(scored, missing="wrong", gold=gold, predicted=predicted)
        intents = read_labels(scored, missing="wrong", gold=gold_intent, predicted=predicted_intent)
        hit = (actions.gold == code) & (actions.predicted == code)
        return as_rows(hit & (intents.predicted != intents.gold), hit)

    return Additive(
        spec=MetricSpec(
            name="smr",
            version="1",
            unit="sample",
            columns=(gold, predicted, gold_intent, predicted_intent, "outcome"),
            better="lower",
            source="CoDeTT",
            parameters={"action": action},
        ),
        names=("misaligned", "right_action"),
        statistics=statistics,
        of_totals=lambda totals: ratio(totals[..., 0], totals[..., 1]),
        why=lambda _: f"no unit of action '{action}' was answered with it",
    )


def prediction_share(
    *, label: str, gold: str = "gold", predicted: str = "predicted", missing: str = "wrong"
) -> Additive:
    """Share of units answered with one label, whatever their gold label.

    With ``label='yield'`` the yield rate of ECHO. A missing prediction is not an answer with the
    label: it stays in the denominator under ``wrong`` and leaves it under ``drop``.

    Parameters
    ----------
    label : str
        The label that is counted, one of the task's label set.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing prediction counts as wrong, or its unit leaves the denominator.

    Undefined
    ---------
    No unit is left.

    Source
    ------
    ECHO, yield rate.
    """

    def statistics(scored: Scored) -> Floats:
        code = code_of(scored, gold, label)
        labels = read_labels(scored, missing=missing, gold=gold, predicted=predicted)
        return as_rows((labels.predicted == code) & labels.kept, labels.kept)

    return Additive(
        spec=label_spec(
            "prediction_share", gold, predicted, missing, {"label": label}, better=None
        ),
        names=("said", "units"),
        statistics=statistics,
        of_totals=lambda totals: ratio(totals[..., 0], totals[..., 1]),
        why=lambda _: "no units to score",
    )
