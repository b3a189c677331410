"""Speed of scoring: CoDeTT metrics with intervals, one accuracy, word-level AUC, and a run folder.

The peers resample in a loop with scikit-learn, or use scipy's bootstrap. A loop of 2,000 draws
would take minutes, so it is timed on fewer draws and multiplied. Ours includes the jackknife of
the BCa intervals; the loops do without.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generated import Constant
from benchmarks.ratios import Case, Work, peer
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
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.estimates import estimate_cells
from floorbench.run.scoring import open_predictions, score
from floorbench.stats import quick
from floorbench.stats.bootstrap import bootstrap
from floorbench.stats.paired import compare
from floorbench.stats.permutation import PERMUTATIONS
from support.engine_toys import Source, Task

ACTIONS = ("Maintain", "StopandListen", "Takeover", "Dismiss")
SCENARIOS = {"Maintain": 4, "StopandListen": 3, "Takeover": 2, "Dismiss": 5}
INTENTS = tuple(f"{a}_{k}" for a, n in SCENARIOS.items() for k in range(n))
PARENT = np.array([ACTIONS.index(i.split("_")[0]) for i in INTENTS])
HISTORIES, LANGUAGES = (0, 1, 3, 5), ("en", "zh")
DRAWS = 2000


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


def codett(samples: int, draws: int = DRAWS) -> None:
    """Score one system in all languages and histories, as `floorbench score` does."""
    rng = np.random.default_rng(0)
    for _language in LANGUAGES:
        cells = [
            Measure(
                metric=metric,
                slice={"condition": f"h{h}", "cell": name},
                scored=part_of(scored, name),
                coverage=Coverage(expected=0),
            )
            for h in HISTORIES
            for scored in [predictions(rng, samples // len(LANGUAGES))]
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


def codett_loop(scored: Scored, draws: int) -> Work:
    """Resample one system, language and history and score it with scikit-learn."""
    from sklearn.metrics import confusion_matrix, f1_score, recall_score

    rng, c = np.random.default_rng(0), scored.columns

    def work() -> None:
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

    return work


def scipy_accuracy(gold: list[str], said: list[str], draws: int) -> Work:
    """Return scipy's BCa interval of the share of right answers."""
    from scipy.stats import bootstrap as resampled

    right = (np.array(gold) == np.array(said)).astype(np.float64)

    def work() -> Any:
        return resampled(
            (right,), np.mean, n_resamples=draws, vectorized=True, method="BCa", batch=100,
            rng=np.random.default_rng(0),
        )  # fmt: skip

    return work


def paired(samples: int, draws: int = DRAWS, permutations: int = PERMUTATIONS) -> None:
    """Compare two systems on one accuracy: difference, interval, test."""
    a, b = (predictions(np.random.default_rng(seed), samples) for seed in (0, 1))
    compare({"a": accuracy()}, a, b, draws=draws, permutations=permutations, seed=1)


def scipy_paired(samples: int) -> Work:
    """Return scipy's paired bootstrap and sign-swapping test of the same two systems."""
    from scipy.stats import bootstrap as resampled
    from scipy.stats import permutation_test

    a, b = (predictions(np.random.default_rng(seed), samples).columns for seed in (0, 1))
    difference = (a["gold"] == a["predicted"]).astype(float) - (b["gold"] == b["predicted"])

    def work() -> None:
        resampled(
            (difference,), np.mean, n_resamples=DRAWS, vectorized=True, method="BCa", batch=100,
            rng=np.random.default_rng(0),
        )  # fmt: skip
        permutation_test(
            (difference,), np.mean, permutation_type="samples", n_resamples=PERMUTATIONS,
            vectorized=True, batch=100, rng=np.random.default_rng(0),
        )  # fmt: skip

    return work


def word_units(n: int, clusters: int) -> Scored:
    """Return words with scores of three classes."""
    rng = np.random.default_rng(0)
    gold = rng.choice(3, n, p=[0.85, 0.02, 0.13])
    scores = rng.random((n, 3))
    scores[np.arange(n), gold] += 0.3
    return Scored(
        cluster=rng.integers(0, clusters, n),
        clusters=tuple(f"c{i}" for i in range(clusters)),
        strata=np.zeros(clusters, dtype=np.int64),
        weight=np.ones(n),
        columns={"gold": gold, "scores": scores, "outcome": np.zeros(n, dtype=np.int64)},
        vocab={"gold": ("C", "B", "T")},
    )


