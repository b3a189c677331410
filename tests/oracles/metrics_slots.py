"""Slow versions of the slot metrics, written from their definitions; units are dicts."""

from __future__ import annotations

from oracles.metrics_labels import MISSING, div, kept, mean


def groups(rows):
    """Stimulus passes in order of slots; every pass has one weight."""
    out = {}
    for r in rows:
        out.setdefault((r["cluster"], r["stimulus"], r["trial"]), []).append(r)
    return [sorted(g, key=lambda r: r["slot"]) for g in out.values()]


def positive(r):
    return r["gold"] == "yes"


def predicted(r):
    return r["outcome"] == "ok" and r["predicted"] == "yes"


def counts(rows, missing):
    tp = fp = fn = tn = 0.0
    for r in kept(rows, missing):
        if positive(r):
            tp += r["w"] * predicted(r)
            fn += r["w"] * (not predicted(r))
        elif predicted(r):
            fp += r["w"]
        elif r["outcome"] == "ok":
            tn += r["w"]
    return tp, fp, fn, tn


def aggregate(statistic):
    def metric(rows, *, aggregation="pooled", lists=(), missing="wrong", **kw):
        def one(part):
            return statistic(*counts(part, missing), **kw)

        if aggregation == "pooled":
            return one(rows)
        if aggregation == "list_mean":
            return mean([one([r for r in rows if r["list"] == name]) for name in lists])
        values = []
        for name in lists:
            total = weight = 0.0
            for g in groups([r for r in rows if r["list"] == name]):
                # A pass with zero weight still has a value; its weight says what it counts.
                value = one([{**r, "w": 1.0} for r in g])
                if value is not None:
                    total += g[0]["w"] * value
                    weight += g[0]["w"]
            values.append(div(total, weight))
        return mean(values)

    return metric


slot_precision = aggregate(lambda tp, fp, fn, tn: div(tp, tp + fp))
slot_recall = aggregate(lambda tp, fp, fn, tn: div(tp, tp + fn))
slot_specificity = aggregate(lambda tp, fp, fn, tn: div(tn, tn + fp))
slot_f = aggregate(
    lambda tp, fp, fn, tn, beta=1.0: div((1 + beta**2) * tp, (1 + beta**2) * tp + beta**2 * fn + fp)
)
slot_balanced_accuracy = aggregate(
    lambda tp, fp, fn, tn: mean([div(tp, tp + fn), div(tn, tn + fp)])
)


def kappa_all(rows, *, missing="wrong"):
    rows = kept(rows, missing)
    n = sum(r["w"] for r in rows)
    agree = sum(r["w"] for r in rows if r["outcome"] == "ok" and r["predicted"] == r["gold"])
    return None if n == 0 else 2 * agree / n - 1


def kappa_hit(rows, *, h=2, missing="wrong"):
    hits = n = 0.0
    for g in groups(rows):
        for r in g:
            if positive(r) and not (missing == "drop" and r["outcome"] in MISSING):
                n += r["w"]
                hits += r["w"] * any(predicted(q) and abs(q["slot"] - r["slot"]) <= h for q in g)
    return None if n == 0 else 2 * hits / n - 1


def kappa_near(rows, *, h=2, missing="wrong"):
    near = [
        r
        for g in groups(rows)
        for r in g
        if any(positive(q) and abs(q["slot"] - r["slot"]) <= h for q in g)
    ]
    return kappa_all(near, missing=missing)


def closest(r, targets):
    """Nearest target; of two equally near ones the earlier."""
    return min(targets, key=lambda q: (abs(q["slot"] - r["slot"]), q["slot"]))


def distances(rows, value, *, recall=False, missing="wrong"):
    total = n = 0.0
    for g in groups(rows):
        consensus = [r for r in g if positive(r)]
        said = [r for r in g if predicted(r)]
        if not consensus or not said:
            continue
        side, targets = (consensus, said) if recall else (said, consensus)
        for r in side:
            if missing == "drop" and r["outcome"] in MISSING:
                continue
            total += r["w"] * value(r, closest(r, targets), g)
            n += r["w"]
    return div(total, n)


def gap(r, q):
    return abs(r["slot"] - q["slot"])


def mae_slots(rows, *, missing="wrong"):
    return distances(rows, lambda r, q, g: gap(r, q), missing=missing)


def mse_slots(rows, *, missing="wrong"):
    return distances(rows, lambda r, q, g: gap(r, q) ** 2, missing=missing)


def mae_seconds(rows, *, missing="wrong"):
    return distances(rows, lambda r, q, g: abs(r["time"] - q["time"]), missing=missing)


def mae_slots_recall(rows, *, missing="wrong"):
    return distances(rows, lambda r, q, g: gap(r, q), recall=True, missing=missing)


def mae_seconds_recall(rows, *, missing="wrong"):
    return distances(rows, lambda r, q, g: abs(r["time"] - q["time"]), recall=True, missing=missing)


def norm_of(g, norm):
    consensus = [r for r in g if positive(r)]
    if norm == "max_possible":
        return max(gap(r, closest(r, consensus)) for r in g)
    if norm == "max_predicted":
        return max(gap(r, closest(r, consensus)) for r in g if predicted(r))
    return len(g) if norm == "n_slots" else 1


def normed(rows, norm, power, missing):
    def value(r, q, g):
        d = gap(r, q) ** power
        return 0.0 if d == 0 else d / norm_of(g, norm)

    return distances(rows, value, missing=missing)


def nmae(rows, *, norm="max_possible", missing="wrong"):
    return normed(rows, norm, 1, missing)


def nmse(rows, *, norm="max_possible", missing="wrong"):
    return normed(rows, norm, 2, missing)


def mae_density(rows, *, h=2, density="proportion", missing="wrong"):
    def value(r, q, g):
        window = [s for s in g if abs(s["slot"] - q["slot"]) <= h]
        if density == "proportion":
            return gap(r, q) / sum(s["proportion"] for s in window)
        heard = [p for p in range(len(q["responses"])) if q["responses"][p] >= 0]
        active = [p for p in heard if any(s["responses"][p] == 1 for s in window)]
        return gap(r, q) / (len(active) / len(heard))

    return distances(rows, value, missing=missing)
