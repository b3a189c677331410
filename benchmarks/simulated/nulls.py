"""Pairs of systems that are equally good by a metric, though not always alike otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from floorbench.metrics import classification, fscore, latency, pairs, ranking
from floorbench.metrics.base import ABSENT, OK, Metric, Scored

EACH = 6


class Null(NamedTuple):
    """Metrics by which both systems of every pair have the same true value."""

    make: Callable[[np.random.Generator, int], tuple[Scored, Scored]]
    metrics: Mapping[str, Metric]


def units_of(cluster: np.ndarray, clusters: int, **columns: np.ndarray) -> Scored:
    n = len(cluster)
    return Scored(
        cluster=cluster,
        clusters=tuple(map(str, range(clusters))),
        strata=np.zeros(clusters, dtype=np.int64),
        weight=np.ones(n),
        columns={"outcome": np.full(n, OK), **columns},
        vocab={"gold": ("no", "yes"), "predicted": ("no", "yes")},
    )


def _sizes(rng: np.random.Generator, n: int, spread: float) -> np.ndarray:
    return np.clip(np.round(EACH * np.exp(rng.normal(0, spread, n))), 1, 300).astype(np.int64)


def _beta(rng: np.random.Generator, mean: float, n: int, strength: float = 3.0) -> np.ndarray:
    return rng.beta(mean * strength, (1 - mean) * strength, n)


def alike(spread: float, each: int | None = None) -> Callable[..., tuple[Scored, Scored]]:
    """Return pairs drawn in the same way: clusters are hard for both, and for each by itself."""

    def make(rng: np.random.Generator, n: int) -> tuple[Scored, Scored]:
        sizes = _sizes(rng, n, spread) if each is None else np.full(n, each)
        cluster = np.repeat(np.arange(n), sizes)
        gold = (rng.random(len(cluster)) < 0.4).astype(np.int64)
        hard = rng.normal(0, 1, n)
        both = []
        for _ in range(2):
            own = 1.3 + hard + rng.normal(0, 1, n)
            right = rng.random(len(cluster)) < 1 / (1 + np.exp(-own[cluster]))
            score = gold * 1.2 + 0.4 * own[cluster] * (gold - 0.5) + rng.normal(0, 1, len(cluster))
            both.append(
                units_of(
                    cluster, n, gold=gold, predicted=np.where(right, gold, 1 - gold), score=score
                )
            )
        return both[0], both[1]

    return make


def answers_more(rng: np.random.Generator, n: int) -> tuple[Scored, Scored]:
    """A says yes to half of the units and B to one in sixteen, both blindly: equal precision."""
    cluster = np.repeat(np.arange(n), EACH * 3)
    gold = (rng.random(len(cluster)) < _beta(rng, 0.6, n)[cluster]).astype(np.int64)
    lag = np.round(0.3 + 0.3 * rng.normal(size=n)[cluster] + rng.gamma(2, 0.2, len(cluster)), 2)
    both = []
    for rate in (0.5, 1 / 16):
        said = (rng.random(len(cluster)) < rate).astype(np.int64)
        status = np.where(said == 1, latency.ANSWERED, latency.MISSED)
        both.append(units_of(cluster, n, gold=gold, predicted=said, latency=lag, status=status))
    return both[0], both[1]


def other_balance(rng: np.random.Generator, n: int) -> tuple[Scored, Scored]:
    """A has precision .9 and recall .5, B the reverse: equal F1."""
    cluster = np.repeat(np.arange(n), EACH)
    gold = rng.random(len(cluster)) < 0.3
    both = []
    for hit, false in ((0.5, 0.5 / 9 * 3 / 7), (0.9, 0.9 * 3 / 7)):
        own = np.where(gold, _beta(rng, hit, n)[cluster], _beta(rng, false, n)[cluster])
        said = (rng.random(len(cluster)) < own).astype(np.int64)
        both.append(units_of(cluster, n, gold=gold.astype(np.int64), predicted=said))
    return both[0], both[1]


def other_spread(rng: np.random.Generator, n: int) -> tuple[Scored, Scored]:
    """A's latencies lie close to the common median and B's far around it; B's scores are binary."""
    cluster = np.repeat(np.arange(n), EACH)
    gold = (rng.random(len(cluster)) < 0.4).astype(np.int64)
    both = []
    for scale in (0.05, 0.6):
        late = 0.5 + scale * (rng.normal(size=n)[cluster] + rng.normal(size=len(cluster)))
        if scale < 0.5:
            score = rng.normal(size=len(cluster)) + gold * np.sqrt(2) * 0.8416212
        else:
            score = (rng.random(len(cluster)) < np.where(gold == 1, 0.99, 0.39)).astype(float)
        both.append(
            units_of(
                cluster,
                n,
                gold=gold,
                score=score,
                latency=np.round(late, 3),
                status=np.zeros(len(cluster), dtype=np.int64),
            )
        )
    return both[0], both[1]


