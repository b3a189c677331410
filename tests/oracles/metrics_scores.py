"""Slow versions of the rank, calibration and latency metrics; units are dicts."""

from __future__ import annotations

import math
from fractions import Fraction

from oracles.metrics_labels import MISSING, div, mean

LABELS = ("C", "B", "T")


def scored(rows, positive, score, missing):
    """(score, is positive, weight) of the answered units, or None when some lack a score."""
    if missing == "drop":
        rows = [r for r in rows if r["outcome"] not in MISSING]
    if any(r["outcome"] != "ok" for r in rows):
        return None
    at = LABELS.index(positive)
    return [
        (r[score][at] if isinstance(r[score], list) else r[score], r["gold"] == positive, r["w"])
        for r in rows
    ]


def auc(rows, *, positive, score="score", missing="wrong"):
    """Over all pairs of a positive and a negative."""
    items = scored(rows, positive, score, missing)
    if items is None:
        return None
    won = pairs = 0.0
    for s, p, w in items:
        for t, q, v in items:
            if p and not q:
                pairs += w * v
                won += w * v * (1.0 if s > t else 0.5 if s == t else 0.0)
    return div(won, pairs)


def eer(rows, *, positive, score="score", missing="wrong"):
    """Walk the ROC from the highest threshold down; meet the line FPR = 1 - TPR."""
    items = scored(rows, positive, score, missing)
    if items is None:
        return None
    p = sum(w for _, is_p, w in items if is_p)
    n = sum(w for _, is_p, w in items if not is_p)
    if p == 0 or n == 0:
        return None
    x, y = 0.0, 0.0
    for threshold in sorted({s for s, _, _ in items}, reverse=True):
        x1 = sum(w for s, is_p, w in items if not is_p and s >= threshold) / n
        y1 = sum(w for s, is_p, w in items if is_p and s >= threshold) / p
        if x1 + y1 >= 1 - 1e-15:
            # (x, y) + t ((x1, y1) - (x, y)) with x + y = 1
            t = (1 - x - y) / ((x1 - x) + (y1 - y))
            return x + t * (x1 - x)
        x, y = x1, y1
    raise AssertionError("a ROC ends at (1, 1)")


def auc_macro(rows, *, labels, score="scores", missing="wrong"):
    return mean([auc(rows, positive=c, score=score, missing=missing) for c in labels])


def eer_macro(rows, *, labels, score="scores", missing="wrong"):
    return mean([eer(rows, positive=c, score=score, missing=missing) for c in labels])


def drawn(rows):
    """Rows of additive metrics: units that a draw leaves out cannot make it undefined."""
    return [r for r in rows if r["w"] > 0]


def brier(rows, *, positive, score="score", missing="wrong"):
    rows = drawn(rows)
    items = scored(rows, positive, score, missing)
    if items is None:
        return None
    return div(sum(w * (s - p) ** 2 for s, p, w in items), sum(w for *_, w in items))


def brier_multiclass(rows, *, score="scores", missing="wrong"):
    rows = drawn(rows)
    if missing == "drop":
        rows = [r for r in rows if r["outcome"] not in MISSING]
    if any(r["outcome"] != "ok" for r in rows):
        return None
    total = sum(
        r["w"] * sum((p - (c == r["gold"])) ** 2 for c, p in zip(LABELS, r[score], strict=True))
        for r in rows
    )
    return div(total, sum(r["w"] for r in rows))


def ece(rows, *, positive, bins, binning, score="score", missing="wrong"):
    assert binning == "equal-width"
    rows = drawn(rows)
    items = scored(rows, positive, score, missing)
    if items is None:
        return None
    gaps = [0.0] * bins
    for s, p, w in items:
        exact = Fraction(s).limit_denominator(1000) * bins
        gaps[max(0, math.ceil(exact) - 1)] += w * (s - p)
    return div(sum(abs(g) for g in gaps), sum(w for *_, w in items))


# ---- latency -------------------------------------------------------------------------------------


def events(rows, missing):
    """(time or inf, censored, weight) of the events that count."""
    out = []
    for r in rows:
        if missing == "drop" and r["outcome"] in MISSING:
            continue
        if r["outcome"] != "ok" or r["status"] == 1:
            out.append((math.inf, False, r["w"]))
        else:
            out.append((r["latency"], r["status"] == 2, r["w"]))
    return out


def latency_percentile(rows, *, level=0.5, missing="wrong"):
    """Kaplan-Meier by redistribution to the right: a censored event's mass goes to later ones."""
    items = sorted((e for e in events(rows, missing) if e[2] > 0), key=lambda e: (e[0], e[1]))
    total = sum(w for *_, w in items)
    mass = [w for *_, w in items]
    reached = 0.0
    for i, (time, censored, _) in enumerate(items):
        if censored:
            later = sum(mass[i + 1 :])
            if later == 0:
                return None
            mass[i + 1 :] = [m + mass[i] * m / later for m in mass[i + 1 :]]
            mass[i] = 0.0
        elif math.isinf(time):
            return None
        else:
            reached += mass[i]
            ties = sum(
                mass[j] for j in range(i + 1, len(items)) if items[j][0] == time and not items[j][1]
            )
            if (reached + ties) / total >= level - 1e-12:
                return time
    return None


def plain_percentile(items, level):
    total = sum(w for *_, w in items)
    for time in sorted({t for t, censored, w in items if not censored and t < math.inf}):
        if total and sum(w for t, c, w in items if not c and t <= time) / total >= level - 1e-12:
            return time
    return None


def latency_percentile_plain(rows, *, level=0.5, missing="wrong"):
    return plain_percentile(events(rows, missing), level)


def answered(rows, missing):
    return [e for e in events(rows, missing) if not e[1] and e[0] < math.inf]


def latency_percentile_conditional(rows, *, level=0.5, missing="wrong"):
    return plain_percentile(answered(rows, missing), level)


def latency_mean_conditional(rows, *, missing="wrong"):
    items = answered(rows, missing)
    return div(sum(t * w for t, _, w in items), sum(w for *_, w in items))


def answered_share(rows, *, missing="wrong"):
    return div(
        sum(w for *_, w in answered(rows, missing)), sum(w for *_, w in events(rows, missing))
    )


def early_share(rows, *, missing="wrong"):
    return div(
        sum(w for t, _, w in answered(rows, missing) if t < 0),
        sum(w for *_, w in events(rows, missing)),
    )
