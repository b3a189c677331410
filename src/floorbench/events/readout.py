"""A linear read-out of frame signals: standardise, weigh, normalise; fitted elsewhere.

The model is plain numbers, so that it can be stored as JSON, hashed and applied without the
library that fitted it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.events.spans import Floats

FINEST = 1e-9
"""A feature with a smaller deviation is constant and is not scaled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readout:
    """Multinomial logistic model.

    Parameters
    ----------
    labels : tuple of str
        Classes in the order of the rows of ``weights``.
    features : tuple of str
        Names of the inputs, in order.
    mean, scale : tuple of float
        Per feature, subtracted and divided by.
    weights : tuple of tuple of float
        One row per class.
    bias : tuple of float
        One per class.

    Raises
    ------
    DataError
        ``FB535`` for parts of different sizes, a number that is not finite or a bad scale.
    """

    labels: tuple[str, ...]
    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    bias: tuple[float, ...]

    def __post_init__(self) -> None:
        k, n = len(self.features), len(self.labels)
        shapes = (len(self.mean), len(self.scale), *(len(w) for w in self.weights))
        if any(s != k for s in shapes) or len(self.weights) != n or len(self.bias) != n or n < 2:
            raise DataError(
                "FB535",
                "the parts of a read-out do not fit "
                f"{counted(k, 'feature')}, {counted(n, 'label')}",
            )
        if not all(np.isfinite(part).all() for part in (self.mean, self.scale, self.bias)):
            raise DataError("FB535", "a read-out holds a number that is not finite")
        if any(s <= 0 for s in self.scale):
            raise DataError("FB535", "a scale of a read-out is not positive")

    def digest(self) -> str:
        """Return the SHA-256 of all its numbers and names."""
        parts = repr((self.labels, self.features, self.mean, self.scale, self.weights, self.bias))
        return hashlib.sha256(parts.encode()).hexdigest()

    def probabilities(self, inputs: Floats) -> Floats:
        """Return class probabilities ``(n, labels)`` of inputs ``(n, features)``."""
        if inputs.ndim != 2 or inputs.shape[1] != len(self.features):
            raise DataError(
                "FB535",
                f"inputs of shape {inputs.shape} do not fit "
                f"{counted(len(self.features), 'feature')}",
            )
        scaled = (inputs - np.asarray(self.mean)) / np.asarray(self.scale)
        logits = scaled @ np.asarray(self.weights).T + np.asarray(self.bias)
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        out: Floats = odds / odds.sum(axis=1, keepdims=True)
        return out
