"""Laws of the metrics: every registered metric is filed under every law, as holding or exempt.

A metric that is registered and not filed fails here. An exemption carries its reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorbench.catalog import METRICS
from floorbench.metrics import base
from floorbench.metrics.base import AdditiveMetric, Scored, evaluator, point
from oracles.metrics_cases import (
    ACTIONS,
    CASES,
    INTENTS,
    copied_clusters,
    draws,
    only_clusters,
    shuffled,
    take,
    units,
    with_columns,
)
from oracles.metrics_instances import INSTANCES, Instance

LAWS = (
    "order-invariant",
    "shards merge to the whole",
    "duplicated clusters change nothing",
    "perfect predictions reach the bound",
    "constant policies hit their stated value",
    "an added failure never helps",
    "an empty class gives None with a reason",
)
ORDER, SHARDS, COPIES, PERFECT, CONSTANT, FAILURE, EMPTY = LAWS
SEEDS = st.integers(0, 2**32)
APPROX = {"abs": 1e-12, "rel": 1e-12}


# ---- what tests do to units of each kind ---------------------------------------------------------


def perfect(case: Scored, kind: str) -> Scored:
    ok = np.zeros(len(case), dtype=np.int64)
    if kind in ("label", "floor", "slot"):
        columns = {"predicted": case.columns["gold"], "outcome": ok}
        if kind == "label":
            columns["predicted_intent"] = case.columns["gold_intent"]
        return with_columns(case, **columns)
    if kind in ("pair", "role"):
        return with_columns(
            case,
            predicted_a=case.columns["gold_a"],
            predicted_b=case.columns["gold_b"],
            outcome_a=ok,
            outcome_b=ok,
        )
    if kind == "score":
        truth = (case.columns["gold"][:, np.newaxis] == np.arange(3)).astype(float)
        return with_columns(case, scores=truth, score=truth[:, 2], outcome=ok)
    if kind == "rater":
        counts = np.zeros_like(case.columns["counts"])
        counts[np.arange(len(case)), np.arange(len(case)) % 3] = 4
        return with_columns(case, counts=counts)
    return with_columns(case, latency=np.zeros(len(case)), status=ok, outcome=ok)


def constant(case: Scored, kind: str, code: int = 2) -> Scored:
    """Always the same answer: label ``code``, yield, yes, one score, one latency."""
    n = len(case)
    ok, same = np.zeros(n, dtype=np.int64), np.full(n, code)
    if kind == "label":
        return with_columns(case, predicted=same, predicted_intent=2 * same, outcome=ok)
    if kind in ("pair", "role"):
        return with_columns(case, predicted_a=same, predicted_b=same, outcome_a=ok, outcome_b=ok)
    if kind == "score":
        third = np.full((n, 3), 1 / 3)
        return with_columns(case, scores=third, score=np.full(n, 0.5), outcome=ok)
    if kind == "rater":
        counts = np.zeros_like(case.columns["counts"])
        counts[:, 1] = 3
        return with_columns(case, counts=counts)
    if kind == "latency":
        return with_columns(case, latency=np.full(n, -0.3), status=ok, outcome=ok)
    return with_columns(case, predicted=same, outcome=ok)


def right(case: Scored, kind: str) -> np.ndarray:
    """Units whose answer earns credit."""
    if kind in ("pair", "role"):
        return (
            (case.columns["predicted_a"] == case.columns["gold_a"])
            & (case.columns["predicted_b"] == case.columns["gold_b"])
            & (case.columns["outcome_a"] == base.OK)
            & (case.columns["outcome_b"] == base.OK)
        )
    ok = case.columns["outcome"] == base.OK
    if kind == "score":
        return ok
    if kind == "latency":
        return ok & (case.columns["status"] == 0)
    good = ok & (case.columns["predicted"] == case.columns["gold"])
    if kind == "label":
        good &= case.columns["predicted_intent"] == case.columns["gold_intent"]
    return good


def failing(case: Scored, kind: str, mask: np.ndarray) -> Scored:
    """The same units with the predictions under ``mask`` lost."""
    if kind in ("pair", "role"):
        return with_columns(
            case,
            predicted_b=np.where(mask, -1, case.columns["predicted_b"]),
            outcome_b=np.where(mask, base.TIMEOUT, case.columns["outcome_b"]),
        )
    columns = {"outcome": np.where(mask, base.FAILED, case.columns["outcome"])}
    for name in ("predicted", "predicted_intent"):
        if name in case.columns:
            columns[name] = np.where(mask, -1, case.columns[name])
    return with_columns(case, **columns)


# ---- the files -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filing:
    """How one metric stands to the laws.

    ``bound``: value of perfect predictions. ``constant``: the policy applied and the value it
    must give (a number, ``None`` for undefined, or a function of the units). ``better``: the
    direction in which a failure must not move the value. ``empty``: removes what the metric needs.
    """

    exempt: dict[str, str] = field(default_factory=dict)
    bound: float = 1.0
    code: int = 2
    constant: float | Callable[[Scored], float] | None = None
    better: str = "higher"
    empty: Callable[[Scored], Scored] = lambda case: case.where(np.zeros(len(case), dtype=bool))

    @property
    def holds(self) -> tuple[str, ...]:
        return tuple(law for law in LAWS if law not in self.exempt)


def without_gold(code: int) -> Callable[[Scored], Scored]:
    return lambda case: case.where(case.columns["gold"] != code)


def without_trace(case: Scored) -> Scored:
    return case.where((case.columns["gold"] != 2) & (case.columns["predicted"] != 2))


def share(column: str, code: int) -> Callable[[Scored], float]:
    return lambda case: float(case.weight[case.columns[column] == code].sum() / case.weight.sum())


def f1_of_always(case: Scored) -> float:
    p = share("gold", 2)(case)
    return 2 * p / (1 + p)


def slots_always(case: Scored) -> float:
    p = share("gold", 1)(case)
    return 2 * p / (1 + p)


NO_DIRECTION = {FAILURE: "neither direction is better"}
BLIND = {PERFECT: "does not read the predictions", **NO_DIRECTION}
RATE = {PERFECT: "a function of the yield rate alone", **NO_DIRECTION}
SIGNED = {PERFECT: "latency is signed and has no best value"}
ANSWERED = {FAILURE: "answered events only, by its name"}

FILINGS: dict[str, Filing] = {
    "accuracy": Filing(constant=share("gold", 2)),
    "class_accuracy": Filing(constant=1.0, empty=without_gold(2)),
    "scenario_accuracy": Filing(
        code=1,
        constant=0.0,
        empty=lambda case: case.where(case.columns["gold_intent"] != 3),
    ),
    "macro_accuracy": Filing(constant=1 / 4, empty=without_gold(2)),
    "average_all4": Filing(constant=1 / 4, empty=without_gold(0)),
    "action_average": Filing(
        code=0,
        constant=1 / 2,
        empty=lambda case: case.where(case.columns["gold_intent"] != 1),
    ),
    "smr": Filing(
        {FAILURE: "missing predictions have no action and stand outside the denominator"},
        bound=0.0,
        code=0,
        constant=lambda case: 1 - share("gold_intent", 0)(case.where(case.columns["gold"] == 0)),
        empty=without_gold(0),
    ),
    "prediction_share": Filing(
        {PERFECT: "the share of a label has no best value", **NO_DIRECTION}, constant=1.0
    ),
    "precision": Filing(
        constant=share("gold", 2),
        empty=lambda case: case.where(case.columns["predicted"] != 2),
    ),
    "recall": Filing(constant=1.0, empty=without_gold(2)),
    "f_score": Filing(constant=f1_of_always, empty=without_trace),
    "specificity": Filing(constant=0.0, empty=lambda case: case.where(case.columns["gold"] == 2)),
    "balanced_accuracy": Filing(constant=0.5, empty=without_gold(2)),
    "macro_f1": Filing(constant=lambda case: f1_of_always(case) / 4, empty=without_trace),
    "micro_f1": Filing(constant=share("gold", 2)),
    "weighted_f1": Filing(constant=lambda case: share("gold", 2)(case) * f1_of_always(case)),
    "chance_f1": Filing(BLIND, constant=share("gold", 2), empty=without_gold(2)),
    "always_f1": Filing(BLIND, constant=f1_of_always),
    "pasr": Filing(
        code=0, constant=0.0, empty=lambda case: case.where(case.columns["contrast"] == 2)
    ),
    "pkc": Filing(
        code=1, constant=1.0, empty=lambda case: case.where(case.columns["contrast"] != 2)
    ),
    "prsr": Filing(code=1, constant=0.0),
    "independence_baseline": Filing(
        NO_DIRECTION,
        code=0,
        constant=0.0,
        empty=lambda case: case.where(case.columns["contrast"] != 0),
    ),
    "rate_matched_pasr": Filing(RATE, code=0, constant=0.0),
    "rate_matched_pkc": Filing(RATE, code=1, constant=1.0),
    **{
        name: Filing(
            {FAILURE: "its units are cases of raters; there is no prediction to lose"},
            constant=1.0,
            empty=lambda case: case.where(case.columns["counts"].sum(axis=1) < 2),
        )
        for name in ("kappa_free", "kappa_self", "kappa_raters")
    },
    "kappa_cohen": Filing(
        {FAILURE: "losing an agreement on the common label also lowers the agreement by chance"},
        constant=0.0,
    ),
    "kappa_all": Filing(code=0, constant=lambda case: 1 - 2 * share("gold", 1)(case)),
    "kappa_hit": Filing(code=0, constant=-1.0, empty=without_gold(1)),
    # always predicting agrees on every slot of the neighbourhoods when h = 0
    "kappa_near": Filing(code=1, constant=1.0, empty=without_gold(1)),
    "slot_precision": Filing(
        code=1,
        constant=share("gold", 1),
        empty=lambda case: case.where(case.columns["predicted"] != 1),
    ),
    "slot_recall": Filing(code=1, constant=1.0, empty=without_gold(1)),
    "slot_f": Filing(
        code=1,
        constant=slots_always,
        empty=lambda case: case.where(
            (case.columns["predicted"] != 1) & (case.columns["gold"] != 1)
        ),
    ),
    "slot_specificity": Filing(code=1, constant=0.0, empty=without_gold(0)),
    "slot_balanced_accuracy": Filing(code=1, constant=0.5, empty=without_gold(1)),
    **{
        name: Filing(bound=0.0, code=0, constant=None, better="lower", empty=without_gold(1))
        for name in ("mae_slots", "mse_slots", "mae_seconds", "nmae", "nmse", "mae_density")
    },
    **{
        name: Filing(
            {FAILURE: "a stimulus that loses its only prediction leaves, far slots included"},
            bound=0.0,
            code=1,
            constant=0.0,
            better="lower",
            empty=without_gold(1),
        )
        for name in ("mae_slots_recall", "mae_seconds_recall")
    },
    "auc": Filing(constant=0.5, empty=without_gold(2)),
    "auc_macro": Filing(constant=0.5, empty=without_gold(1)),
    "eer": Filing(bound=0.0, constant=0.5, better="lower", empty=without_gold(2)),
    "eer_macro": Filing(bound=0.0, constant=0.5, better="lower", empty=without_gold(1)),
    "latency_percentile": Filing(SIGNED, constant=-0.3, better="lower"),
    "latency_percentile_plain": Filing(SIGNED, constant=-0.3, better="lower"),
    "latency_percentile_conditional": Filing({**SIGNED, **ANSWERED}, constant=-0.3),
    "latency_mean_conditional": Filing({**SIGNED, **ANSWERED}, constant=-0.3),
    "answered_share": Filing(constant=1.0),
    "early_share": Filing(bound=0.0, exempt=NO_DIRECTION, constant=1.0),
    "brier": Filing(bound=0.0, constant=0.25, better="lower"),
    "brier_multiclass": Filing(bound=0.0, constant=2 / 3, better="lower"),
    "ece": Filing(
        bound=0.0,
        constant=lambda case: abs(0.5 - share("gold", 2)(case)),
        better="lower",
    ),
}


def first(name: str) -> Instance:
    """The instance on which bounds and constants are stated: the one listed first."""
    return next(i for i in INSTANCES if i.name == name)


def stated(name: str) -> Instance:
    """The instance whose label set is the task's whole set, where there is a choice."""
    return next(
        (i for i in INSTANCES if i.name == name and i.kwargs.get("labels") == ACTIONS),
        first(name),
    )