def rare_losses(rng: np.random.Generator, n: int) -> tuple[Scored, Scored]:
    """A is right on one unit more in most clusters and loses whole clusters now and then."""
    cluster = np.repeat(np.arange(n), EACH)
    place = np.tile(np.arange(EACH), n)
    lost = rng.random(n) < 1 / 7  # then 6 units are lost; gained else: one
    right_a = np.where(lost[cluster], False, True)
    right_b = np.where(lost[cluster], True, place > 0)
    gold = np.ones(len(cluster), dtype=np.int64)
    return (
        units_of(cluster, n, gold=gold, predicted=right_a.astype(np.int64)),
        units_of(cluster, n, gold=gold, predicted=right_b.astype(np.int64)),
    )


def large_and_small(rng: np.random.Generator, n: int) -> tuple[Scored, Scored]:
    """A is better in small clusters, B in the few large ones; pooled they are equal."""
    sizes = np.where(rng.random(n) < 0.2, 24, 4)
    cluster = np.repeat(np.arange(n), sizes)
    gold = np.ones(len(cluster), dtype=np.int64)
    shift = np.where(sizes == 24, -0.1, 0.15)  # .2 x 24 x .1 = .8 x 4 x .15 = .48
    both = []
    for sign in (1, -1):
        rate = 0.7 + sign * shift / 2 + rng.choice([-0.1, 0.1], n)
        said = (rng.random(len(cluster)) < rate[cluster]).astype(np.int64)
        both.append(units_of(cluster, n, gold=gold, predicted=said))
    return both[0], both[1]


def silent(rng: np.random.Generator, n: int) -> tuple[Scored, Scored]:
    """A leaves one unit in five without an answer, by whole clusters, and is better elsewhere."""
    a, _ = alike(0.0)(rng, n)
    gone = (rng.random(n) < 0.2)[a.cluster]
    gold = a.columns["gold"]
    rates = {True: 0.8, False: 0.64}
    made = []
    for is_a in (True, False):
        own = _beta(rng, rates[is_a], n)[a.cluster]
        said = np.where(rng.random(len(a)) < own, gold, 1 - gold)
        outcome = np.full(len(a), OK)
        if is_a:
            said, outcome = np.where(gone, -1, said), np.where(gone, ABSENT, OK)
        made.append(a.with_columns(predicted=said, outcome=outcome))
    return made[0], made[1]


def linked(rng: np.random.Generator, n: int) -> tuple[Scored, Scored]:
    """Pairs of two contrasts, a cluster each, both systems drawn in the same way."""
    cluster = np.arange(n)
    contrast = rng.integers(0, 2, n)
    hard = rng.normal(1.2, 1.0, n)
    both = []
    for _ in range(2):
        columns = {"contrast": contrast}
        for side in ("a", "b"):
            gold = np.full(n, 1 if side == "a" else 0)
            right = rng.random(n) < 1 / (1 + np.exp(-hard))
            columns[f"gold_{side}"] = gold
            columns[f"predicted_{side}"] = np.where(right, gold, 1 - gold)
            columns[f"outcome_{side}"] = np.full(n, OK)
        scored = units_of(cluster, n, **columns)
        both.append(
            Scored(
                cluster=cluster,
                clusters=scored.clusters,
                strata=scored.strata,
                weight=scored.weight,
                columns=columns,
                vocab={"gold": ("keep", "yield"), "contrast": ("I-B", "I-O")},
            )
        )
    return both[0], both[1]


_LABELS = ("no", "yes")
_USUAL: Mapping[str, Metric] = {
    "accuracy": classification.accuracy(),
    "precision": fscore.precision(label="yes"),
    "macro_f1": fscore.macro_f1(labels=_LABELS),
    "auc": ranking.auc(positive="yes"),
}
NULLS: Mapping[str, Null] = {
    "drawn alike": Null(alike(0.0), _USUAL),
    "drawn alike, unequal": Null(alike(1.0), _USUAL),
    "drawn alike, one unit each": Null(alike(0.0, 1), {"accuracy": classification.accuracy()}),
    "pairs": Null(linked, {"pasr": pairs.pasr(), "pasr I-B": pairs.pasr(contrast="I-B")}),
    "one answers more": Null(
        answers_more,
        {
            "precision": fscore.precision(label="yes"),
            "latency_mean_conditional": latency.latency_mean_conditional(),
        },
    ),
    "other balance": Null(other_balance, {"f_score": fscore.f_score(label="yes")}),
    "other spread": Null(
        other_spread,
        {
            "latency_percentile": latency.latency_percentile(),
            "auc": ranking.auc(positive="yes"),
            "mean latency": latency.latency_mean_conditional(),
        },
    ),
    "rare losses": Null(rare_losses, {"accuracy": classification.accuracy()}),
    "large and small": Null(large_and_small, {"accuracy": classification.accuracy()}),
    "one is silent": Null(silent, {"accuracy": classification.accuracy()}),
}
