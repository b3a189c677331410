"""Made-up clusters of every family of metric, and the value that endless data would have.

A cluster has a size and a skill of its own. ``Shape`` says how unequal sizes are, how far skills
differ from cluster to cluster, and whether large clusters are harder. Its true value is that of a
world of so many clusters that its own error is small beside what is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from floorbench.metrics import (
    agreement,
    calibration,
    classification,
    distances,
    fscore,
    latency,
    pairs,
    ranking,
    trp,
)
from floorbench.metrics.base import OK, Metric, Scored, point

LABELS = ("no", "yes", "rare")
TRUTH = {"slots": 6_000}
"""Clusters of the world that stands for endless data, by family."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How clusters differ.

    Parameters
    ----------
    spread : float
        Standard deviation of the logarithm of cluster sizes; 0 makes them equal.
    between : float
        Standard deviation of a cluster's skill in logits; 1 is an intra-cluster correlation of
        about .2 in right and wrong answers, 3 of about .6.
    mean : float
        Median size of a cluster.
    rare : float
        Share of clusters in which the rare class occurs at all.
    harder : float
        Logits of skill lost per logarithm of size.
    """

    spread: float = 0.0
    between: float = 1.0
    mean: float = 5.0
    rare: float = 1.0
    harder: float = 0.0


SHAPES: Mapping[str, Shape] = {
    "equal": Shape(),
    "one unit each": Shape(mean=1.0, between=0.0),
    "correlated": Shape(between=3.0),
    "unequal": Shape(spread=0.7, between=1.0, harder=0.3),
    "very unequal": Shape(spread=1.2, between=1.5, harder=0.3),
    "rare class": Shape(rare=0.15),
}


def labelled(rng: np.random.Generator, clusters: int, shape: Shape, skill: float = 0.0) -> Scored:
    """Return units with labels, scores and latencies."""
    sizes, own = _clusters(rng, clusters, shape)
    cluster = np.repeat(np.arange(clusters), sizes)
    n = len(cluster)
    bends = rng.random(clusters) < shape.rare
    chance = np.where(bends[cluster], 0.12, 0.0)
    share = _logistic(rng.normal(-0.4, 0.5 * shape.between, clusters))[cluster]
    u = rng.random(n)
    gold = np.where(u < chance, 2, (u < chance + (1 - chance) * share).astype(np.int64))
    good = _logistic(1.3 + skill + own[cluster] - 0.8 * (gold == 2))
    right = rng.random(n) < good
    other = (gold + rng.integers(1, 3, n)) % 3
    said = np.where(right, gold, other)
    scores = rng.normal(0.0, 1.0, (n, 3))
    scores[np.arange(n), gold] += 1.2 + 0.5 * (skill + own[cluster])
    late = 0.4 + 0.25 * own[cluster] + rng.gamma(2.0, 0.3, n) - 0.5
    v = rng.random(n)
    status = np.where(v < 0.05, latency.MISSED, np.where(v < 0.09, latency.CENSORED, 0))
    return Scored(
        cluster=cluster,
        clusters=tuple(map(str, range(clusters))),
        strata=np.zeros(clusters, dtype=np.int64),
        weight=np.ones(n),
        columns={
            "gold": gold,
            "predicted": said,
            "outcome": np.full(n, OK),
            "score": _logistic(scores[:, 1] - scores[:, 0]),
            "scores": scores,
            "latency": np.round(late - 0.1 * skill, 2),
            "status": status,
            "counts": _raters(rng, good),
        },
        vocab={"gold": LABELS, "predicted": LABELS},
    )


def paired(rng: np.random.Generator, clusters: int, shape: Shape, skill: float = 0.0) -> Scored:
    """Return linked pairs: two contrasts that ask for different actions, one that asks to keep."""
    sizes, own = _clusters(rng, clusters, shape)
    cluster = np.repeat(np.arange(clusters), sizes)
    n = len(cluster)
    contrast = rng.integers(0, 3, n)
    gold = {"a": np.where(contrast < 2, 1, 0), "b": np.zeros(n, dtype=np.int64)}
    columns = {"contrast": contrast}
    for side in ("a", "b"):
        right = rng.random(n) < _logistic(1.5 + skill + own[cluster])
        columns[f"gold_{side}"] = gold[side]
        columns[f"predicted_{side}"] = np.where(right, gold[side], 1 - gold[side])
        columns[f"outcome_{side}"] = np.full(n, OK)
    return Scored(
        cluster=cluster,
        clusters=tuple(map(str, range(clusters))),
        strata=np.zeros(clusters, dtype=np.int64),
        weight=np.ones(n),
        columns=columns,
        vocab={"gold": ("keep", "yield"), "contrast": ("I-B", "I-O", "B-O")},
    )


def slotted(rng: np.random.Generator, clusters: int, shape: Shape, skill: float = 0.0) -> Scored:
    """Return turns of 8 to 24 slots with one consensus slot in eight."""
    sizes, own = _clusters(rng, clusters, replace(shape, mean=max(1.0, shape.mean / 2)))
    stimulus = np.repeat(np.arange(sizes.sum()), lengths := rng.integers(8, 25, sizes.sum()))
    cluster = np.repeat(np.repeat(np.arange(clusters), sizes), lengths)
    n = len(cluster)
    slot = np.arange(n) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    gold = rng.random(n) < 0.125
    hit = _logistic(0.3 + skill + own[cluster])
    said = np.where(gold, rng.random(n) < hit, rng.random(n) < 0.15 * (1 - hit) + 0.02)
    return Scored(
        cluster=cluster,
        clusters=tuple(map(str, range(clusters))),
        strata=np.zeros(clusters, dtype=np.int64),
        weight=np.ones(n),
        columns={
            "gold": gold.astype(np.int64),
            "predicted": said.astype(np.int64),
            "outcome": np.full(n, OK),
            "stimulus": stimulus,
            "slot": slot,
        },
        vocab={"gold": ("no", "yes"), "predicted": ("no", "yes")},
    )


def _clusters(rng: np.random.Generator, n: int, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return sizes and skills of clusters."""
    log = rng.normal(0.0, shape.spread, n)
    sizes = np.clip(np.round(shape.mean * np.exp(log)), 1, 300).astype(np.int64)
    return sizes, rng.normal(0.0, shape.between, n) - shape.harder * log


