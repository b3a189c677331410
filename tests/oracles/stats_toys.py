"""Small metrics of both kinds for the tests of stats, and the same written unit by unit."""

from __future__ import annotations

import numpy as np

from floorbench.core.spec import MetricSpec
from floorbench.metrics.base import Scored, StatTable, ratio


def _spec(name):
    return MetricSpec(name=name, version="1", unit="sample", columns=("gold", "score"))


class Accuracy:
    spec = _spec("accuracy")

    def rows(self, scored):
        right = (scored.columns["score"] > 0.5) == (scored.columns["gold"] == 1)
        values = np.stack([right * scored.weight, scored.weight], axis=1)
        return StatTable(
            names=("right", "all"),
            values=values,
            cluster=scored.cluster,
            n_clusters=len(scored.clusters),
        )

    def value(self, totals):
        return ratio(totals[..., 0], totals[..., 1])

    def reason(self, totals):
        return "no units"


class F1:
    spec = _spec("f1")

    def rows(self, scored):
        said, gold = scored.columns["score"] > 0.5, scored.columns["gold"] == 1
        counts = np.stack([said & gold, said & ~gold, ~said & gold], axis=1)
        return StatTable(
            names=("tp", "fp", "fn"),
            values=counts * scored.weight[:, None],
            cluster=scored.cluster,
            n_clusters=len(scored.clusters),
        )

    def value(self, totals):
        return ratio(2 * totals[..., 0], 2 * totals[..., 0] + totals[..., 1] + totals[..., 2])

    def reason(self, totals):
        return "neither gold nor predicted positives"


class Auc:
    spec = _spec("auc")

    def value_weighted(self, scored, weights):
        w = weights[:, scored.cluster] * scored.weight
        gold, score = scored.columns["gold"] == 1, scored.columns["score"]
        wins = (score[gold][:, None] > score[~gold]) + 0.5 * (score[gold][:, None] == score[~gold])
        pairs = w[:, gold].sum(axis=1) * w[:, ~gold].sum(axis=1)
        return ratio(np.einsum("di,ij,dj->d", w[:, gold], wins, w[:, ~gold]), pairs)

    def reason(self, scored):
        return "one class is absent"


METRICS = {"accuracy": Accuracy(), "f1": F1(), "auc": Auc()}


def plain(name, units):
    """Value of a metric on a list of units (gold, score), by counting; None if undefined."""
    if name == "accuracy":
        return sum((s > 0.5) == (g == 1) for g, s in units) / len(units) if units else None
    if name == "f1":
        tp = sum(s > 0.5 and g == 1 for g, s in units)
        wrong = sum((s > 0.5) != (g == 1) for g, s in units)
        return 2 * tp / (2 * tp + wrong) if tp + wrong else None
    pairs = [(p, q) for g, p in units if g == 1 for h, q in units if h != 1]
    return sum((p > q) + 0.5 * (p == q) for p, q in pairs) / len(pairs) if pairs else None


def units_of(scored):
    """Units (gold, score) of each cluster."""
    out = [[] for _ in scored.clusters]
    for c, g, s in zip(
        scored.cluster, scored.columns["gold"], scored.columns["score"], strict=True
    ):
        out[c].append((int(g), float(s)))
    return out


def make(seed, *, clusters=24, strata=3, largest=5, skill=0.3, gold_seed=None):
    """Random units; the gold labels and clusters depend on ``gold_seed`` alone."""
    world = np.random.default_rng(seed if gold_seed is None else gold_seed)
    codes = np.arange(clusters) % strata
    cluster = np.repeat(np.arange(clusters), world.integers(1, largest + 1, clusters))
    gold = world.integers(0, 2, len(cluster))
    noise = np.random.default_rng(seed).random(len(cluster))
    return Scored(
        cluster=cluster,
        clusters=tuple(f"c{i}" for i in range(clusters)),
        strata=codes.astype(np.int64),
        weight=np.ones(len(cluster)),
        columns={"gold": gold, "score": np.round(skill * gold + (1 - skill) * noise, 1)},
    )
