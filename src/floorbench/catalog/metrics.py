"""The metrics that ship with floorbench, one entry each."""

from __future__ import annotations

from floorbench.registry import Entry, Registry

METRICS = Registry(
    "metric",
    {
        "accuracy": Entry(
            "floorbench.metrics.classification:accuracy", "share of units with the right label"
        ),
        "class_accuracy": Entry(
            "floorbench.metrics.classification:class_accuracy",
            "share of one label's units that got it, micro over units",
        ),
        "scenario_accuracy": Entry(
            "floorbench.metrics.classification:scenario_accuracy",
            "share of one scenario's units with the right full label",
        ),
        "macro_accuracy": Entry(
            "floorbench.metrics.classification:macro_accuracy",
            "mean accuracy over a declared set of labels",
        ),
        "average_all4": Entry(
            "floorbench.metrics.classification:average_all4",
            "mean accuracy over all actions, unsupported counted wrong",
        ),
        "action_average": Entry(
            "floorbench.metrics.classification:action_average",
            "mean scenario accuracy of one action",
        ),
        "smr": Entry(
            "floorbench.metrics.classification:smr",
            "semantic misalignment rate: right action, wrong intent",
        ),
        "prediction_share": Entry(
            "floorbench.metrics.classification:prediction_share",
            "share of units answered with one label (yield rate)",
        ),
        "precision": Entry("floorbench.metrics.fscore:precision", "TP / (TP + FP) of one label"),
        "recall": Entry("floorbench.metrics.fscore:recall", "TP / (TP + FN) of one label"),
        "f_score": Entry("floorbench.metrics.fscore:f_score", "F-beta of one label"),
        "specificity": Entry(
            "floorbench.metrics.fscore:specificity", "TN / (TN + FP) of one label"
        ),
        "balanced_accuracy": Entry(
            "floorbench.metrics.fscore:balanced_accuracy",
            "mean of recall and specificity of one label",
        ),
        "macro_f1": Entry(
            "floorbench.metrics.fscore:macro_f1", "mean F1 over a declared set of labels"
        ),
        "micro_f1": Entry(
            "floorbench.metrics.fscore:micro_f1",
            "F1 of the summed counts of a declared set of labels",
        ),
        "weighted_f1": Entry("floorbench.metrics.fscore:weighted_f1", "support-weighted F1 (wF1)"),
        "chance_f1": Entry(
            "floorbench.metrics.fscore:chance_f1",
            "baseline: F1 of guessing a label at its prevalence",
        ),
        "always_f1": Entry(
            "floorbench.metrics.fscore:always_f1", "baseline: F1 of answering one label everywhere"
        ),
        "pasr": Entry(
            "floorbench.metrics.pairs:pasr", "pairs with both actions right, targets differing"
        ),
        "pkc": Entry("floorbench.metrics.pairs:pkc", "pairs with the floor kept on both members"),
        "prsr": Entry("floorbench.metrics.pairs:prsr", "pairs with both roles right"),
        "independence_baseline": Entry(
            "floorbench.metrics.pairs:independence_baseline",
            "baseline: product of the members' accuracies in one contrast",
        ),
        "rate_matched_pasr": Entry(
            "floorbench.metrics.pairs:rate_matched_pasr",
            "baseline: PASR of a context-blind policy at the same yield rate",
        ),
        "rate_matched_pkc": Entry(
            "floorbench.metrics.pairs:rate_matched_pkc",
            "baseline: PKC of a context-blind policy at the same yield rate",
        ),
        "kappa_free": Entry(
            "floorbench.metrics.agreement:kappa_free", "free-marginal multirater kappa (Randolph)"
        ),
        "kappa_self": Entry(
            "floorbench.metrics.agreement:kappa_self", "agreement of a model's repeated runs"
        ),
        "kappa_raters": Entry(
            "floorbench.metrics.agreement:kappa_raters", "agreement of all human raters"
        ),
        "kappa_cohen": Entry("floorbench.metrics.agreement:kappa_cohen", "Cohen's kappa"),
        "kappa_all": Entry(
            "floorbench.metrics.agreement:kappa_all",
            "free-marginal kappa of model and consensus over all slots",
        ),
        "kappa_hit": Entry(
            "floorbench.metrics.agreement:kappa_hit", "2 x hit rate - 1 over consensus slots"
        ),
        "kappa_near": Entry(
            "floorbench.metrics.agreement:kappa_near", "2 x agreement - 1 around consensus slots"
        ),
        "slot_precision": Entry(
            "floorbench.metrics.trp:slot_precision", "precision of TRP slots, three aggregations"
        ),
        "slot_recall": Entry(
            "floorbench.metrics.trp:slot_recall", "recall of TRP slots, three aggregations"
        ),
        "slot_f": Entry("floorbench.metrics.trp:slot_f", "F-beta of TRP slots, three aggregations"),
        "slot_specificity": Entry(
            "floorbench.metrics.trp:slot_specificity",
            "specificity of TRP slots, three aggregations",
        ),
        "slot_balanced_accuracy": Entry(
            "floorbench.metrics.trp:slot_balanced_accuracy",
            "balanced accuracy of TRP slots, three aggregations",
        ),
        "mae_slots": Entry(
            "floorbench.metrics.distances:mae_slots",
            "mean slots from a prediction to the nearest consensus slot",
        ),
        "mse_slots": Entry(
            "floorbench.metrics.distances:mse_slots",
            "mean squared slots from a prediction to the nearest consensus slot",
        ),
        "mae_seconds": Entry(
            "floorbench.metrics.distances:mae_seconds",
            "mean seconds from a prediction to the nearest consensus slot",
        ),
        "mae_slots_recall": Entry(
            "floorbench.metrics.distances:mae_slots_recall",
            "mean slots from a consensus slot to the nearest prediction",
        ),
        "mae_seconds_recall": Entry(
            "floorbench.metrics.distances:mae_seconds_recall",
            "mean seconds from a consensus slot to the nearest prediction",
        ),
        "nmae": Entry(
            "floorbench.metrics.distances:nmae", "mean distance over a named norm of the stimulus"
        ),
        "nmse": Entry(
            "floorbench.metrics.distances:nmse",
            "mean squared distance over a named norm of the stimulus",
        ),
        "mae_density": Entry(
            "floorbench.metrics.distances:mae_density",
            "mean distance over the density of responses",
        ),
        "auc": Entry("floorbench.metrics.ranking:auc", "area under the ROC, mid-ranks"),
        "eer": Entry("floorbench.metrics.ranking:eer", "equal error rate on the interpolated ROC"),
        "auc_macro": Entry(
            "floorbench.metrics.ranking:auc_macro", "mean one-vs-rest AUC over declared labels"
        ),
        "eer_macro": Entry(
            "floorbench.metrics.ranking:eer_macro", "mean one-vs-rest EER over declared labels"
        ),
        "latency_percentile": Entry(
            "floorbench.metrics.latency:latency_percentile",
            "signed latency percentile, missed = infinity, Kaplan-Meier",
        ),
        "latency_percentile_plain": Entry(
            "floorbench.metrics.latency:latency_percentile_plain",
            "latency percentile, missed and censored = infinity",
        ),
        "latency_percentile_conditional": Entry(
            "floorbench.metrics.latency:latency_percentile_conditional",
            "latency percentile among answered events",
        ),
        "latency_mean_conditional": Entry(
            "floorbench.metrics.latency:latency_mean_conditional",
            "mean latency among answered events",
        ),
        "answered_share": Entry(
            "floorbench.metrics.latency:answered_share", "share of events answered"
        ),
        "early_share": Entry(
            "floorbench.metrics.latency:early_share", "share of events answered before their anchor"
        ),
        "brier": Entry(
            "floorbench.metrics.calibration:brier", "mean squared error of a probability"
        ),
        "brier_multiclass": Entry(
            "floorbench.metrics.calibration:brier_multiclass",
            "summed squared error over all labels' probabilities",
        ),
        "ece": Entry(
            "floorbench.metrics.calibration:ece", "expected calibration error, binning named"
        ),
    },
)