def _logistic(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def _raters(rng: np.random.Generator, good: np.ndarray) -> np.ndarray:
    yes = rng.binomial(5, good)
    return np.stack([yes, 5 - yes], axis=1)


Family = Callable[..., Scored]
FAMILIES: Mapping[str, tuple[Family, Mapping[str, Metric]]] = {
    "labels": (
        labelled,
        {
            "accuracy": classification.accuracy(),
            "class_accuracy rare": classification.class_accuracy(label="rare"),
            "precision yes": fscore.precision(label="yes"),
            "f_score yes": fscore.f_score(label="yes"),
            "f_score rare": fscore.f_score(label="rare"),
            "balanced_accuracy rare": fscore.balanced_accuracy(label="rare"),
            "macro_accuracy": classification.macro_accuracy(labels=LABELS),
            "macro_f1": fscore.macro_f1(labels=LABELS),
            "weighted_f1": fscore.weighted_f1(labels=LABELS),
            "kappa_cohen": agreement.kappa_cohen(labels=LABELS),
            "kappa_free": agreement.kappa_free(categories=2),
        },
    ),
    "scores": (
        labelled,
        {
            "auc yes": ranking.auc(positive="yes"),
            "auc rare": ranking.auc(positive="rare", score="scores"),
            "eer yes": ranking.eer(positive="yes"),
            "brier": calibration.brier(positive="yes"),
            "ece": calibration.ece(positive="yes", bins=10, binning="equal-width"),
        },
    ),
    "latency": (
        labelled,
        {
            "latency_percentile .5": latency.latency_percentile(),
            "latency_percentile .8": latency.latency_percentile(level=0.8),
            "latency_percentile_conditional .9": latency.latency_percentile_conditional(level=0.9),
            "latency_mean_conditional": latency.latency_mean_conditional(),
            "early_share": latency.early_share(),
        },
    ),
    "pairs": (
        paired,
        {
            "pasr": pairs.pasr(),
            "pasr I-B": pairs.pasr(contrast="I-B"),
            "pkc": pairs.pkc(),
            "independence_baseline I-B": pairs.independence_baseline(contrast="I-B"),
        },
    ),
    "slots": (
        slotted,
        {
            "slot_precision": trp.slot_precision(),
            "slot_f": trp.slot_f(),
            "slot_balanced_accuracy": trp.slot_balanced_accuracy(),
            "kappa_all": agreement.kappa_all(),
            "kappa_near": agreement.kappa_near(),
            "mae_slots": distances.mae_slots(),
            "mae_slots_recall": distances.mae_slots_recall(),
            "nmae": distances.nmae(),
        },
    ),
}


@cache
def truth(family: str, shape: Shape, skill: float = 0.0) -> Mapping[str, float]:
    """Return the value of every metric of a family on endless data."""
    make, metrics = FAMILIES[family]
    scored = make(np.random.default_rng(7), TRUTH.get(family, 40_000), shape, skill)
    found = {name: point(metric, scored).value for name, metric in metrics.items()}
    return {name: np.nan if value is None else value for name, value in found.items()}