def auc(scored: Scored, draws: int = DRAWS) -> None:
    """Draw the mean one-vs-rest AUC."""
    metric = auc_macro(labels=("C", "B", "T"))
    bootstrap({"auc": evaluator(metric, scored)}, scored.strata, draws=draws, seed=1)


def auc_loop(scored: Scored, draws: int) -> Work:
    """Resample clusters and ask scikit-learn for the three AUCs."""
    from sklearn.metrics import roc_auc_score

    rng, many = np.random.default_rng(0), len(scored.clusters)
    order = np.argsort(scored.cluster, kind="stable")
    ends = np.cumsum(np.bincount(scored.cluster, minlength=many))[:-1]
    of_cluster = np.split(order, ends)
    gold, scores = scored.columns["gold"], scored.columns["scores"]

    def work() -> None:
        for _ in range(draws):
            rows = np.concatenate([of_cluster[c] for c in rng.integers(0, many, many)])
            for label in range(3):
                roc_auc_score(gold[rows] == label, scores[rows, label])

    return work


def toy_run(folder: Path, samples: int) -> Path:
    """Run a system on the toy task and return the run folder."""
    return run(
        task=Task(),
        system=SystemChoice(name="constant", factory=Constant),
        source=Source(samples),
        out=folder,
        notify=lambda _: None,
    ).path


def score_folder(path: Path, samples: int, draws: int = DRAWS) -> None:
    """Score a run folder from its files."""
    opened = open_predictions(path, task=Task(), source=Source(samples))
    score(opened, draws=draws, write=False)


def only_parsed(path: Path) -> int:
    """Read the journal with the standard library and count the right answers."""
    with (path / "predictions.jsonl").open(encoding="utf-8") as lines:
        return sum(json.loads(line)["decision"]["label"] == "yes" for line in lines)


def cases(full: bool) -> Iterator[Case]:
    samples = 180_000 if full else 18_000
    loop_draws = 5
    case = predictions(np.random.default_rng(0), samples // len(LANGUAGES))
    loop = "scikit-learn in a resampling loop"
    scale = DRAWS / loop_draws
    yield Case(
        name=f"all CoDeTT metrics, {DRAWS:,} draws, BCa",
        size=f"{samples * len(HISTORIES):,} predictions, a cluster each",
        ours=lambda: codett(samples),
        peers={loop: peer(("sklearn",), codett_loop, case, loop_draws)},
        scale={loop: scale * len(LANGUAGES) * len(HISTORIES)},
        per=(samples * len(HISTORIES) / 1000, "thousand predictions"),
        rounds=5,
    )
    n = 10_000 if full else 2_000
    gold = ["yes", "no"] * (n // 2)
    said = [g if i % 5 else "yes" for i, g in enumerate(gold)]
    units = quick.units(labels=("yes", "no"), gold=gold, predicted=said)
    yield Case(
        name=f"one accuracy with its interval, {DRAWS:,} draws",
        size=f"{n:,} predictions",
        ours=lambda: quick.estimate(accuracy(), units, draws=DRAWS, seed=1),
        peers={"scipy.stats.bootstrap, BCa": peer(("scipy",), scipy_accuracy, gold, said, DRAWS)},
        per=(1, "interval"),
        rounds=5,
    )
    yield Case(
        name=f"two systems compared: {DRAWS:,} draws, {PERMUTATIONS:,} permutations",
        size=f"{n:,} predictions each",
        ours=lambda: paired(n),
        peers={"scipy.stats.bootstrap and permutation_test": peer(("scipy",), scipy_paired, n)},
        per=(1, "comparison"),
        rounds=5,
    )
    words = word_units(3_000_000 if full else 200_000, 276)
    loop_draws = 1
    yield Case(
        name=f"one-vs-rest AUC of 3 classes, {DRAWS:,} draws",
        size=f"{len(words):,} words, 276 clusters",
        ours=lambda: auc(words),
        peers={loop: peer(("sklearn",), auc_loop, words, loop_draws)},
        scale={loop: DRAWS / loop_draws},
        per=(len(words) / 1e6, "million words"),
        rounds=5,
    )
    many = 9_000 if full else 3_000
    with tempfile.TemporaryDirectory() as folder:
        path = toy_run(Path(folder), many)
        yield Case(
            name=f"a run folder from its files to intervals, {DRAWS:,} draws",
            size=f"{2 * many:,} predictions",
            ours=lambda: score_folder(path, many),
            peers={"json.loads of every line and a count": lambda: only_parsed(path)},
            per=(2 * many, "prediction"),
            rounds=5,
        )
