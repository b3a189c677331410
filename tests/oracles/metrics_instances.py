"""Every registered metric with parameters to test it under, and the units it reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from floorbench.catalog import METRICS
from floorbench.metrics.base import Metric, Scored, evaluator
from oracles import metrics_labels, metrics_scores, metrics_slots
from oracles.metrics_cases import ACTIONS, CASES, FLOOR, INTENTS, LISTS, WORDS, draws, units

POLICIES = ("wrong", "drop")
AGGREGATED = (
    {},
    {"aggregation": "list_mean", "lists": LISTS},
    {"aggregation": "stimulus_list_macro", "lists": LISTS},
)


@dataclass(frozen=True)
class Instance:
    """A metric with parameters; ``kind`` names the generator of its units."""

    name: str
    kind: str
    kwargs: dict[str, Any] = field(default_factory=dict)

    def build(self, **extra: Any) -> Metric:
        return METRICS.load(self.name)(**self.kwargs, **extra)

    @property
    def policies(self) -> tuple[dict[str, str], ...]:
        if self.name in ("smr", "kappa_free", "kappa_self", "kappa_raters"):
            return ({},)
        return tuple({"missing": m} for m in POLICIES)

    def oracle(self, rows: list[dict], **extra: Any) -> float | None:
        for module in (metrics_labels, metrics_slots, metrics_scores):
            if hasattr(module, self.name):
                return getattr(module, self.name)(rows, **self.kwargs, **extra)
        raise LookupError(f"no oracle for {self.name}")

    def __str__(self) -> str:
        inside = ",".join(
            f"{k}={v if isinstance(v, str | float | int) else len(v)}"
            for k, v in self.kwargs.items()
            if v is not None
        )
        return f"{self.name}({inside})"


def _each(names: str, kind: str, *kwargs: dict[str, Any]) -> list[Instance]:
    return [Instance(name, kind, k) for name in names.split() for k in kwargs or ({},)]


ONE = {"label": "Takeover"}
ALL = {"labels": ACTIONS}
INSTANCES: list[Instance] = [
    *_each("accuracy", "label", {}, {"gold": "gold_intent", "predicted": "predicted_intent"}),
    *_each("class_accuracy prediction_share", "label", ONE),
    *_each("scenario_accuracy", "label", {"label": INTENTS[3]}),
    *_each("macro_accuracy", "label", {"labels": ACTIONS[1:]}, ALL),
    *_each("average_all4", "label", ALL),
    *_each("action_average", "label", {"scenarios": INTENTS[:2]}),
    *_each("smr", "label", {"action": "Maintain"}),
    *_each("precision recall specificity balanced_accuracy chance_f1 always_f1", "label", ONE),
    *_each("f_score", "label", ONE, {**ONE, "beta": 0.5}),
    *_each("macro_f1 micro_f1 weighted_f1", "label", ALL, {"labels": ACTIONS[:2]}),
    *_each("pasr pkc", "pair", {}, {"contrast": "IO"}, {"contrast": "BO"}),
    *_each("prsr", "role", {}, {"contrast": "BO"}),
    *_each("independence_baseline", "pair", {"contrast": "IB"}),
    *_each("rate_matched_pasr rate_matched_pkc", "floor"),
    *_each("kappa_free", "rater", {"categories": 3}),
    *_each("kappa_self kappa_raters", "rater", {"categories": 3, "counts": "counts"}),
    *_each("kappa_cohen", "label", ALL),
    *_each("kappa_cohen", "floor", {"labels": FLOOR}),
    *_each("kappa_all", "slot"),
    *_each("kappa_hit kappa_near", "slot", {"h": 0}, {"h": 2}),
    *_each(
        "slot_precision slot_recall slot_f slot_specificity slot_balanced_accuracy",
        "slot",
        *AGGREGATED,
    ),
    *_each("slot_f", "slot", {"beta": 0.5}),
    *_each("mae_slots mse_slots mae_seconds mae_slots_recall mae_seconds_recall", "slot"),
    *_each(
        "nmae nmse",
        "slot",
        *({"norm": n} for n in ("max_possible", "max_predicted", "n_slots", "none")),
    ),
    *_each(
        "mae_density", "slot", {}, {"h": 0}, {"h": 1, "density": "people"}, {"density": "people"}
    ),
    *_each("auc eer brier", "score", {"positive": "T"}),
    *_each("auc eer brier", "score", {"positive": "C", "score": "scores"}),
    *_each("auc_macro eer_macro", "score", {"labels": WORDS}),
    *_each(
        "latency_percentile latency_percentile_plain latency_percentile_conditional",
        "latency",
        {"level": 0.5},
        {"level": 0.3},
        {"level": 0.9},
    ),
    *_each("latency_mean_conditional answered_share early_share", "latency"),
    *_each("brier_multiclass", "score"),
    *_each("ece", "score", {"positive": "T", "bins": 7, "binning": "equal-width"}),
]


def agrees(instance: Instance, seed: int, *, missing: bool, size: int | None = None) -> None:
    """Compare metric and oracle on one random case, on the data as they are and on draws."""
    rng = np.random.default_rng(seed)
    make = CASES[instance.kind]
    case = make(rng, missing=missing) if size is None else make(rng, size, missing=missing)
    for extra in instance.policies:
        compare(instance, case, draws(rng, case), **extra)


def compare(instance: Instance, case: Scored, weights: np.ndarray, **extra: Any) -> None:
    """Compare metric and oracle for every row of cluster weights, to 1e-12."""
    got = evaluator(instance.build(**extra), case)(weights)
    assert got.shape == (len(weights),)
    for d in range(len(weights)):
        want = instance.oracle(units(case, weights[d]), **extra)
        if want is None:
            assert np.isnan(got[d]), (str(instance), extra, d, got[d])
        else:
            assert abs(got[d] - want) <= 1e-12 * max(1.0, abs(want)), (
                str(instance),
                extra,
                d,
                got[d],
                want,
            )
