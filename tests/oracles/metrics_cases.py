"""Small random scoring units of every kind, and what tests do to them.

A *case* is a ``Scored`` with ties, repeated trials (weights below 1), clusters of unequal size,
empty clusters and, if asked for, missing and unsupported predictions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from floorbench.metrics import base
from floorbench.metrics.base import Scored

ACTIONS = ("Maintain", "StopandListen", "Takeover", "Dismiss")
INTENTS = tuple(f"{action}_{k}" for action in ACTIONS for k in ("x", "y"))
CONTRASTS = ("IB", "IO", "BO")
FLOOR = ("yield", "keep")
ROLES = ("interruption", "backchannel", "offtalk")
WORDS = ("C", "B", "T")
LISTS = ("list1", "list2")
RATER_CATEGORIES = 3
_BAD = (base.ABSTAINED, base.UNSUPPORTED, base.INVALID, base.FAILED, base.TIMEOUT, base.ABSENT)


def label_case(rng: np.random.Generator, n: int = 60, *, missing: bool = True) -> Scored:
    gold_intent = rng.integers(0, len(INTENTS), n)
    right = rng.random(n) < 0.5
    predicted_intent = np.where(right, gold_intent, rng.integers(0, len(INTENTS), n))
    outcome = _outcomes(rng, n, missing)
    ok = outcome == base.OK
    return _scored(
        rng,
        n,
        {
            "gold": gold_intent // 2,
            "predicted": np.where(ok, predicted_intent // 2, -1),
            "gold_intent": gold_intent,
            "predicted_intent": np.where(ok, predicted_intent, -1),
            "outcome": outcome,
        },
        {"gold": ACTIONS, "predicted": ACTIONS, "gold_intent": INTENTS},
    )


def floor_case(rng: np.random.Generator, n: int = 60, *, missing: bool = True) -> Scored:
    outcome = _outcomes(rng, n, missing)
    said = np.where(outcome == base.OK, rng.integers(0, 2, n), -1)
    return _scored(
        rng,
        n,
        {"gold": rng.integers(0, 2, n), "predicted": said, "outcome": outcome},
        {"gold": FLOOR},
    )


def pair_case(rng: np.random.Generator, n: int = 40, *, missing: bool = True) -> Scored:
    return _pairs(rng, n, missing, {0: (0, 1), 1: (0, 1), 2: (1, 1)}, FLOOR)


def role_case(rng: np.random.Generator, n: int = 40, *, missing: bool = True) -> Scored:
    return _pairs(rng, n, missing, {0: (0, 1), 1: (0, 2), 2: (1, 2)}, ROLES)


def rater_case(rng: np.random.Generator, n: int = 30, *, missing: bool = True) -> Scored:
    raters = rng.integers(0 if missing else 2, 6, n)
    counts = np.stack([rng.multinomial(r, rng.dirichlet([0.5] * RATER_CATEGORIES)) for r in raters])
    return _scored(rng, n, {"counts": counts.astype(np.int64)}, {})


def slot_case(rng: np.random.Generator, n: int = 8, *, missing: bool = True) -> Scored:
    """Slots of ``n`` stimuli, some with two trials, in shuffled order."""
    people = 6
    blocks: list[dict[str, np.ndarray]] = []
    for stimulus in range(n):
        m = int(rng.integers(1, 14))
        heard = np.ones(people, dtype=bool)
        heard[rng.integers(0, people)] = rng.random() < 0.5
        responses = np.where(heard, rng.random((m, people)) < 0.15, -1).astype(np.int64)
        proportion = (responses > 0).sum(axis=1) / heard.sum()
        trials = int(rng.integers(1, 3))
        cluster = int(rng.integers(0, 5))
        for trial in range(trials):
            outcome = _outcomes(rng, m, missing)
            said = np.where(outcome == base.OK, rng.random(m) < rng.choice([0.0, 0.2, 0.6]), -1)
            blocks.append(
                {
                    "cluster": np.full(m, cluster),
                    "weight": np.full(m, 1 / trials),
                    "stimulus": np.full(m, stimulus),
                    "trial": np.full(m, trial),
                    "list": np.full(m, stimulus % 2),
                    "slot": np.arange(1, m + 1),
                    "time": np.cumsum(np.random.default_rng(stimulus).random(m)),
                    "gold": (proportion > 0.3).astype(np.int64),
                    "predicted": said.astype(np.int64),
                    "outcome": outcome,
                    "proportion": proportion,
                    "responses": responses,
                }
            )
    columns = {key: np.concatenate([b[key] for b in blocks]) for key in blocks[0]}
    order = rng.permutation(len(columns["slot"]))
    columns = {key: values[order] for key, values in columns.items()}
    return Scored(
        cluster=columns.pop("cluster"),
        clusters=tuple(f"c{i}" for i in range(5)),
        strata=np.zeros(5, dtype=np.int64),
        weight=columns.pop("weight"),
        columns=columns,
        vocab={"gold": ("no", "yes"), "list": LISTS},
    )


def score_case(rng: np.random.Generator, n: int = 60, *, missing: bool = False) -> Scored:
    """Word scores on a coarse grid, so that many are tied."""
    gold = rng.integers(0, len(WORDS), n)
    scores = np.round(rng.random((n, len(WORDS))) * 5) / 5
    scores[np.arange(n), gold] = np.minimum(scores[np.arange(n), gold] + 0.2, 1.0)
    outcome = _outcomes(rng, n, missing)
    scores[outcome != base.OK] = np.nan
    return _scored(
        rng,
        n,
        {"gold": gold, "scores": scores, "score": scores[:, 2].copy(), "outcome": outcome},
        {"gold": WORDS},
    )


def latency_case(rng: np.random.Generator, n: int = 50, *, missing: bool = True) -> Scored:
    status = rng.choice(3, n, p=[0.6, 0.2, 0.2])
    outcome = _outcomes(rng, n, missing)
    latency = np.round(rng.normal(0.4, 0.6, n), 1)
    latency[(status == 1) | (outcome != base.OK)] = np.nan
    return _scored(rng, n, {"latency": latency, "status": status, "outcome": outcome}, {})


CASES: dict[str, Callable[..., Scored]] = {
    "label": label_case,
    "floor": floor_case,
    "pair": pair_case,
    "role": role_case,
    "rater": rater_case,
    "slot": slot_case,
    "score": score_case,
    "latency": latency_case,
}


def draws(rng: np.random.Generator, scored: Scored, n: int = 6) -> np.ndarray:
    """Cluster weights: the data as they are, then resampled counts (with zeros)."""
    c = len(scored.clusters)
    return np.vstack([np.ones((1, c)), rng.multinomial(c, np.full(c, 1 / c), size=n)]).astype(float)


def with_columns(scored: Scored, **columns: np.ndarray) -> Scored:
    return replace(scored, columns={**scored.columns, **columns})


def shuffled(scored: Scored, rng: np.random.Generator) -> Scored:
    return take(scored, rng.permutation(len(scored)))


def take(scored: Scored, rows: np.ndarray) -> Scored:
    """Rows by index, in the given order."""
    return replace(
        scored,
        cluster=scored.cluster[rows],
        weight=scored.weight[rows],
        columns={k: v[rows] for k, v in scored.columns.items()},
    )


def only_clusters(scored: Scored, codes: list[int]) -> Scored:
    """A shard: some clusters alone, recoded."""
    kept = scored.where(np.isin(scored.cluster, codes))
    place = np.full(len(scored.clusters), -1)
    place[codes] = np.arange(len(codes))
    return replace(
        kept,
        cluster=place[kept.cluster],
        clusters=tuple(scored.clusters[c] for c in codes),
        strata=scored.strata[codes],
    )


def copied_clusters(scored: Scored) -> Scored:
    """Every cluster twice, under a second name."""
    twin = replace(scored, clusters=tuple(f"{name}'" for name in scored.clusters))
    return base.concat([scored, twin])


def units(scored: Scored, weights: np.ndarray | None = None) -> list[dict]:
    """Plain rows for the slow oracles; ``w`` is unit weight x cluster weight."""
    w = np.ones(len(scored.clusters)) if weights is None else weights
    out = []
    for i in range(len(scored)):
        row = {k: v[i].tolist() for k, v in scored.columns.items()}
        cluster = int(scored.cluster[i])
        row |= {"cluster": cluster, "w": float(scored.weight[i] * w[cluster])}
        if "outcome" in row:
            row["outcome"] = base.OUTCOMES[row["outcome"]]
        for side in ("outcome_a", "outcome_b"):
            if side in row:
                row[side] = base.OUTCOMES[row[side]]
        for column in ("gold", "predicted", "gold_intent", "predicted_intent", "list", "contrast"):
            if column in row:
                names = scored.vocab[column.replace("predicted", "gold")]
                row[column] = names[row[column]] if row[column] >= 0 else None
        for column in ("gold_a", "gold_b", "predicted_a", "predicted_b"):
            if column in row:
                row[column] = scored.vocab["gold"][row[column]] if row[column] >= 0 else None
        out.append(row)
    return out


def _pairs(
    rng: np.random.Generator,
    n: int,
    missing: bool,
    gold: dict[int, tuple[int, int]],
    labels: tuple[str, ...],
) -> Scored:
    contrast = rng.integers(0, 3, n)
    columns: dict[str, np.ndarray] = {"contrast": contrast}
    for side, name in enumerate("ab"):
        truth = np.array([gold[c][side] for c in contrast.tolist()], dtype=np.int64)
        said = np.where(rng.random(n) < 0.6, truth, rng.integers(0, len(labels), n))
        outcome = _outcomes(rng, n, missing)
        columns[f"gold_{name}"] = truth
        columns[f"predicted_{name}"] = np.where(outcome == base.OK, said, -1)
        columns[f"outcome_{name}"] = outcome
    return _scored(rng, n, columns, {"contrast": CONTRASTS, "gold": labels})


def _outcomes(rng: np.random.Generator, n: int, missing: bool) -> np.ndarray:
    bad = rng.choice(_BAD, n)
    return np.where(rng.random(n) < (0.25 if missing else 0.0), bad, base.OK).astype(np.int64)


def _scored(rng: np.random.Generator, n: int, columns: dict, vocab: dict) -> Scored:
    clusters = 9
    return Scored(
        cluster=rng.integers(0, clusters - 1, n),
        clusters=tuple(f"c{i}" for i in range(clusters)),
        strata=np.zeros(clusters, dtype=np.int64),
        weight=rng.choice([1.0, 0.5, 0.25], n),
        columns=columns,
        vocab=vocab,
    )
