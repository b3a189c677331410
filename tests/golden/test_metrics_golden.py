"""The metrics give the papers' own numbers, on units built from the printed counts and shares."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from floorbench.metrics import counts
from floorbench.metrics.agreement import kappa_all, kappa_free
from floorbench.metrics.base import Scored, point
from floorbench.metrics.classification import (
    action_average,
    average_all4,
    class_accuracy,
    macro_accuracy,
    smr,
)
from floorbench.metrics.fscore import f_score
from floorbench.metrics.pairs import (
    independence_baseline,
    pasr,
    pkc,
    prsr,
    rate_matched_pasr,
    rate_matched_pkc,
)
from floorbench.metrics.trp import slot_f
from floorbench.report.published import number, rows

GOLDEN = json.loads(Path(__file__).with_name("metrics.json").read_text(encoding="utf-8"))
ACTIONS = ("maintain", "stop_and_listen", "takeover", "dismiss")
ROLES = ("interruption", "backchannel", "offtalk")


def scored(columns: dict, vocab: dict, weight: np.ndarray | None = None) -> Scored:
    n = len(next(iter(columns.values())))
    return Scored(
        cluster=np.zeros(n, dtype=np.int64),
        clusters=("all",),
        strata=np.zeros(1, dtype=np.int64),
        weight=np.ones(n) if weight is None else weight,
        columns={k: np.asarray(v) for k, v in columns.items()},
        vocab=vocab,
    )


def of_shares(shares: dict[str, float], label_column: str, labels: tuple[str, ...]) -> Scored:
    """One right and one wrong unit per label, weighing its percentage and the rest of it."""
    gold, said, weight = [], [], []
    for label, percent in shares.items():
        code = labels.index(label)
        gold += [code, code]
        said += [code, (code + 1) % len(labels)]
        weight += [percent, 100 - percent]
    predicted = label_column.replace("gold", "predicted")
    return scored(
        {label_column: gold, predicted: said, "outcome": np.zeros(len(gold), dtype=np.int64)},
        {label_column: labels},
        np.array(weight),
    )


# ---- CoDeTT --------------------------------------------------------------------------------------

TABLE2: dict[str, dict[str, float]] = defaultdict(dict)
for _r in rows("codett-2"):
    if (_value := number(_r["value_percent"])) is not None:
        TABLE2[f"{_r['system']}/{_r['language']}/{_r['history']}"][_r["action"]] = _value

TABLE3: dict[str, dict[str, float]] = defaultdict(dict)
for _r in rows("codett-3"):
    _key = f"{_r['system']}/{_r['language']}/{_r['history']}/{_r['action']}"
    TABLE3[_key][_r["scenario"] or _r["metric"]] = float(_r["value_percent"])


def test_table_2_has_49_rows() -> None:
    assert len(TABLE2) == 49


@pytest.mark.parametrize("row", TABLE2)
def test_row_averages_are_means_over_the_supported_actions(row: str) -> None:
    shares = {a: v for a, v in TABLE2[row].items() if a != "macro"}
    case = of_shares(shares, "gold", ACTIONS)
    supported = tuple(shares)
    value = point(macro_accuracy(labels=supported), case).value
    assert 100 * value == pytest.approx(TABLE2[row]["macro"], abs=0.01)
    if len(supported) < 4:
        assert point(average_all4(labels=ACTIONS), case).value is None
        for action in set(ACTIONS) - set(supported):
            shares[action] = 0.0  # what is not supported is wrong once it is counted
        whole = of_shares(shares, "gold", ACTIONS)
        assert point(average_all4(labels=ACTIONS), whole).value == pytest.approx(
            value * len(supported) / 4
        )


@pytest.mark.parametrize("cell", TABLE3)
def test_intent_averages_are_means_over_scenarios(cell: str) -> None:
    shares = {k: v for k, v in TABLE3[cell].items() if k not in ("macro_accuracy", "smr")}
    scenarios = tuple(shares)
    case = of_shares(shares, "gold_intent", scenarios)
    value = 100 * point(action_average(scenarios=scenarios), case).value
    misprints = GOLDEN["codett_intent_means"]["misprints"]
    assert value == pytest.approx(misprints.get(cell, TABLE3[cell]["macro_accuracy"]), abs=0.01)
    if cell in misprints:
        assert abs(value - TABLE3[cell]["macro_accuracy"]) > 0.1


def test_smr_and_action_accuracy_give_the_micro_intent_accuracy() -> None:
    """With one inference, right intents are right actions times (1 - SMR)."""
    rng = np.random.default_rng(0)
    n = 500
    intent, said = rng.integers(0, 8, n), rng.integers(0, 8, n)
    case = scored(
        {
            "gold": intent // 2,
            "predicted": said // 2,
            "gold_intent": intent,
            "predicted_intent": said,
            "outcome": np.zeros(n, dtype=np.int64),
        },
        {"gold": ACTIONS, "gold_intent": tuple(f"{a}{k}" for a in ACTIONS for k in "xy")},
    )
    for code, action in enumerate(ACTIONS):
        mine = intent // 2 == code
        micro = (intent == said)[mine].mean()
        accuracy = point(class_accuracy(label=action), case).value
        misaligned = point(smr(action=action), case).value
        assert micro == pytest.approx(accuracy * (1 - misaligned))


def test_constant_policies_of_a_balanced_set() -> None:
    even = {"gold": np.repeat(np.arange(4), 10), "outcome": np.zeros(40, dtype=np.int64)}
    blind = scored({**even, "predicted": np.full(40, 3)}, {"gold": ACTIONS})
    assert point(macro_accuracy(labels=ACTIONS), blind).value == 0.25
    per_state = np.where(even["gold"] < 2, 0, 2)
    best = scored({**even, "predicted": per_state}, {"gold": ACTIONS})
    assert point(macro_accuracy(labels=ACTIONS), best).value == 0.5


# ---- ECHO ----------------------------------------------------------------------------------------

ECHO: dict[str, dict[str, dict]] = defaultdict(dict)
for _r in rows("echo-4"):
    ECHO[f"{_r['system']}/{_r['mode']}"][_r["metric"]] = _r


def echo_samples(right: dict[str, int]) -> Scored:
    role = np.repeat(np.arange(3), 183)
    good = np.concatenate([np.arange(183) < right[r] for r in ROLES])
    return scored(
        {
            "gold": role,
            "predicted": np.where(good, role, (role + 1) % 3),
            "outcome": np.zeros(549, dtype=np.int64),
        },
        {"gold": ROLES},
    )


def echo_pairs(good: np.ndarray, contrast: np.ndarray, three_way: bool) -> Scored:
    targets = np.array([[0, 1], [0, 2], [1, 2]] if three_way else [[0, 1], [0, 1], [1, 1]])
    a, b = targets[contrast].T
    labels = ROLES if three_way else ("yield", "keep")
    ok = np.zeros(len(contrast), dtype=np.int64)
    return scored(
        {
            "contrast": contrast,
            "gold_a": a,
            "gold_b": b,
            "predicted_a": a,
            "predicted_b": np.where(good, b, (b + 1) % len(labels)),
            "outcome_a": ok,
            "outcome_b": ok,
        },
        {"contrast": ("IB", "IO", "BO"), "gold": labels},
    )


@pytest.mark.parametrize("system", ECHO)
def test_accuracies_and_macro_follow_from_the_counts(system: str) -> None:
    table = ECHO[system]
    case = echo_samples({r: int(table[f"acc_{r}"]["count"]) for r in ROLES})
    for role in ROLES:
        printed = float(table[f"acc_{role}"]["value_percent"])
        assert 100 * point(class_accuracy(label=role), case).value == pytest.approx(
            printed, abs=0.01
        )
    misprints = GOLDEN["echo"]["macro_misprints"]
    macro = misprints.get(system, float(table["macro"]["value_percent"]))
    got = 100 * point(macro_accuracy(labels=ROLES), case).value
    assert round(got, 2) == macro


@pytest.mark.parametrize("system", [s for s in ECHO if s.endswith("binary")])
def test_pair_rates_follow_from_the_counts(system: str) -> None:
    numbers = [int(ECHO[system][m]["count"]) for m in ("pasr_ib", "pasr_io", "pkc_bo")]
    contrast = np.repeat(np.arange(3), 100)
    case = echo_pairs(np.concatenate([np.arange(100) < k for k in numbers]), contrast, False)
    assert 100 * point(pasr(contrast="IB"), case).value == pytest.approx(numbers[0])
    assert 100 * point(pasr(contrast="IO"), case).value == pytest.approx(numbers[1])
    assert 100 * point(pkc(), case).value == pytest.approx(numbers[2])
    assert 200 * point(pasr(), case).value == pytest.approx(numbers[0] + numbers[1])
    # every a is right here, so that independence expects what was seen
    assert 100 * point(independence_baseline(contrast="IB"), case).value == pytest.approx(
        numbers[0]
    )


def test_role_success_follows_from_the_count() -> None:
    count = int(ECHO["Gemini-3.1-Pro/three-way"]["prsr"]["count"])
    case = echo_pairs(np.arange(300) < count, np.repeat(np.arange(3), 100), True)
    assert 100 * point(prsr(), case).value == pytest.approx(66.0)


@pytest.mark.parametrize("policy", ["yield", "keep"])
def test_constant_policies_of_echo(policy: str) -> None:
    want = GOLDEN["echo"]["constant"][policy]
    case = echo_samples({r: round(183 * want[r] / 100) for r in ROLES})
    assert round(100 * point(macro_accuracy(labels=ROLES), case).value, 2) == want["macro"]
    code = ("yield", "keep").index(policy)
    pairs = echo_pairs(np.ones(300, dtype=bool), np.repeat(np.arange(3), 100), False)
    same = {f"predicted_{side}": np.full(300, code) for side in "ab"}
    pairs = scored({**pairs.columns, **same}, dict(pairs.vocab))
    assert 100 * point(pasr(), pairs).value == want["pasr"]
    assert 100 * point(pkc(), pairs).value == want["pkc"]


def test_a_fair_coin_expects_a_quarter() -> None:
    case = scored(
        {"gold": [0, 1], "predicted": [0, 1], "outcome": [0, 0]}, {"gold": ("yield", "keep")}
    )
    assert point(rate_matched_pasr(), case).value == 0.25
    assert point(rate_matched_pkc(), case).value == 0.25


# ---- within-turn TRP -----------------------------------------------------------------------------

TRP = {f"{r['system']}/{r['condition']}": {k: r[k] for k in r} for r in rows("trp-2")}


def test_free_marginal_kappa_of_four_cases() -> None:
    want = GOLDEN["kappa_free"]
    case = scored({"counts": want["counts"]}, {})
    metric = kappa_free(categories=2)
    agreement, n, _ = metric.rows(case).totals()
    assert agreement / n == pytest.approx(want["observed"])
    assert point(metric, case).value == pytest.approx(want["kappa"])


def test_table_2_has_14_rows() -> None:
    assert len(TRP) == 14


@pytest.mark.parametrize("row", TRP)
def test_printed_f1_lies_where_precision_and_recall_allow(row: str) -> None:
    p, r, f = (float(TRP[row][k]) for k in ("precision", "recall", "f1"))
    low, high = (f1_of(p + d, r + d) for d in (-0.0005, 0.0005))
    assert low - 0.0005 <= f <= high + 0.0005


def f1_of(p: float, r: float) -> float:
    """F1 from precision and recall, through the counts that have them."""
    tp, fp, fn = np.array([p * r]), np.array([r * (1 - p)]), np.array([p * (1 - r)])
    return float(counts.f_beta(tp, fp, fn)[0])


def prevalences(row: str) -> tuple[float, float]:
    """Range of prevalences that kappa = 2 x accuracy - 1 allows, given rounding."""
    p, r, k = (float(TRP[row][c]) for c in ("precision", "recall", "kappa_free_all"))
    values = []
    for dp in (-0.0005, 0.0005):
        for dr in (-0.0005, 0.0005):
            for dk in (-0.0005, 0.0005):
                wrong = (1 - (k + dk)) / 2
                values.append(wrong / ((1 - r - dr) + (r + dr) * (1 / (p + dp) - 1)))
    return min(values), max(values)


@pytest.mark.parametrize("row", TRP)
def test_kappa_all_is_accuracy_at_one_prevalence(row: str) -> None:
    low, high = prevalences(row)
    first, last = GOLDEN["trp"]["prevalence"]
    if row in GOLDEN["trp"]["apart"]:
        assert [low, high] == pytest.approx(GOLDEN["trp"]["apart"][row], abs=5e-5)
        assert high < first
    else:
        assert low <= last
        assert high >= first


def slots(gold: np.ndarray, said: np.ndarray) -> Scored:
    n = len(gold)
    return scored(
        {
            "gold": gold,
            "predicted": said,
            "outcome": np.zeros(n, dtype=np.int64),
            "stimulus": np.zeros(n, dtype=np.int64),
            "slot": np.arange(n),
        },
        {"gold": ("no", "yes")},
    )


def test_never_and_always_at_the_papers_prevalence() -> None:
    want = GOLDEN["trp"]
    gold = (np.arange(1000) < 1000 * want["at"]).astype(np.int64)
    never = point(kappa_all(), slots(gold, np.zeros(1000, dtype=np.int64))).value
    assert round(never, 3) == want["never_kappa_all"]
    assert all(float(r["kappa_free_all"]) < never for r in TRP.values())
    always = round(point(slot_f(), slots(gold, np.ones(1000, dtype=np.int64))).value, 3)
    assert always == want["always_f1"]
    beaten = sum(float(r["f1"]) <= always for r in TRP.values())
    assert beaten == want["always_f1_at_or_above"]


@pytest.mark.parametrize("seed", range(3))
def test_kappa_all_is_twice_the_accuracy_minus_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gold, said = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    assert point(kappa_all(), slots(gold, said)).value == pytest.approx(
        2 * (gold == said).mean() - 1
    )


# ---- DualTurn ------------------------------------------------------------------------------------


def test_backchannel_f1_follows_from_precision_and_recall() -> None:
    want = GOLDEN["dualturn"]
    p, r = want["precision"], want["recall"]
    # tp, fp, fn in the proportions of the printed precision and recall
    case = scored(
        {"gold": [1, 0, 1], "predicted": [1, 1, 0], "outcome": [0, 0, 0]},
        {"gold": ("other", "BC")},
        np.array([p * r, r * (1 - p), p * (1 - r)]),
    )
    assert round(point(f_score(label="BC"), case).value, 3) == want["f1"]
