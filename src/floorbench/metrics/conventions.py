"""Backchannel-timing conventions of neighbouring benchmarks, each under its own name.

Published "JSD" figures mix two scales and one special rule. All functions compare histograms of
backchannel onsets over the same time bins (counts or probabilities) and return ``None`` where
the value is undefined.

=================================== ============================ ========== =====================
function                            value                        maximum    system says nothing
=================================== ============================ ========== =====================
``js_divergence_bits``              divergence, base 2           1          ``None``
``js_divergence_nats``              divergence, natural log      0.6931     ``None``
``js_distance_bits``                square root, base 2          1          ``None``
``js_distance_nats``                square root, natural log     0.8326     ``None``
``js_distance_nats_silence_is_one`` square root, natural log     1 (rule)   1.0
=================================== ============================ ========== =====================
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from floorbench.errors import DataError
from floorbench.metrics.base import Floats

MAX_DISTANCE_NATS = float(np.sqrt(np.log(2.0)))
"""Largest natural-log Jensen-Shannon distance, 0.8326."""


class MeanOverSamples(NamedTuple):
    """A mean over samples and how many of them had a backchannel at all."""

    value: float | None
    samples: int
    silent: int


def js_divergence_nats(system: Sequence[float], human: Sequence[float]) -> float | None:
    """Jensen-Shannon divergence in nats, in [0, ln 2].

    Undefined
    ---------
    A histogram has no mass.

    Raises
    ------
    DataError
        ``FB630`` for unequal lengths, negative or non-finite entries.
    """
    p, q = _histogram(system, "system"), _histogram(human, "human")
    if len(p) != len(q):
        raise DataError("FB630", f"the histograms have {len(p)} and {len(q)} bins")
    if p.sum() == 0 or q.sum() == 0:
        return None
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    return float(max(0.0, (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2))


def js_divergence_bits(system: Sequence[float], human: Sequence[float]) -> float | None:
    """Jensen-Shannon divergence in bits, in [0, 1]; undefined and errors as in nats."""
    nats = js_divergence_nats(system, human)
    return None if nats is None else nats / float(np.log(2.0))


def js_distance_nats(system: Sequence[float], human: Sequence[float]) -> float | None:
    """Square root of the divergence in nats, in [0, 0.8326]; undefined and errors as there.

    Examples
    --------
    >>> round(js_distance_nats([1, 0], [0, 1]), 4)
    0.8326
    >>> js_distance_nats([0, 0], [0, 1]) is None
    True
    """
    nats = js_divergence_nats(system, human)
    return None if nats is None else float(np.sqrt(nats))


def js_distance_bits(system: Sequence[float], human: Sequence[float]) -> float | None:
    """Square root of the divergence in bits, in [0, 1]; undefined and errors as there."""
    bits = js_divergence_bits(system, human)
    return None if bits is None else float(np.sqrt(bits))


def js_distance_nats_silence_is_one(
    system: Sequence[float], human: Sequence[float]
) -> float | None:
    """Distance in nats, with 1.0 for a system that gives no backchannel at all.

    1.0 lies outside the range of the distance, so a mean over samples mixes "badly timed" with
    "absent": published means of 0.96 to 1.0 say mostly that there was no backchannel.

    Undefined
    ---------
    The human histogram has no mass.

    Source
    ------
    The released scoring of Full-Duplex-Bench v1 (200 ms bins).
    """
    if _histogram(human, "human").sum() > 0 and _histogram(system, "system").sum() == 0:
        return 1.0
    return js_distance_nats(system, human)


def mean_distance(
    samples: Iterable[tuple[Sequence[float], Sequence[float]]], *, silence_is_one: bool
) -> MeanOverSamples:
    """Mean natural-log distance over samples, under either rule for silent systems.

    Parameters
    ----------
    samples : iterable of (system, human) histograms
    silence_is_one : bool
        True counts a silent sample as 1.0; False leaves it out and counts it in ``silent``.
    """
    values: list[float] = []
    n = silent = 0
    for system, human in samples:
        n += 1
        silent += not any(system)
        rule = js_distance_nats_silence_is_one if silence_is_one else js_distance_nats
        value = rule(system, human)
        if value is not None:
            values.append(value)
    return MeanOverSamples(float(np.mean(values)) if values else None, n, silent)


def _histogram(values: Sequence[float], name: str) -> Floats:
    out = np.asarray(values, dtype=np.float64)
    if out.ndim != 1 or not len(out) or not np.isfinite(out).all() or (out < 0).any():
        raise DataError("FB630", f"the {name} histogram is not a list of finite numbers >= 0")
    return out


def _relative_entropy(p: Floats, q: Floats) -> float:
    some = p > 0
    return float((p[some] * np.log(p[some] / q[some])).sum())
