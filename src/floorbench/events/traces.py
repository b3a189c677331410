"""Scores per frame: as arrays, as a :class:`Trace`, and on another frame grid without hindsight.

Columns are named ``signal:role``. Signals that the frame protocols read: ``vad`` own activity,
``eot`` end of turn, ``hold`` pause inside a turn, ``bot`` begin of turn, ``bc`` backchannel,
``fvad1`` to ``fvad4`` activity in four future windows, ``p_now`` and ``p_future`` share of the
near and far future that belongs to the channel.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from floorbench.core.prediction import Trace
from floorbench.core.time import exact
from floorbench.core.vocab import Role
from floorbench.core.words import counted
from floorbench.errors import DataError, did_you_mean
from floorbench.events.spans import Bools, Floats

FVAD = ("fvad1", "fvad2", "fvad3", "fvad4")
SIGNALS = ("vad", "eot", "hold", "bot", "bc", *FVAD, "p_now", "p_future")
SHARES = frozenset({"p_now", "p_future"})
"""Signals whose neutral value is one half; the others are 0 where a system has said nothing."""
MAX_RATE = 1000


def column(signal: str, role: Role) -> str:
    """Return the name of a column.

    Examples
    --------
    >>> column("eot", Role.USER)
    'eot:user'
    """
    return f"{signal}:{role.value}"


def make_trace(
    values: ArrayLike, *, columns: Sequence[str], rate: Fraction, look_ahead: float = 0.0
) -> Trace:
    """Return scores per frame as a trace.

    Parameters
    ----------
    values : array-like (T, k)
        Finite scores; kept as float32.
    columns : sequence of str
        ``signal:role`` for each of the ``k`` scores.
    rate : Fraction
        Frames a second.
    look_ahead : float
        Seconds of audio after the end of a frame that its scores have used.

    Raises
    ------
    DataError
        ``FB531`` for NaN, infinity, a wrong shape or an unknown column.
    """
    with np.errstate(over="ignore"):  # what is too large becomes infinite and is refused below
        array = np.asarray(values, dtype="<f4")
    if array.ndim != 2 or array.shape[1] != len(columns):
        raise DataError(
            "FB531", f"scores of shape {array.shape} do not fit {counted(len(columns), 'column')}"
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        frame, k = bad[0].tolist()
        raise DataError("FB531", f"score '{columns[k]}' of frame {frame} is {array[frame, k]}")
    data = np.ascontiguousarray(array).tobytes()
    trace = Trace(
        columns=tuple(columns),
        rate=str(rate),
        frames=len(array),
        look_ahead=look_ahead,
        data=data,
        sha256=hashlib.sha256(data).hexdigest(),
    )
    problem = trace_problem(trace)
    if problem is not None:
        raise DataError("FB531", problem)
    return trace


def trace_problem(trace: Trace) -> str | None:
    """Say what is wrong with a trace, or return ``None``.

    Data that stand in a file are not looked at.
    """
    if not isinstance(trace, Trace):
        return f"trace is {type(trace).__name__}, not a Trace"
    try:
        rate = Fraction(trace.rate)
    except (ValueError, TypeError, ZeroDivisionError):
        return f"frame rate {trace.rate!r} is not a fraction"
    if not 0 < rate <= MAX_RATE:
        return f"frame rate {trace.rate} is not in (0, {MAX_RATE}]"
    if not math.isfinite(trace.look_ahead) or trace.look_ahead < 0:
        return f"look-ahead {trace.look_ahead} s is not 0 or more"
    if len(set(trace.columns)) != len(trace.columns) or not trace.columns:
        return "a trace needs columns, each once"
    for name in trace.columns:
        signal, _, role = name.partition(":")
        if signal not in SIGNALS or role not in list(Role):
            near = did_you_mean(signal, SIGNALS)
            more = f"; did you mean '{near}'?" if near and near != signal else ""
            return f"column '{name}' is not signal:role{more}"
    if trace.frames < 1:
        return "a trace needs at least one frame"
    if not trace.data:
        return None if trace.file is not None else "the trace holds no scores and names no file"
    if len(trace.data) != 4 * trace.frames * len(trace.columns):
        return (
            f"{counted(len(trace.data), 'byte is', 'bytes are')} not "
            f"{counted(trace.frames, 'frame')} of {counted(len(trace.columns), 'score')}"
        )
    array = np.frombuffer(trace.data, dtype="<f4")
    if not np.isfinite(array).all():
        frame, k = divmod(int(np.argmax(~np.isfinite(array))), len(trace.columns))
        return f"score '{trace.columns[k]}' of frame {frame} is not finite"
    if trace.sha256 is not None and hashlib.sha256(trace.data).hexdigest() != trace.sha256:
        return "the scores do not have the SHA-256 that the trace names"
    return None


def trace_values(trace: Trace) -> Floats:
    """Return the scores as float64 array ``(T, k)``.

    Raises
    ------
    DataError
        ``FB532`` when the scores have not been loaded from their file.
    """
    if not trace.data:
        raise DataError("FB532", f"the scores of '{trace.file}' are not loaded")
    flat = np.frombuffer(trace.data, dtype="<f4").astype(np.float64)
    return flat.reshape(trace.frames, len(trace.columns))


def rate_of(trace: Trace) -> Fraction:
    """Return the frame rate as an exact fraction."""
    return Fraction(trace.rate)


def fits(trace: Trace, *, seconds: Fraction) -> bool:
    """Tell whether a trace has as many frames as a session of that length needs.

    It may end early by its look-ahead and by one second (a last window that a model did not
    fill), and late by one second of padding.
    """
    covered = trace.frames / rate_of(trace)
    return seconds - exact(trace.look_ahead) - 1 <= covered <= seconds + 1


def available(trace: Trace, *, frames: int, rate: Fraction) -> np.ndarray:
    """Return, per frame of a grid, the trace's last frame committed by the end of it.

    Parameters
    ----------
    trace : Trace
    frames : int
        Frames of the grid.
    rate : Fraction
        Frames a second of the grid.

    Returns
    -------
    int64 array (frames,)
        -1 before the first commit. The last frame of the trace stays in force after its end.

    Notes
    -----
    Exact integers: frame ``i`` of the trace is committed at ``(i + 1) / own + look_ahead``, frame
    ``t`` of the grid ends at ``(t + 1) / rate``.
    """
    own, ahead = rate_of(trace), exact(trace.look_ahead)
    scale = rate.numerator * own.denominator * ahead.denominator
    ends = np.arange(1, frames + 1, dtype=object) * (
        rate.denominator * own.numerator * ahead.denominator
    )
    shift = ahead.numerator * own.numerator * rate.numerator
    index = np.asarray([(int(e) - shift) // scale for e in ends], dtype=np.int64) - 1
    return np.clip(index, -1, trace.frames - 1)


def on_grid(trace: Trace, *, frames: int, rate: Fraction) -> dict[str, Floats]:
    """Return every column on a frame grid: what was known at the end of each of its frames.

    Look-ahead is folded into the time axis, so a system that hears 240 ms more answers 240 ms
    later. Before the first commit a column has its neutral value: 0, and 1/2 for shares.
    """
    values = trace_values(trace)
    index = available(trace, frames=frames, rate=rate)
    known = index >= 0
    out: dict[str, Floats] = {}
    for k, name in enumerate(trace.columns):
        neutral = 0.5 if name.partition(":")[0] in SHARES else 0.0
        out[name] = np.where(known, values[np.maximum(index, 0), k], neutral)
    return out


def signal(columns: Mapping[str, Floats], name: str, role: Role, frames: int) -> Floats:
    """Return one signal of a channel, zeros where the system does not give it.

    Parameters
    ----------
    columns : mapping of str to float64 array (T,)
        From :func:`on_grid`.
    name : str
        One of ``SIGNALS``.
    role : Role
        The channel.
    frames : int
        Length of the zeros.
    """
    found = columns.get(column(name, role))
    return np.zeros(frames) if found is None else found


def shares(columns: Mapping[str, Floats], name: str, roles: Sequence[Role]) -> Floats | None:
    """Return ``p_now`` or ``p_future`` of both channels ``(T, 2)``, or ``None``.

    Where a system gives no such column it is made of its future activity: windows 1 and 2 for
    ``p_now``, 3 and 4 for ``p_future``, weighted by their length and normalised over the two
    channels; one half where nobody is expected.
    """
    direct = [columns.get(column(name, role)) for role in roles]
    if all(d is not None for d in direct):
        return np.stack([d for d in direct if d is not None], axis=1)
    windows = {"p_now": (("fvad1", 3), ("fvad2", 3)), "p_future": (("fvad3", 6), ("fvad4", 13))}
    parts = [[columns.get(column(w, role)) for w, _ in windows[name]] for role in roles]
    if any(p is None for part in parts for p in part):
        return None
    weights = [n for _, n in windows[name]]
    mass = np.stack(
        [
            sum(n * np.maximum(p, 0.0) for n, p in zip(weights, part, strict=True) if p is not None)
            for part in parts
        ],
        axis=1,
    )
    total = mass.sum(axis=1, keepdims=True)
    out = np.full(mass.shape, 0.5)
    np.divide(mass, total, out=out, where=total > 0)
    return out


def spans_of(active: Bools, *, rate: Fraction) -> np.ndarray:
    """Return the runs of a frame track as spans in ticks ``(n, 2)``, rounded half up."""
    from floorbench.core.time import to_ticks
    from floorbench.events.frames import runs

    found = runs(np.asarray(active, dtype=np.bool_))
    edges = [
        (to_ticks(Fraction(s) / rate), to_ticks(Fraction(e) / rate))
        for s, e in zip(found.start.tolist(), found.end.tolist(), strict=True)
    ]
    return np.asarray(edges, dtype=np.int64).reshape(-1, 2)
