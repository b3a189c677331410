"""Slow versions of the label, pair and agreement metrics, written from their definitions.

Units are dicts (see ``metrics_cases.units``); every function returns a float or ``None``.
"""

from __future__ import annotations

MISSING = {"abstained", "invalid", "failed", "timeout", "absent"}


def kept(rows, missing, outcome="outcome"):
    if missing == "wrong":
        return rows
    return [r for r in rows if r[outcome] not in MISSING]


def div(a, b):
    return None if b == 0 else a / b


def mean(values):
    return None if any(v is None for v in values) else sum(values) / len(values)


def said(r, predicted):
    return r[predicted] if r["outcome"] == "ok" else None


def accuracy(rows, *, gold="gold", predicted="predicted", missing="wrong"):
    rows = kept(rows, missing)
    return div(
        sum(r["w"] for r in rows if said(r, predicted) == r[gold]), sum(r["w"] for r in rows)
    )


def class_accuracy(rows, *, label, gold="gold", **kw):
    return accuracy([r for r in rows if r[gold] == label], gold=gold, **kw)


recall = class_accuracy


def scenario_accuracy(rows, *, label, missing="wrong"):
    return class_accuracy(
        rows, label=label, gold="gold_intent", predicted="predicted_intent", missing=missing
    )


def macro_accuracy(rows, *, labels, **kw):
    return mean([class_accuracy(rows, label=label, **kw) for label in labels])


average_all4 = macro_accuracy


def action_average(rows, *, scenarios, missing="wrong"):
    return mean([scenario_accuracy(rows, label=s, missing=missing) for s in scenarios])


def smr(rows, *, action):
    hits = [r for r in rows if r["gold"] == action and said(r, "predicted") == action]
    bad = [r for r in hits if r["predicted_intent"] != r["gold_intent"]]
    return div(sum(r["w"] for r in bad), sum(r["w"] for r in hits))


def prediction_share(rows, *, label, missing="wrong"):
    rows = kept(rows, missing)
    return div(
        sum(r["w"] for r in rows if said(r, "predicted") == label), sum(r["w"] for r in rows)
    )


def table(rows, label, missing):
    """tp, fp, fn, tn; no answer is a miss of the gold label and nothing else."""
    t = {"tp": 0.0, "fp": 0.0, "fn": 0.0, "tn": 0.0}
    for r in kept(rows, missing):
        answer = said(r, "predicted")
        if r["gold"] == label:
            t["tp" if answer == label else "fn"] += r["w"]
        elif answer == label:
            t["fp"] += r["w"]
        elif answer is not None:
            t["tn"] += r["w"]
    return t


def precision(rows, *, label, missing="wrong"):
    t = table(rows, label, missing)
    return div(t["tp"], t["tp"] + t["fp"])


def specificity(rows, *, label, missing="wrong"):
    t = table(rows, label, missing)
    return div(t["tn"], t["tn"] + t["fp"])


def balanced_accuracy(rows, *, label, missing="wrong"):
    return mean(
        [
            recall(rows, label=label, missing=missing),
            specificity(rows, label=label, missing=missing),
        ]
    )


def f_score(rows, *, label, beta=1.0, missing="wrong"):
    t = table(rows, label, missing)
    b = beta**2
    return div((1 + b) * t["tp"], (1 + b) * t["tp"] + b * t["fn"] + t["fp"])


def macro_f1(rows, *, labels, missing="wrong"):
    return mean([f_score(rows, label=label, missing=missing) for label in labels])


def micro_f1(rows, *, labels, missing="wrong"):
    tables = [table(rows, label, missing) for label in labels]
    tp, fp, fn = (sum(t[k] for t in tables) for k in ("tp", "fp", "fn"))
    return div(2 * tp, 2 * tp + fp + fn)


def weighted_f1(rows, *, labels, missing="wrong"):
    total, support = 0.0, 0.0
    for label in labels:
        t = table(rows, label, missing)
        if t["tp"] + t["fn"] > 0:
            total += (t["tp"] + t["fn"]) * f_score(rows, label=label, missing=missing)
            support += t["tp"] + t["fn"]
    return div(total, support)


def chance_f1(rows, *, label, missing="wrong"):
    rows = kept(rows, missing)
    return div(sum(r["w"] for r in rows if r["gold"] == label), sum(r["w"] for r in rows)) or None


def always_f1(rows, *, label, missing="wrong"):
    rows = kept(rows, missing)
    tp = sum(r["w"] for r in rows if r["gold"] == label)
    fp = sum(r["w"] for r in rows if r["gold"] != label)
    return div(2 * tp, 2 * tp + fp)


# ---- pairs ---------------------------------------------------------------------------------------


def kept_pairs(rows, missing, contrast):
    rows = [r for r in rows if contrast in (None, r["contrast"])]
    return kept(kept(rows, missing, "outcome_a"), missing, "outcome_b")


def right(r, side):
    return r[f"outcome_{side}"] == "ok" and r[f"predicted_{side}"] == r[f"gold_{side}"]


def joint(rows):
    return div(
        sum(r["w"] for r in rows if right(r, "a") and right(r, "b")), sum(r["w"] for r in rows)
    )


def pasr(rows, *, contrast=None, missing="wrong"):
    rows = kept_pairs(rows, missing, contrast)
    return joint([r for r in rows if r["gold_a"] != r["gold_b"]])


def pkc(rows, *, keep="keep", contrast=None, missing="wrong"):
    rows = kept_pairs(rows, missing, contrast)
    return joint([r for r in rows if r["gold_a"] == r["gold_b"] == keep])


def prsr(rows, *, contrast=None, missing="wrong"):
    return joint(kept_pairs(rows, missing, contrast))


def independence_baseline(rows, *, contrast, missing="wrong"):
    rows = kept_pairs(rows, missing, contrast)
    n = sum(r["w"] for r in rows)
    if n == 0:
        return None
    a, b = (sum(r["w"] for r in rows if right(r, side)) / n for side in "ab")
    return a * b


def rate_matched_pasr(rows, *, label="yield", missing="wrong"):
    q = prediction_share(rows, label=label, missing=missing)
    return None if q is None else q * (1 - q)


def rate_matched_pkc(rows, *, label="yield", missing="wrong"):
    q = prediction_share(rows, label=label, missing=missing)
    return None if q is None else (1 - q) * (1 - q)


# ---- agreement -----------------------------------------------------------------------------------


def kappa_free(rows, *, categories, counts="counts"):
    """Over ordered pairs of different raters, case by case."""
    total, cases = 0.0, 0.0
    for r in rows:
        raters = [j for j, n in enumerate(r[counts]) for _ in range(n)]
        if len(raters) < 2:
            continue
        pairs = [(a, b) for a in range(len(raters)) for b in range(len(raters)) if a != b]
        total += r["w"] * sum(raters[a] == raters[b] for a, b in pairs) / len(pairs)
        cases += r["w"]
    if cases == 0:
        return None
    return (total / cases - 1 / categories) / (1 - 1 / categories)


kappa_self = kappa_raters = kappa_free


def kappa_cohen(rows, *, labels, gold="gold", predicted="predicted", missing="wrong"):
    rows = kept(rows, missing)
    n = sum(r["w"] for r in rows)
    if n == 0:
        return None
    observed = sum(r["w"] for r in rows if said(r, predicted) == r[gold]) / n
    expected = sum(
        sum(r["w"] for r in rows if r[gold] == label)
        * sum(r["w"] for r in rows if said(r, predicted) == label)
        / n**2
        for label in labels
    )
    return None if abs(1 - expected) < 1e-12 else (observed - expected) / (1 - expected)
