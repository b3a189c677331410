"""Frame scores made elsewhere: text traces, NumPy and Parquet arrays, into a predictions folder.

The folder has the form of a run's predictions (``predictions.jsonl`` and ``traces/``) and is
scored like any other file made elsewhere. Each source file is named after its session, or the
session of a single file is given. Rate and look-ahead are declared by whoever made the scores;
where a file carries its own times, they are checked against the rate.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from floorbench import codec
from floorbench.core.numbers import number_of
from floorbench.core.ports import DatasetSource
from floorbench.core.prediction import Decision, Prediction, Trace
from floorbench.core.time import exact
from floorbench.core.vocab import Role
from floorbench.core.words import counted
from floorbench.datasets.parquet import reading
from floorbench.errors import DataError, EnvironmentProblem, Place, UsageError, did_you_mean
from floorbench.events.traces import FVAD, column, fits, make_trace, rate_of
from floorbench.run.store import JOURNAL_FILE, write_text
from floorbench.run.traces import put

JITTER = 0.25
"""Share of a frame by which a row's time may differ from the declared rate."""
FURTHEST = 30.0
"""Seconds of look-ahead beyond which a declaration must be a slip (frames or milliseconds)."""
DUALTURN = {
    f"{name}_ch{channel}": column(name, role)
    for channel, role in ((0, Role.USER), (1, Role.SYSTEM))
    for name in ("vad", "eot", "hold", "bot", "bc")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What whoever made the scores says about them.

    Parameters
    ----------
    rate : Fraction or None
        Frames a second; may be left out where the file has times.
    look_ahead : float
        Seconds of audio after the end of a frame that its scores have used.
    columns : sequence of str or None
        ``signal:role`` of each column of an array, or source name to ``signal:role`` as
        ``NAME=signal:role``; known names need none.
    swap : bool
        The first channel of the file is the system's.

    Raises
    ------
    UsageError
        ``FB103`` for a look-ahead below 0 or above 30 s.
    """

    rate: Fraction | None = None
    look_ahead: float = 0.0
    columns: tuple[str, ...] | None = None
    swap: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.look_ahead <= FURTHEST:
            raise UsageError("FB103", f"look-ahead {self.look_ahead} s is not in [0, {FURTHEST:g}]")


class _Array(NamedTuple):
    values: NDArray[np.float64]
    names: list[str]
    times: NDArray[np.float64] | None


def import_traces(
    files: Sequence[Path],
    *,
    source: DatasetSource | None,
    declared: Declared,
    out: Path,
    session: str | None = None,
    notify: Callable[[str], None] | None = None,
) -> Path:
    """Write a predictions folder from files of frame scores.

    Parameters
    ----------
    files : sequence of Path
        ``.csv`` or ``.txt`` (text trace with a time column), ``.npy``, ``.npz``, ``.parquet``.
    source : DatasetSource or None
        Where the sessions come from; without it names and lengths are checked when scoring.
    declared : Declared
    out : Path
        A folder that does not hold predictions yet.
    session : str or None
        Session of a single file that is not named after it.
    notify : callable or None
        Told which sessions are left out: those of the training part, which no task asks for.

    Returns
    -------
    Path
        The journal.

    Raises
    ------
    DataError
        ``FB531`` malformed scores, NaN included, ``FB533`` another length or rate than declared,
        ``FB534`` unknown session, ``FB203`` a session twice.
    """
    if session is not None and len(files) != 1:
        raise UsageError("FB103", f"one session is named for {counted(len(files), 'file')}")
    sessions = {} if source is None else {s.id: s for s in source.samples()}
    seconds = {name: s.observation.cutoff for name, s in sessions.items()}
    training = {name for name, s in sessions.items() if s.tags.get("split") == "train"}
    journal = out / JOURNAL_FILE
    if journal.exists():
        raise UsageError("FB103", f"'{journal}' is already there")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentProblem(
            "FB504", f"cannot be made: {error}", where=Place(str(out))
        ) from None
    lines: list[bytes] = []
    seen: set[str] = set()
    for path in files:
        name = session if session is not None else path.name.partition(".")[0]
        where = Place(str(path))
        if source is not None and name not in seconds:
            near = did_you_mean(name, seconds)
            raise DataError(
                "FB534",
                f"there is no session '{name}'",
                where=where,
                hint=f"did you mean '{near}'?"
                if near
                else f"known: {', '.join(list(seconds)[:8])}{', ...' if len(seconds) > 8 else ''}",
            )
        if name in seen:
            raise DataError("FB203", f"session '{name}' appears twice", where=where)
        seen.add(name)
        if name in training:
            continue
        trace = read_trace(path, declared)
        length = exact(seconds.get(name) or 0.0)
        if source is not None and not fits(trace, seconds=length):
            covered = float(trace.frames / rate_of(trace))
            raise DataError(
                "FB533",
                f"{counted(trace.frames, 'frame')} at {trace.rate} "
                f"a second are {covered:.2f} s, session "
                f"'{name}' has {float(length):.2f} s",
                where=where,
            )
        decision = put(out, Decision(trace=trace))
        lines.append(codec.encode(Prediction(sample_id=name, decision=decision)))
    left = sorted(seen & training)
    if left and notify is not None:
        notify(f"left out, of the training part: {', '.join(left[:8])}{', ...' * (len(left) > 8)}")
    write_text(journal, "".join(line.decode() + "\n" for line in lines))
    return journal


def read_trace(path: Path, declared: Declared) -> Trace:
    """Read one file of frame scores.

    Raises
    ------
    DataError
        ``FB531`` or ``FB533`` (see :func:`import_traces`), ``FB402`` when it cannot be opened.
    """
    readers: Mapping[str, Callable[[Path], _Array]] = {
        ".csv": _text, ".txt": _text, ".npy": _npy, ".npz": _npz, ".parquet": _parquet,
    }  # fmt: skip
    where = Place(str(path))
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            "FB531", f"suffix '{path.suffix}' is none of {', '.join(readers)}", where=where
        )
    if not path.is_file():
        raise DataError("FB402", "cannot be read: there is no such file", where=where)
    found = reader(path)
    values, names = _columns(found, declared, where)
    rate = _rate(found.times, declared, where)
    look_ahead = declared.look_ahead
    if found.times is not None:
        # A row's time is when it was said; what it stands after the end of its frame is look-ahead.
        # A row before that end names the frame's start or middle, which shortens no look-ahead.
        late = float(found.times[0]) - float(1 / rate)
        look_ahead = round(look_ahead + max(0.0, late), 6)
    try:
        return make_trace(values, columns=names, rate=rate, look_ahead=look_ahead)
    except DataError as error:
        raise DataError(error.code, error.what, where=where, hint=error.hint) from None


def _columns(
    found: _Array, declared: Declared, where: Place
) -> tuple[NDArray[np.float64], list[str]]:
    given = declared.columns
    mapping = dict(_known(found.names))
    if given is not None and all("=" in g for g in given):
        mapping |= dict(g.split("=", 1) for g in given)
    elif given is not None:
        if len(given) != found.values.shape[1]:
            raise DataError(
                "FB531",
                f"{counted(found.values.shape[1], 'column')}, {counted(len(given), 'name')} given",
                where=where,
            )
        mapping = {str(i): g for i, g in enumerate(given)}
        found = found._replace(names=[str(i) for i in range(len(given))])
    keep = [i for i, n in enumerate(found.names) if n in mapping]
    if not keep:
        raise DataError(
            "FB531",
            f"no column is known: {', '.join(found.names[:8])}",
            where=where,
            hint="name each one: --columns NAME=signal:role, for example --columns p1=p_now:user",
        )
    names = [mapping[found.names[i]] for i in keep]
    if declared.swap:
        other = {Role.USER.value: Role.SYSTEM.value, Role.SYSTEM.value: Role.USER.value}
        pairs = [n.partition(":") for n in names]
        names = [f"{signal}:{other.get(role, role)}" for signal, _, role in pairs]
    return found.values[:, keep], names


def _known(names: Sequence[str]) -> dict[str, str]:
    """Return the columns whose meaning their names tell."""
    out = {}
    for name in names:
        if name in DUALTURN:
            out[name] = DUALTURN[name]
        elif name.startswith("fvad_ch") and name[-2:] in {f"_{k}" for k in range(4)}:
            role = Role.USER if name[7] == "0" else Role.SYSTEM
            out[name] = column(FVAD[int(name[-1])], role)
        else:
            head = name.partition("(")
            channel = head[2][:1]
            if head[0] in ("p_now", "p_future") and channel in ("0", "1"):
                out[name] = column(head[0], Role.USER if channel == "0" else Role.SYSTEM)
            elif ":" in name:
                out[name] = name
    return out


def _rate(times: NDArray[np.float64] | None, declared: Declared, where: Place) -> Fraction:
    if times is None:
        if declared.rate is None:
            raise DataError("FB533", "the file has no times: declare the frame rate", where=where)
        return declared.rate
    if len(times) < 2:
        raise DataError("FB533", "fewer than two rows", where=where)
    step = (float(times[-1]) - float(times[0])) / (len(times) - 1)
    if not step > 0:
        raise DataError("FB533", "times do not rise", where=where)
    rate = declared.rate or Fraction(1 / step).limit_denominator(100)
    if not rate:
        raise DataError(
            "FB533", f"rows stand {step:g} s apart: declare the frame rate", where=where
        )
    expected = float(times[0]) + np.arange(len(times)) / float(rate)
    off = np.abs(times - expected) > JITTER / float(rate)
    if off.any():
        row = int(np.argmax(off))
        raise DataError(
            "FB533",
            f"row {row} stands at {times[row]:g} s, at {rate} frames a second it would be at "
            f"{expected[row]:.3f} s",
            where=where,
        )
    return rate


def _text(path: Path) -> _Array:
    where = Place(str(path))
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.reader(lines)
            head = next(rows, [])
            if len(head) < 2 or not head[0].startswith("time"):
                raise DataError(
                    "FB531", "the first column is not a time", where=Place(str(path), 1)
                )
            values = []
            for row in rows:
                at = Place(str(path), rows.line_num)
                if len(row) != len(head):
                    raise DataError(
                        "FB531", f"{counted(len(row), 'cell')}, not {len(head)}", where=at
                    )
                try:
                    values.append([number_of(cell) for cell in row])
                except ValueError:
                    raise DataError("FB531", f"not numbers: {row}"[:120], where=at) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError("FB402", f"cannot be read: {error}", where=where) from None
    if not values:
        raise DataError("FB531", "there is no row", where=where)
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        line = 2 + int(np.argmax(~np.isfinite(array).all(axis=1)))
        raise DataError("FB531", "a score is not finite", where=Place(str(path), line))
    return _Array(array[:, 1:], head[1:], array[:, 0])


def _npy(path: Path) -> _Array:
    held = _loaded(path)
    if isinstance(held, dict):
        raise DataError("FB531", "an archive of arrays; name it .npz", where=Place(str(path)))
    return _plain(held, path)


def _npz(path: Path) -> _Array:
    held = _loaded(path)
    if "values" not in held or len(held) > 2:
        return _stacked(held, path)
    array = _plain(held["values"], path)
    if "columns" in held:
        names = [str(n) for n in held["columns"].ravel().tolist()]
        if len(names) != len(array.names):
            raise DataError(
                "FB531",
                f"{counted(len(array.names), 'column')} of scores, {counted(len(names), 'name')}",
                where=Place(str(path)),
            )
        array = array._replace(names=names)
    return array


def _loaded(path: Path) -> Any:
    """Return an array, or all arrays of an archive by name; pickled objects are never loaded."""
    try:
        held = np.load(path, allow_pickle=False)
        return {n: held[n] for n in held.files} if isinstance(held, np.lib.npyio.NpzFile) else held
    except Exception as error:  # a damaged header or archive raises almost anything
        what = "pickled objects, which are never loaded" if "pickle" in str(error) else str(error)
        raise DataError("FB531", f"not an array file ({what})", where=Place(str(path))) from None


def _plain(values: NDArray[np.generic], path: Path) -> _Array:
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise DataError(
            "FB531", f"shape {values.shape} of {values.dtype}, not (frames, columns) of numbers",
            where=Place(str(path)),
        )  # fmt: skip
    array = values.astype(np.float64)
    return _Array(array, [str(i) for i in range(array.shape[1])], None)


def _stacked(parts: Mapping[str, NDArray[np.generic]], path: Path) -> _Array:
    """Return columns from arrays by name; two-dimensional ones give several."""
    flat: dict[str, NDArray[np.float64]] = {}
    for name, values in parts.items():
        if values.dtype.kind not in "fiub" or values.ndim not in (1, 2):
            what = f"'{name}' has shape {values.shape} of {values.dtype}, not numbers per frame"
            raise DataError("FB531", what, where=Place(str(path)))
        array = values.astype(np.float64)
        if array.ndim == 2:
            flat |= {f"{name}_{k}": array[:, k] for k in range(array.shape[1])}
        else:
            flat[name] = array
    times = flat.pop("time_sec", None)
    if not flat:
        raise DataError("FB531", "no column of numbers", where=Place(str(path)))
    lengths = {len(v) for v in (*flat.values(), *([] if times is None else [times]))}
    if len(lengths) != 1:
        raise DataError("FB531", f"columns of lengths {sorted(lengths)}", where=Place(str(path)))
    return _Array(np.stack(list(flat.values()), axis=1), list(flat), times)


def _parquet(path: Path) -> _Array:
    with reading(path, code="FB531", what="not Parquet") as connection:
        found = connection.execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchnumpy()
    parts = {}
    for name, values in found.items():
        if np.ma.is_masked(values):
            raise DataError("FB531", f"column '{name}' has empty cells", where=Place(str(path)))
        array = np.asarray(values)
        if array.dtype.kind in "fiub":
            parts[name] = array.astype(np.float64)
    return _stacked(parts, path)
