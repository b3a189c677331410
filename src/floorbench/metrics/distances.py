"""How far predicted TRPs lie from consensus TRPs, in slots and in seconds.

The distance d of a predicted slot is the number of slots to the nearest consensus-positive slot
of its stimulus; an exact hit is 0 and ties go to the earlier slot. Values are means over
predictions; the paper's bare sums grow with the number of predictions. A slot without an answer
is no prediction under either missing policy. Stimuli without a prediction or without a consensus
slot have no distance: they are excluded and counted in the statistics ``no_prediction`` and
``no_consensus``.

These are one-sided: a model that predicts little and safely has small distances. The recall side
(:func:`mae_slots_recall`) is printed beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from floorbench.core.sample import JsonValue
from floorbench.core.spec import MetricSpec
from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import Floats, Scored, ratio
from floorbench.metrics.inputs import check_choice, check_missing, fail_at, finite
from floorbench.metrics.kinds import Additive
from floorbench.metrics.slots import Stimulus, nearest, read_slots, window_sums

NORMS = ("max_possible", "max_predicted", "n_slots", "none")
DENSITIES = ("proportion", "people")
# (stimulus, the extra column or an empty array) to one value per predicted or consensus slot.
PerSlot = Callable[[Stimulus, Floats], Floats]


def mae_slots(*, missing: str = "wrong") -> Additive:
    """Mean distance in slots from a prediction to the nearest consensus slot.

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        A slot without an answer is no prediction under either policy.

    Undefined
    ---------
    No stimulus has both a prediction and a consensus slot.

    Source
    ------
    Within-turn TRP, Eq. 2, as a mean over predictions.
    """
    return _distance("mae_slots", missing, {}, lambda s, _: _gaps(s))


def mse_slots(*, missing: str = "wrong") -> Additive:
    """Mean squared distance in slots from a prediction to the nearest consensus slot.

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        A slot without an answer is no prediction under either policy.

    Undefined
    ---------
    No stimulus has both a prediction and a consensus slot.

    Source
    ------
    Within-turn TRP, as a mean over predictions.
    """
    return _distance("mse_slots", missing, {}, lambda s, _: _gaps(s) ** 2)


def mae_seconds(*, missing: str = "wrong") -> Additive:
    """Mean distance in seconds between a predicted slot and its nearest consensus slot.

    The pair is the one that is nearest in slots; the time of a slot is its start.

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        A slot without an answer is no prediction under either policy.

    Undefined
    ---------
    No stimulus has both a prediction and a consensus slot.

    Source
    ------
    Ours.
    """
    return _distance(
        "mae_seconds",
        missing,
        {},
        lambda s, time: _time_gaps(s, time, recall=False),
        column="time",
    )


def mae_slots_recall(*, missing: str = "wrong") -> Additive:
    """Mean distance in slots from a consensus slot to the nearest prediction.

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        A slot without an answer is no prediction under either policy; with ``drop`` its own
        distance is not counted when it is a consensus slot.

    Undefined
    ---------
    No stimulus has both a prediction and a consensus slot.

    Source
    ------
    Ours.
    """
    return _distance(
        "mae_slots_recall",
        missing,
        {},
        lambda s, _: _gaps(s, recall=True),
        recall=True,
    )


def mae_seconds_recall(*, missing: str = "wrong") -> Additive:
    """Mean distance in seconds from a consensus slot to its nearest prediction (in slots).

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        A slot without an answer is no prediction under either policy; with ``drop`` its own
        distance is not counted when it is a consensus slot.

    Undefined
    ---------
    No stimulus has both a prediction and a consensus slot.

    Source
    ------
    Ours.
    """
    return _distance(
        "mae_seconds_recall",
        missing,
        {},
        lambda s, time: _time_gaps(s, time, recall=True),
        column="time",
        recall=True,
    )


def nmae(*, norm: str = "max_possible", missing: str = "wrong") -> Additive:
    """Mean over predictions of d / norm of the stimulus.

    Parameters
    ----------
    norm : {'max_possible', 'max_predicted', 'n_slots', 'none'}
        ``max_possible``: the largest distance from any slot of the stimulus to its nearest
        consensus slot, the same for every model. ``max_predicted``: the largest d of this model
        in the stimulus; compatible with the published table, which does not prove it, and an
        outlier lowers a model's own value. ``n_slots``: the number of slots.
    missing : {'wrong', 'drop'}
        A slot without an answer is no prediction under either policy.

    Undefined
    ---------
    No stimulus has both a prediction and a consensus slot. If all d are 0 the value is 0,
    whatever the norm.

    Source
    ------
    Within-turn TRP, NMAE.

    Deviations
    ----------
    The paper gives a bare sum under this name and no normaliser.
    """
    check_choice("norm", norm, NORMS)
    return _distance("nmae", missing, {"norm": norm}, lambda s, _: _normed(s, norm, 1))


def nmse(*, norm: str = "max_possible", missing: str = "wrong") -> Additive:
    """Mean over predictions of d^2 / norm of the stimulus; the norm is not squared.

    Parameters
    ----------
    norm : {'max_possible', 'max_predicted', 'n_slots', 'none'}
        What distances are divided by, as for ``nmae``.
    missing : {'wrong', 'drop'}
        A slot without an answer is no prediction under either policy.

    Undefined
    ---------
    No stimulus has both a prediction and a consensus slot. If all d are 0 the value is 0.

    Source
    ------
    Within-turn TRP, NMSE; the paper gives a bare sum under this name and no normaliser.
    """
    check_choice("norm", norm, NORMS)
    return _distance("nmse", missing, {"norm": norm}, lambda s, _: _normed(s, norm, 2))


def mae_density(*, h: int = 2, density: str = "proportion", missing: str = "wrong") -> Additive:
    """Mean over predictions of d / density of responses around the nearest consensus slot.

    Parameters
    ----------
    h : int
        Half-width >= 0; the window holds up to 2 h + 1 slots, clipped at the edges of the turn.
    density : {'proportion', 'people'}
        ``proportion``: sum of the slots' proportions over the window, which may exceed 1.
        ``people``: share of the listeners who responded anywhere in the window.
    missing : {'wrong', 'drop'}
        A slot without an answer is no prediction under either policy.

    Undefined
    ---------
    No stimulus has both a prediction and a consensus slot.

    Raises
    ------
    DataError
        ``FB625`` for a consensus-positive slot without any response in its window.

    Source
    ------
    Within-turn TRP, NMAE_DA, as a mean over predictions and not normalised.
    """
    check_choice("density", density, DENSITIES)
    if h < 0:
        raise UsageError("FB103", f"h={h} is negative")
    column = "proportion" if density == "proportion" else "responses"

    def per_slot(s: Stimulus, values: Floats) -> Floats:
        consensus = s.slot[s.gold]
        mine = values[s.rows]
        if density == "proportion":
            mass = window_sums(s.slot, mine, consensus, h)
        else:
            mass = _people(s, mine, h)
        if (mass <= 0).any():
            row = int(s.rows[s.gold][np.argmax(mass <= 0)])
            raise DataError(
                "FB625", f"row {row} is consensus-positive without a response around it"
            )
        said = s.slot[s.predicted]
        near = nearest(said, consensus)
        per_density: Floats = np.abs(said - consensus[near]) / mass[near]
        return per_density

    return _distance("mae_density", missing, {"h": h, "density": density}, per_slot, column=column)


def _gaps(s: Stimulus, *, recall: bool = False) -> Floats:
    at, targets = s.slot[s.predicted], s.slot[s.gold]
    if recall:
        at, targets = targets, at
    gaps: Floats = np.abs(at - targets[nearest(at, targets)]).astype(np.float64)
    return gaps


def _time_gaps(s: Stimulus, time: Floats, *, recall: bool) -> Floats:
    at, targets = s.predicted, s.gold
    if recall:
        at, targets = targets, at
    near = nearest(s.slot[at], s.slot[targets])
    mine = time[s.rows]
    gaps: Floats = np.abs(mine[at] - mine[targets][near])
    return gaps


def _normed(s: Stimulus, norm: str, power: int) -> Floats:
    d = _gaps(s)
    if norm == "max_possible":
        consensus = s.slot[s.gold]
        by = float(np.abs(s.slot - consensus[nearest(s.slot, consensus)]).max())
    elif norm == "max_predicted":
        by = float(d.max())
    else:
        by = float(len(s.slot)) if norm == "n_slots" else 1.0
    return d**power / by if by else np.zeros_like(d)


def _people(s: Stimulus, responses: Floats, h: int) -> Floats:
    heard = responses[0] >= 0
    if not heard.any() or ((responses >= 0) != heard).any():
        raise DataError(
            "FB625", f"the stimulus of row {s.rows[0]} was heard by nobody or only in part"
        )
    shares = []
    for centre in s.slot[s.gold]:
        inside = np.abs(s.slot - centre) <= h
        shares.append((responses[inside][:, heard] > 0).any(axis=0).mean())
    return np.array(shares, dtype=np.float64)


def _distance(
    name: str,
    missing: str,
    parameters: Mapping[str, JsonValue],
    per_slot: PerSlot,
    *,
    column: str | None = None,
    recall: bool = False,
) -> Additive:
    check_missing(missing)

    def statistics(scored: Scored) -> Floats:
        slots = read_slots(scored, missing=missing)
        values: Floats = np.empty(0)
        if column is not None:
            wide = column == "responses"
            values = finite(scored, column, np.ones(len(scored), dtype=np.bool_), wide=wide)
            if wide and values.ndim == 1:
                raise DataError("FB601", "column 'responses' has one value per unit, not a row")
            if column == "proportion":
                fail_at(
                    scored,
                    (values < 0) | (values > 1),
                    "FB625",
                    "row {row} has a proportion outside [0, 1]",
                )
        rows = np.zeros((len(scored), 4))
        for s in slots:
            if not s.gold.any():
                rows[s.rows[0], 3] = 1
            elif not s.predicted.any():
                rows[s.rows[0], 2] = 1
            else:
                side = s.gold if recall else s.predicted
                use = s.kept[side]
                at = s.rows[side][use]
                rows[at, 0] = per_slot(s, values)[use]
                rows[at, 1] = 1
        return rows

    def why(t: Mapping[str, float]) -> str:
        return (
            "no stimulus has both a prediction and a consensus slot "
            f"({t['no_prediction']:g} without prediction, {t['no_consensus']:g} without consensus)"
        )

    columns = ("gold", "predicted", "outcome", "stimulus", "slot")
    return Additive(
        spec=MetricSpec(
            name=name,
            version="1",
            unit="slot",
            columns=columns if column is None else (*columns, column),
            better="lower",
            high=1.0 if name == "nmae" and parameters["norm"] != "none" else None,
            source="within-turn TRP",
            parameters={"missing": missing, **parameters},
        ),
        names=("sum", "n", "no_prediction", "no_consensus"),
        statistics=statistics,
        of_totals=lambda t: ratio(t[..., 0], t[..., 1]),
        why=why,
        unread=("no_prediction", "no_consensus"),
    )
