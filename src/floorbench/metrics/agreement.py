"""Chance-corrected agreement: free-marginal (Randolph), Cohen, and the slot-level kappas.

The within-turn TRP paper prints a ``k_free^true`` whose definition cannot be recovered from its
text or its table. :func:`kappa_hit` and :func:`kappa_near` are two honest readings under other
names; neither is the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from floorbench.core.sample import JsonValue
from floorbench.core.spec import MetricSpec
from floorbench.core.words import counted
from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import Floats, Scored, ratio
from floorbench.metrics.inputs import (
    as_rows,
    check_labels,
    check_missing,
    codes_of,
    fail_at,
    numbers,
)
from floorbench.metrics.inputs import labels as read_labels
from floorbench.metrics.kinds import Additive
from floorbench.metrics.slots import read_slots, within


def kappa_free(*, categories: int, counts: str = "counts") -> Additive:
    """Free-marginal multirater kappa (Randolph) for any number of raters and categories.

    Units are cases with a column ``(n, K)``: how many raters chose each category. With n_i raters
    of case i, P_o is the mean over cases of (sum_j n_ij^2 - n_i) / (n_i (n_i - 1)) and
    kappa = (P_o - 1/K) / (1 - 1/K). Cases with fewer than two raters are excluded and counted in
    the statistic ``excluded``.

    Parameters
    ----------
    categories : int
        K >= 2, from the task and not from the data.
    counts : str
        Column ``(n, K)`` of counts of raters per category.

    Undefined
    ---------
    No case has two raters.

    Source
    ------
    Randolph (2005); within-turn TRP, Eq. 1.

    Deviations
    ----------
    The paper's equation subtracts N n after dividing by N n (n - 1); the bracket is misplaced
    there and stands right here. It also has one n for all cases, here each case has its own.

    Examples
    --------
    >>> kappa = kappa_free(categories=2)
    >>> round(float(kappa.value(np.array([8 / 3, 4, 0]))), 3)  # P_o 2/3 over four cases
    0.333
    """
    return _multirater("kappa_free", categories, counts)


def kappa_self(*, categories: int = 2, counts: str = "run_counts") -> Additive:
    """Free-marginal kappa of one model with itself: the raters are its repeated runs.

    Arithmetic and undefined cases as for :func:`kappa_free`.

    Parameters
    ----------
    categories : int
        Number of categories K >= 2, from the task and not from the data.
    counts : str
        Column ``(n, K)`` of counts of raters per category.

    Undefined
    ---------
    No case has two raters or more; cases with fewer are left out.

    Source
    ------
    Within-turn TRP, section 5: consistency of a model over runs of one prompt.
    """
    return _multirater("kappa_self", categories, counts)


def kappa_raters(*, categories: int = 2, counts: str = "rater_counts") -> Additive:
    """Free-marginal kappa of all raters with each other, every participant being one.

    Arithmetic and undefined cases as for :func:`kappa_free`. It says how far people agree, not how
    far a model agrees with them (:func:`kappa_all`).

    Parameters
    ----------
    categories : int
        Number of categories K >= 2, from the task and not from the data.
    counts : str
        Column ``(n, K)`` of counts of raters per category.

    Undefined
    ---------
    No case has two raters or more; cases with fewer are left out.

    Source
    ------
    Within-turn TRP, section 5.
    """
    return _multirater("kappa_raters", categories, counts)


def _multirater(name: str, categories: int, column: str) -> Additive:
    if categories < 2:
        raise UsageError("FB103", f"categories={categories}; agreement needs at least 2")

    def statistics(scored: Scored) -> Floats:
        counts = numbers(scored, column, wide=True)
        if counts.ndim != 2 or counts.shape[1] != categories:
            raise DataError(
                "FB626",
                f"column '{column}' has shape {counts.shape}, "
                f"{counted(categories, 'category', 'categories')} are declared",
            )
        with np.errstate(invalid="ignore"):
            whole = np.isfinite(counts) & (counts >= 0) & (counts == np.round(counts))
        fail_at(
            scored,
            ~whole.all(axis=1),
            "FB626",
            "case {row} has a count that is not a whole number >= 0",
        )
        counts = counts.astype(np.float64)
        raters = counts.sum(axis=1)
        used = raters >= 2
        agree = ratio((counts**2).sum(axis=1) - raters, np.where(used, raters * (raters - 1), 0))
        return as_rows(np.where(used, agree, 0.0), used, ~used)

    return Additive(
        spec=MetricSpec(
            name=name,
            version="1",
            unit="case",
            columns=(column,),
            low=-1.0 / (categories - 1),
            source="Randolph (2005)",
            parameters={"categories": categories},
        ),
        names=("agreement", "cases", "excluded"),
        statistics=statistics,
        of_totals=lambda t: _free(ratio(t[..., 0], t[..., 1]), categories),
        why=lambda t: f"no case has two raters ({t['excluded']:g} excluded)",
        unread=("excluded",),
    )


def kappa_cohen(
    *,
    labels: Sequence[str],
    gold: str = "gold",
    predicted: str = "predicted",
    missing: str = "wrong",
) -> Additive:
    """Cohen's kappa of gold and predicted labels, (P_o - P_e) / (1 - P_e).

    A missing prediction is one disagreement under ``wrong``: it adds to the gold marginal and to
    no predicted marginal.

    Parameters
    ----------
    labels : sequence of str
        The declared label set: the task's, never read off the data.
    gold : str
        Column of gold labels.
    predicted : str
        Column of predicted labels.
    missing : {'wrong', 'drop'}
        A missing answer is one disagreement, or its unit leaves.

    Undefined
    ---------
    No unit; or P_e = 1, when both use one and the same label only.

    Source
    ------
    Cohen (1960).
    """
    wanted = check_labels(labels)
    k = len(wanted)

    def statistics(scored: Scored) -> Floats:
        found = read_labels(scored, missing=missing, gold=gold, predicted=predicted)
        codes = codes_of(scored, gold, wanted)
        truth = (found.gold[:, np.newaxis] == codes) & found.kept[:, np.newaxis]
        fail_at(
            scored,
            found.kept & ~truth.any(axis=1),
            "FB627",
            "row {row} has a gold label outside the declared labels",
        )
        said = (found.predicted[:, np.newaxis] == codes) & found.kept[:, np.newaxis]
        agree = (truth & said).any(axis=1)
        return np.column_stack([found.kept, agree, truth, said]).astype(np.float64)

    def of_totals(t: Floats) -> Floats:
        n = t[..., 0]
        observed = ratio(t[..., 1], n)
        expected = ratio((t[..., 2 : 2 + k] * t[..., 2 + k :]).sum(axis=-1), n * n)
        certain = np.isclose(expected, 1.0, rtol=0.0, atol=1e-12)
        return ratio(observed - expected, np.where(certain, 0.0, 1 - expected))

    def why(t: Mapping[str, float]) -> str:
        if t["units"] == 0:
            return "no units to score"
        return "both sides use one and the same label only"

    return Additive(
        spec=MetricSpec(
            name="kappa_cohen",
            version="1",
            unit="sample",
            columns=(gold, predicted, "outcome"),
            low=-1.0,
            source="Cohen (1960)",
            parameters={
                "gold": gold,
                "missing": check_missing(missing),
                "labels": list(wanted),
            },
        ),
        names=(
            "units",
            "agree",
            *(f"gold:{label}" for label in wanted),
            *(f"predicted:{label}" for label in wanted),
        ),
        statistics=statistics,
        of_totals=of_totals,
        why=why,
    )


def kappa_all(*, missing: str = "wrong") -> Additive:
    """Free-marginal kappa of the model and the consensus over all slots.

    Two raters and two categories, so it equals 2 x accuracy - 1. A missing answer is one
    disagreement under ``wrong``. On rare positives the policy *never* scores near 1: read it
    beside its baselines.

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        A missing answer is one disagreement, or its unit leaves.

    Undefined
    ---------
    No slot.

    Source
    ------
    Within-turn TRP, k_free^all; the identity with accuracy is derived from its table.
    """

    def statistics(scored: Scored) -> Floats:
        labels = read_slots(scored, missing=missing).labels
        return as_rows((labels.predicted == labels.gold) & labels.kept, labels.kept)

    return _slot_kappa("kappa_all", {"missing": missing}, statistics, "no slots to score")


def kappa_hit(*, h: int = 2, missing: str = "wrong") -> Additive:
    """2 x hit rate - 1 over consensus-positive slots; a hit is a prediction within h slots.

    Parameters
    ----------
    h : int
        Half-width >= 0 of the window, which is clipped at the edges of the turn.
    missing : {'wrong', 'drop'}
        A missing answer is one disagreement, or its unit leaves.

    Undefined
    ---------
    No slot is consensus-positive.

    Source
    ------
    Ours.
    """
    _check_h(h)

    def statistics(scored: Scored) -> Floats:
        slots = read_slots(scored, missing=missing)
        rows = np.zeros((len(scored), 2))
        for s in slots:
            due = s.gold & s.kept
            rows[s.rows[due], 0] = within(s.slot[due], s.slot[s.predicted], h)
            rows[s.rows[due], 1] = 1
        return rows

    return _slot_kappa(
        "kappa_hit", {"h": h, "missing": missing}, statistics, "no slot is consensus-positive"
    )


def kappa_near(*, h: int = 2, missing: str = "wrong") -> Additive:
    """2 x agreement - 1 over all slots within h of a consensus-positive slot.

    Neighbourhoods that overlap are united: every slot counts once. A missing answer is one
    disagreement under ``wrong``.

    Parameters
    ----------
    h : int
        Half-width >= 0 of the window, which is clipped at the edges of the turn.
    missing : {'wrong', 'drop'}
        A missing answer is one disagreement, or its unit leaves.

    Undefined
    ---------
    No slot is consensus-positive.

    Source
    ------
    Ours.
    """
    _check_h(h)

    def statistics(scored: Scored) -> Floats:
        slots = read_slots(scored, missing=missing)
        agree = (slots.labels.predicted == slots.labels.gold) & slots.labels.kept
        rows = np.zeros((len(scored), 2))
        for s in slots:
            near = s.rows[within(s.slot, s.slot[s.gold], h) & s.kept]
            rows[near, 0] = agree[near]
            rows[near, 1] = 1
        return rows

    return _slot_kappa(
        "kappa_near", {"h": h, "missing": missing}, statistics, "no slot is consensus-positive"
    )


def _slot_kappa(
    name: str,
    parameters: Mapping[str, JsonValue],
    statistics: Callable[[Scored], Floats],
    why: str,
) -> Additive:
    columns = ("gold", "predicted", "outcome", "stimulus", "slot")
    return Additive(
        spec=MetricSpec(
            name=name,
            version="1",
            unit="slot",
            columns=columns,
            low=-1.0,
            source="within-turn TRP" if name == "kappa_all" else "ours",
            parameters=parameters,
        ),
        names=("agree", "slots"),
        statistics=statistics,
        of_totals=lambda t: 2 * ratio(t[..., 0], t[..., 1]) - 1,
        why=lambda _: why,
    )


def _free(observed: Floats, categories: int) -> Floats:
    chance = 1.0 / categories
    return (observed - chance) / (1.0 - chance)


def _check_h(h: int) -> None:
    if h < 0:
        raise UsageError("FB103", f"h={h} is negative")
