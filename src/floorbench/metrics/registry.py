"""Every metric by name: ``name -> "module:factory"``; a factory takes keyword parameters only."""

from __future__ import annotations

_FAMILIES = {
    "classification": (
        "accuracy",
        "class_accuracy",
        "scenario_accuracy",
        "macro_accuracy",
        "average_all4",
        "action_average",
        "smr",
        "prediction_share",
    ),
    "fscore": (
        "precision",
        "recall",
        "f_score",
        "specificity",
        "balanced_accuracy",
        "macro_f1",
        "micro_f1",
        "weighted_f1",
        "chance_f1",
        "always_f1",
    ),
    "pairs": (
        "pasr",
        "pkc",
        "prsr",
        "independence_baseline",
        "rate_matched_pasr",
        "rate_matched_pkc",
    ),
    "agreement": ("kappa_free", "kappa_cohen", "kappa_all", "kappa_hit", "kappa_near"),
    "trp": (
        "slot_precision",
        "slot_recall",
        "slot_f",
        "slot_specificity",
        "slot_balanced_accuracy",
    ),
    "distances": (
        "mae_slots",
        "mse_slots",
        "mae_seconds",
        "mae_slots_recall",
        "mae_seconds_recall",
        "nmae",
        "nmse",
        "mae_density",
    ),
    "ranking": ("auc", "eer", "auc_macro", "eer_macro"),
    "latency": (
        "latency_percentile",
        "latency_percentile_plain",
        "latency_percentile_conditional",
        "latency_mean_conditional",
        "answered_share",
        "early_share",
    ),
    "calibration": ("brier", "brier_multiclass", "ece"),
}

METRICS: dict[str, str] = {
    name: f"floorbench.metrics.{family}:{name}"
    for family, names in _FAMILIES.items()
    for name in names
}
