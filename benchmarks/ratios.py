"""Ratios with their spread, the same words in every benchmark."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Say the median of repeated measurements and how far they lie apart."""
    low, middle, high = (f"{v:.{digits}f}" for v in
                         (min(values), statistics.median(values), max(values)))  # fmt: skip
    return f"{middle} (median of {len(values)}, from {low} to {high})"


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds of a call: a busy machine does not distort them."""
    started = time.process_time()
    work()
    return time.process_time() - started