def under(law: str) -> list[Instance]:
    return [i for i in INSTANCES if law in FILINGS[i.name].holds]


def one_per_metric(law: str) -> list[Instance]:
    return [stated(name) for name, filing in FILINGS.items() if law in filing.holds]


# ---- the register --------------------------------------------------------------------------------


def test_every_registered_metric_is_filed_and_instantiated() -> None:
    registered = {n for n, e in METRICS.entries().items() if e.target.startswith("floorbench.")}
    assert registered == set(FILINGS)
    assert registered == {i.name for i in INSTANCES}


@pytest.mark.parametrize("name", FILINGS)
def test_every_law_is_held_or_has_a_reason_not_to(name: str) -> None:
    filing = FILINGS[name]
    assert set(filing.exempt) <= set(LAWS)
    assert all(len(reason) > 10 for reason in filing.exempt.values())
    assert set(filing.holds) | set(filing.exempt) == set(LAWS)


# ---- the laws ------------------------------------------------------------------------------------


@pytest.mark.parametrize("instance", under(ORDER), ids=str)
@settings(max_examples=3, deadline=None)
@given(seed=SEEDS)
def test_order_changes_nothing(instance: Instance, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = CASES[instance.kind](rng)
    weights = draws(rng, case)
    metric = instance.build()
    want = evaluator(metric, case)(weights)
    got = evaluator(metric, shuffled(case, rng))(weights)
    assert got == pytest.approx(want, nan_ok=True, **APPROX)


@pytest.mark.parametrize("instance", under(SHARDS), ids=str)
@settings(max_examples=3, deadline=None)
@given(seed=SEEDS)
def test_shards_merge_to_the_whole(instance: Instance, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = CASES[instance.kind](rng)
    codes = rng.permutation(len(case.clusters)).tolist()
    cut = int(rng.integers(1, len(codes)))
    shards = [only_clusters(case, codes[:cut]), only_clusters(case, codes[cut:])]
    metric = instance.build()
    merged, whole = point(metric, base.concat(shards)).value, point(metric, case).value
    assert merged == (whole if whole is None else pytest.approx(whole, **APPROX))
    if isinstance(metric, AdditiveMetric):
        parts = sum(metric.rows(shard).totals() for shard in shards)
        assert parts == pytest.approx(metric.rows(case).totals(), **APPROX)


@pytest.mark.parametrize("instance", under(COPIES), ids=str)
@settings(max_examples=3, deadline=None)
@given(seed=SEEDS)
def test_duplicated_clusters_change_nothing(instance: Instance, seed: int) -> None:
    case = CASES[instance.kind](np.random.default_rng(seed))
    metric = instance.build()
    once, twice = point(metric, case).value, point(metric, copied_clusters(case)).value
    assert twice == (once if once is None else pytest.approx(once, **APPROX))


@pytest.mark.parametrize("instance", under(PERFECT), ids=str)
@settings(max_examples=3, deadline=None)
@given(seed=SEEDS)
def test_perfect_predictions_reach_the_bound(instance: Instance, seed: int) -> None:
    case = perfect(CASES[instance.kind](np.random.default_rng(seed)), instance.kind)
    value = point(instance.build(), case).value
    if value is None:  # a random case may lack a class; the definition then says so too
        assert instance.oracle(units(case)) is None
    else:
        assert value == pytest.approx(FILINGS[instance.name].bound, **APPROX)


@pytest.mark.parametrize("instance", one_per_metric(CONSTANT), ids=str)
@settings(max_examples=3, deadline=None)
@given(seed=SEEDS)
def test_constant_policies_hit_their_stated_value(instance: Instance, seed: int) -> None:
    filing = FILINGS[instance.name]
    made = CASES[instance.kind](np.random.default_rng(seed), 120)
    case = constant(made, instance.kind, filing.code)
    want = filing.constant(case) if callable(filing.constant) else filing.constant
    value = point(instance.build(), case).value
    assert value == (want if want is None else pytest.approx(want, **APPROX))


@pytest.mark.parametrize("instance", under(FAILURE), ids=str)
@settings(max_examples=8, deadline=None)
@given(seed=SEEDS)
def test_a_failure_never_helps(instance: Instance, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind, metric = instance.kind, instance.build()
    case = CASES[kind](rng)
    lost = failing(case, kind, right(case, kind) & (rng.random(len(case)) < 0.3))
    _not_better(instance, point(metric, case).value, point(metric, lost).value)
    if kind == "slot":
        return  # a slot more would be another stimulus
    more = rng.integers(0, len(case), 5)
    longer = take(case, np.concatenate([np.arange(len(case)), more]))
    added = failing(longer, kind, np.arange(len(longer)) >= len(case))
    _not_better(instance, point(metric, case).value, point(metric, added).value)


def _not_better(instance: Instance, before: float | None, after: float | None) -> None:
    if after is None:
        return  # undefined earns nothing
    if before is None:
        # Only a unit more can define a value, and a failed one defines it at its worst.
        worst = instance.build().spec.low if FILINGS[instance.name].better == "higher" else None
        assert after == worst
    elif FILINGS[instance.name].better == "higher":
        assert after <= before + 1e-12
    else:
        assert after >= before - 1e-12


@pytest.mark.parametrize("instance", one_per_metric(EMPTY), ids=str)
@settings(max_examples=3, deadline=None)
@given(seed=SEEDS)
def test_an_empty_class_gives_none_with_a_reason(instance: Instance, seed: int) -> None:
    case = FILINGS[instance.name].empty(CASES[instance.kind](np.random.default_rng(seed)))
    value, reason = point(instance.build(), case)
    assert value is None
    assert reason
    names = (*ACTIONS, *INTENTS)
    declared = [v for k, v in instance.kwargs.items() if k in ("label", "labels", "scenarios")]
    if declared and len(case) and instance.kind == "label":
        assert any(f"'{name}'" in reason for name in names), reason
