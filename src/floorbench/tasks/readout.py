"""Fitting of linear read-outs with scikit-learn; the result is plain numbers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from floorbench.errors import missing_extra
from floorbench.events.readout import FINEST, Readout
from floorbench.events.spans import Floats, Ints

ITERATIONS = 2000


def fit_readout(
    inputs: Floats,
    target: Ints,
    *,
    labels: Sequence[str],
    features: Sequence[str],
    strength: float = 1.0,
    balanced: bool = True,
) -> Readout:
    """Fit a standardised multinomial logistic regression.

    Parameters
    ----------
    inputs : float64 array (n, k)
    target : int64 array (n,)
        Index into ``labels``; labels that do not occur get no weight and are never answered.
    labels, features : sequence of str
    strength : float
        Inverse of the L2 penalty.
    balanced : bool
        Whether classes weigh the same, however often they occur.

    Returns
    -------
    Readout
        Over the labels that occur, in their order.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` without scikit-learn.

    Undefined
    ---------
    Fewer than two labels occur: the caller checks this.
    """
    try:
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError:
        raise missing_extra("sklearn", "probe") from None
    mean = inputs.mean(axis=0)
    deviation = inputs.std(axis=0)
    scale = np.where(deviation > FINEST, deviation, 1.0)
    model = LogisticRegression(
        C=strength, class_weight="balanced" if balanced else None, max_iter=ITERATIONS
    )
    # One thread: the same sums on every machine, and no threads that spin where cores are shared.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence is told by the count of iterations
        model.fit((inputs - mean) / scale, target)
    there = [labels[int(c)] for c in model.classes_]
    weights, bias = model.coef_, model.intercept_
    if len(there) == 2:  # scikit-learn keeps one row for two classes
        weights, bias = (
            np.vstack([-weights / 2, weights / 2]),
            np.concatenate([-bias / 2, bias / 2]),
        )
    return Readout(
        labels=tuple(there),
        features=tuple(features),
        mean=tuple(mean.tolist()),
        scale=tuple(scale.tolist()),
        weights=tuple(tuple(row) for row in weights.tolist()),
        bias=tuple(bias.tolist()),
    )
