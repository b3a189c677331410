"""Speed of scoring: all CoDeTT metrics with a cluster bootstrap, and word-level AUC.

    python benchmarks/bench_scoring.py [--systems 10] [--draws 2000] [--peer-draws 10]

Part 1: 720,000 predictions (18,000 samples, 4 histories, 10 systems), every CoDeTT metric per
system, language and history, 2,000 draws with jackknife, one cluster per sample (the largest
number of clusters). The peer is scikit-learn in a resampling loop: the same per-label scores, on
fewer draws, scaled up, without jackknife. Times are processor seconds, so that a busy machine does
not distort the ratio. Part 2: one-vs-rest AUC of three classes on 3,000,000 words of 276
clusters with 2,000 draws. The process must stay below 1.5 GB.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Iterator

import numpy as np
from ratios import cpu_seconds, spread

from floorbench.core.score import Coverage
from floorbench.metrics.base import OK, TIMEOUT, Measure, Metric, Scored, evaluator
from floorbench.metrics.classification import (
    accuracy,
    action_average,
    average_all4,
    class_accuracy,
    macro_accuracy,
    scenario_accuracy,
    smr,
)
from floorbench.metrics.fscore import macro_f1
from floorbench.metrics.ranking import auc_macro
from floorbench.run.estimates import estimate_cells
from floorbench.stats.bootstrap import Draws, bootstrap

ACTIONS = ("Maintain", "StopandListen", "Takeover", "Dismiss")
SCENARIOS = {"Maintain": 4, "StopandListen": 3, "Takeover": 2, "Dismiss": 5}
INTENTS = tuple(f"{a}_{k}" for a, n in SCENARIOS.items() for k in range(n))
PARENT = np.array([ACTIONS.index(i.split("_")[0]) for i in INTENTS])
SAMPLES, HISTORIES, LANGUAGES = 18_000, (0, 1, 3, 5), ("en", "zh")
LIMIT_GB = 1.5


def metrics() -> dict[str, Metric]:
    """Every metric of the CoDeTT tables."""
    inside = {a: tuple(i for i in INTENTS if i.startswith(a)) for a in ACTIONS}
    return {
        "accuracy": accuracy(),
        "macro": macro_accuracy(labels=ACTIONS),
        "all4": average_all4(labels=ACTIONS),
        "intent": accuracy(gold="gold_intent", predicted="predicted_intent"),
        "f1": macro_f1(labels=ACTIONS),
        **{f"accuracy {a}": class_accuracy(label=a) for a in ACTIONS},
        **{f"smr {a}": smr(action=a) for a in ACTIONS},
        **{f"average {a}": action_average(scenarios=inside[a]) for a in ACTIONS},
        **{f"scenario {i}": scenario_accuracy(label=i) for i in INTENTS},
    }


def predictions(rng: np.random.Generator, n: int) -> Scored:
    """One system, language and history; the gold labels are the same in all of them."""
    gold = np.arange(n) % len(INTENTS)
    said = np.where(rng.random(n) < 0.6, gold, rng.integers(0, len(INTENTS), n))
    outcome = np.where(rng.random(n) < 0.02, TIMEOUT, OK)
    said = np.where(outcome == OK, said, -1)
    return Scored(
        cluster=np.arange(n),
        clusters=tuple(f"s{i}" for i in range(n)),
        strata=gold,
        weight=np.ones(n),
        columns={
            "gold": PARENT[gold],
            "predicted": np.where(said >= 0, PARENT[said], -1),
            "gold_intent": gold,
            "predicted_intent": said,
            "outcome": outcome,
        },
        vocab={"gold": ACTIONS, "gold_intent": INTENTS},
    )


def ours(rng: np.random.Generator, draws: int) -> None:
    """Score one system in all languages and histories, as `floorbench score` does."""
    for _language in LANGUAGES:
        cells = [
            Measure(
                metric=metric,
                slice={"condition": f"h{h}", "cell": name},
                scored=part_of(scored, name),
                coverage=Coverage(expected=0),
            )
            for h in HISTORIES
            for scored in [predictions(rng, SAMPLES // len(LANGUAGES))]
            for name, metric in metrics().items()
        ]
        estimate_cells(cells, seed=1, draws=draws, level=0.95)


def part_of(scored: Scored, cell: str) -> Scored:
    """Return the units of one cell: those of its action or scenario, or all."""
    kind, _, label = cell.partition(" ")
    if not label:
        return scored
    names, column = (INTENTS, "gold_intent") if kind == "scenario" else (ACTIONS, "gold")
    return scored.where(scored.columns[column] == names.index(label))


def peer(scored: Scored, rng: np.random.Generator, draws: int) -> None:
    """Resample one system, language and history and score it with scikit-learn."""
    from sklearn.metrics import confusion_matrix, f1_score, recall_score

    c = scored.columns
    for _ in range(draws):
        rows = rng.integers(0, len(scored), len(scored))
        gold, said = c["gold"][rows], c["predicted"][rows]
        intent, meant = c["gold_intent"][rows], c["predicted_intent"][rows]
        labels = list(range(len(ACTIONS)))
        recall_score(gold, said, labels=labels, average=None, zero_division=0)
        f1_score(gold, said, labels=labels, average="macro", zero_division=0)
        recall_score(intent, meant, labels=range(len(INTENTS)), average=None, zero_division=0)
        for code in labels:
            hit = (gold == code) & (said == code)
            confusion_matrix(intent[hit], meant[hit], labels=range(len(INTENTS)))


def words(rng: np.random.Generator, n: int, clusters: int, draws: int) -> Iterator[str]:
    """Time the word-level AUC."""
    found: dict[str, Draws] = {}
    gold = rng.choice(3, n, p=[0.85, 0.02, 0.13])
    scores = rng.random((n, 3))
    scores[np.arange(n), gold] += 0.3
    scored = Scored(
        cluster=rng.integers(0, clusters, n),
        clusters=tuple(f"c{i}" for i in range(clusters)),
        strata=np.zeros(clusters, dtype=np.int64),
        weight=np.ones(n),
        columns={"gold": gold, "scores": scores, "outcome": np.zeros(n, dtype=np.int64)},
        vocab={"gold": ("C", "B", "T")},
    )
    metric = auc_macro(labels=("C", "B", "T"))
    taken = cpu_seconds(lambda: found.update(
        bootstrap({"auc": evaluator(metric, scored)}, scored.strata, draws=draws, seed=1)
    ))  # fmt: skip
    low, high = np.quantile(found["auc"].values, [0.025, 0.975])
    yield f"  AUC {found['auc'].point:.4f}, 95 % {low:.4f}-{high:.4f}"
    yield f"  {taken:.1f} s"


def peak_gb() -> float:
    """Largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> int:
    """Print the figures; 1 when the process grew beyond its limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--peer-draws", type=int, default=10, help="for each system")
    parser.add_argument("--skip-words", action="store_true")
    args = parser.parse_args()
    rng = np.random.default_rng(0)

    print(f"{SAMPLES * len(HISTORIES) * args.systems:,} predictions, {args.draws} draws")
    peer_case = predictions(rng, SAMPLES // len(LANGUAGES))
    peer(peer_case, rng, 1)  # imports are not scoring
    mine, theirs = [], []
    for _ in range(args.systems):  # in turns, so that a busy machine disturbs both alike
        mine.append(cpu_seconds(lambda: ours(rng, args.draws)))
        one = cpu_seconds(lambda: peer(peer_case, rng, args.peer_draws)) / args.peer_draws
        theirs.append(one * args.draws * len(LANGUAGES) * len(HISTORIES))
    print(f"  floorbench: {sum(mine):.1f} s, jackknife and intervals included")
    print(
        f"  scikit-learn in a loop: {sum(theirs):.0f} s, projected from "
        f"{args.systems * args.peer_draws} draws of one language and history"
    )
    print(f"  ratio {spread([t / m for t, m in zip(theirs, mine, strict=True)])}")
    if not args.skip_words:
        print("3,000,000 words, 276 clusters, 3 classes")
        for line in words(rng, 3_000_000, 276, args.draws):
            print(line)
    print(f"peak memory {peak_gb():.2f} GB (limit {LIMIT_GB})")
    return int(peak_gb() > LIMIT_GB)


if __name__ == "__main__":
    sys.exit(main())
