"""Reader of stored frame rows (Parquet): one session a row, labels as lists at 12.5 Hz.

Which columns hold what stands in a mapping file (JSON); :data:`COLUMNS` is the default and the
documented example. Codes and model features that such files also carry are never read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, Literal

from floorbench import codec
from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Role
from floorbench.core.words import counted
from floorbench.datasets.layout import files_below
from floorbench.datasets.parquet import reading
from floorbench.datasets.two_channel import TwoChannelSource
from floorbench.datasets.two_channel_session import ROLES, TwoChannelSession
from floorbench.datasets.two_channel_splits import Splits
from floorbench.errors import DataError, Place, UsageError, did_you_mean
from floorbench.events.dualturn import RATE
from floorbench.events.spans import Bools, Floats, Ints
from floorbench.events.traces import spans_of

COLUMNS: Mapping[str, str] = {
    "session": "session_id",
    "dataset": "dataset",
    "seconds": "duration_s",
    "frames": "num_frames",
    "vad": "vad_ch{channel}",
    "eot": "eot_ch{channel}",
    "hold": "hold_ch{channel}",
    "bot": "bot_ch{channel}",
    "bc": "bc_ch{channel}",
    "fvad": "fvad_ch{channel}",
}
"""Meaning to column name; ``{channel}`` is 0 or 1."""
NEEDED = ("session", "frames", "vad")
LABELS = ("eot", "hold", "bot", "bc")


class FrameRowsSource(TwoChannelSource):
    """Sessions stored as rows of frame labels, without audio and words.

    Parameters
    ----------
    columns : str or None
        JSON file that maps meanings to column names, for files that name them otherwise.
    fvad : {'disjoint', 'cumulative'}
        Whether the four windows of stored future activity follow each other or all start at the
        next frame; what was published does not say, so it is a parameter. It decides only how
        stored values are compared with ours.
    user : int
        Channel of the user, 0 or 1.

    Raises
    ------
    DataError
        ``FB255`` for a missing column, a list of the wrong length, or a row whose duration does
        not fit 12.5 frames a second.
    """

    reader: ClassVar[str] = "dualturn-rows"

    def __init__(
        self,
        path: str | Path,
        *,
        columns: str | None = None,
        fvad: Literal["disjoint", "cumulative"] = "disjoint",
        user: int = 0,
        **shared: Any,
    ) -> None:
        if fvad not in ("disjoint", "cumulative"):
            raise UsageError("FB103", f"fvad='{fvad}' is not disjoint or cumulative")
        if user not in (0, 1):
            raise UsageError("FB103", f"user={user!r} is not channel 0 or 1")
        self._columns_given, self.fvad, self._user = columns, fvad, user
        self.columns = dict(COLUMNS) if columns is None else _mapping(Path(columns))
        super().__init__(path, **shared)

    @classmethod
    def detect(cls, path: Path) -> bool:
        """Tell whether Parquet files with the default columns lie here."""
        files = _files(path)
        if not files:
            return False
        try:
            there = _header(files[0])
        except DataError:
            return False
        return {"session_id", "vad_ch0", "vad_ch1"} <= set(there)

    def _options(self) -> Mapping[str, JsonValue]:
        return {"columns": self._columns_given, "fvad": self.fvad, "user": self._user}

    def _find(self) -> Mapping[str, Path]:
        found: dict[str, Path] = {}
        for path in _files(self.path):
            self._check_header(path)
            for number, (value,) in enumerate(_query(path, [self.columns["session"]]), start=1):
                session_id = "" if value is None else str(value)
                if not session_id:
                    raise DataError(
                        "FB255", "a row without a session id", where=Place(str(path), number)
                    )
                if session_id in found:
                    raise DataError(
                        "FB255", f"session '{session_id}' stands twice", where=Place(str(path))
                    )
                found[session_id] = path
        return found

    def _own_splits(self) -> Splits | None:
        folder = self.path if self.path.is_dir() else self.path.parent
        if (folder / "splits.json").is_file():
            return Splits.read(folder / "splits.json")
        names = {"train": "train", "val": "validation", "validation": "validation", "test": "test"}
        by_id = {i: names.get(p.stem.split("-")[0]) for i, p in self._found.items()}
        if all(by_id.values()):
            return Splits(by_id={i: s for i, s in by_id.items() if s is not None})
        return None

    def sessions(self, split: str | None = None) -> Iterator[TwoChannelSession]:
        """Yield sessions in one pass over each file, a few rows in memory at a time."""
        for path in dict.fromkeys(self._found.values()):
            there = _header(path)
            names = self._wanted(there)
            for row in _query(path, list(names.values())):
                session = self._row(dict(zip(names, row, strict=True)), path)
                if split is None or self.splits.of(session.id) == split:
                    yield session

    def _load(self, session_id: str, found: Path) -> TwoChannelSession:
        names = self._wanted(_header(found))
        rows = _query(found, list(names.values()), (self.columns["session"], session_id))
        return self._row(dict(zip(names, next(rows), strict=True)), found)

    def _wanted(self, there: list[str]) -> dict[str, str]:
        """Return meaning (with channel) to column for everything that is there."""
        out = {}
        for meaning, template in self.columns.items():
            for channel in (0, 1) if "{channel}" in template else ("",):
                name = template.format(channel=channel)
                if name in there:
                    out[f"{meaning}{channel}"] = name
        return out

    def _check_header(self, path: Path) -> None:
        there = _header(path)
        for meaning in NEEDED:
            template = self.columns[meaning]
            for channel in (0, 1):
                name = template.format(channel=channel)
                if name not in there:
                    near = did_you_mean(name, there)
                    raise DataError(
                        "FB255",
                        f"no column '{name}' ({meaning})",
                        where=Place(str(path)),
                        hint=f"'{near}' looks like it; name it in a mapping file" if near else None,
                    )

    def _row(self, row: Mapping[str, Any], path: Path) -> TwoChannelSession:
        session_id = str(row["session"])
        where = Place(str(path), item=session_id)
        frames, seconds = row["frames"], row.get("seconds")
        if not isinstance(frames, int) or frames < 0:
            raise DataError("FB255", f"num_frames is {frames!r}, not a count", where=where)
        if seconds is not None:
            if not isinstance(seconds, int | float | Decimal) or not isfinite(seconds):
                raise DataError("FB255", f"duration_s is {seconds!r}, not a number", where=where)
            if abs(float(seconds) * float(RATE) - frames) > float(RATE):
                raise DataError(
                    "FB255",
                    f"{counted(frames, 'frame is', 'frames are')} not {seconds:g} "
                    f"s at {float(RATE):g} frames a second",
                    where=where,
                )
        channel = {Role.USER: self._user, Role.SYSTEM: 1 - self._user}
        stored: dict[str, dict[Role, Bools]] = {}
        for label in ("vad", *LABELS):
            there = [role for role in ROLES if f"{label}{channel[role]}" in row]
            if len(there) == 1:
                raise DataError("FB255", f"'{label}' of one channel only", where=where)
            for role in there:
                values = row[f"{label}{channel[role]}"]
                stored.setdefault(label, {})[role] = _track(values, frames, label, where)
        future = {
            role: _windows(row[f"fvad{channel[role]}"], frames, where)
            for role in ROLES
            if row.get(f"fvad{channel[role]}") is not None
        }
        spans: dict[Role, Ints] = {r: spans_of(stored["vad"][r], rate=RATE) for r in ROLES}
        return TwoChannelSession(
            id=session_id,
            speech=spans,
            end=frames * 80_000,
            source="frames",
            language=self.language,
            stored=stored,
            stored_fvad=future,
        )


def _track(values: Any, frames: int, label: str, where: Place) -> Bools:
    import numpy as np

    track = np.asarray(values)
    if track.shape != (frames,):
        raise DataError(
            "FB255", f"'{label}' has shape {track.shape}, num_frames is {frames}", where=where
        )
    if (frames and track.dtype.kind not in "biu") or not np.isin(track, (0, 1)).all():
        raise DataError("FB255", f"'{label}' holds values other than 0 and 1", where=where)
    return track.astype(np.bool_)


def _windows(values: Any, frames: int, where: Place) -> Floats:
    import numpy as np

    flat = np.asarray(values)
    if flat.size != 4 * frames or (frames and flat.dtype.kind not in "biuf"):
        raise DataError(
            "FB255",
            f"'fvad' has {counted(flat.size, 'value')}, not 4 x {counted(frames, 'number')}",
            where=where,
        )
    return flat.astype(np.float64).reshape(frames, 4)


def _mapping(path: Path) -> dict[str, str]:
    where = Place(str(path))
    plain = codec.parse(codec.read_bytes(path), where=where)
    if not isinstance(plain, dict) or not all(isinstance(v, str) for v in plain.values()):
        raise DataError("FB255", "a mapping file is an object of names", where=where)
    for key in plain:
        if key not in COLUMNS:
            near = did_you_mean(key, COLUMNS)
            raise DataError(
                "FB255",
                f"'{key}' is no meaning of a column",
                where=where,
                hint=f"did you mean '{near}'?" if near else f"known: {', '.join(COLUMNS)}",
            )
        if set(plain[key].replace("{channel}", "")) & set("{}"):
            what = f"'{plain[key][:80]}' has braces other than {{channel}}"
            raise DataError("FB255", what, where=where)
        of_channel = "{channel}" in COLUMNS[key]
        if ("{channel}" in plain[key]) != of_channel:
            what = f"'{key}' is one column {'per channel' if of_channel else 'for both channels'}"
            hint = f"like '{COLUMNS[key]}'"
            raise DataError("FB255", f"{what}, '{plain[key][:80]}' is not", where=where, hint=hint)
    return {**COLUMNS, **plain}


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if path.suffix == ".parquet" else []
    return [p for p in files_below(path, (".parquet",)) if not p.is_dir()]


def _header(path: Path) -> list[str]:
    with reading(path, code="FB255", what="not Parquet") as connection:
        cursor = connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [str(path)])
        return [column[0] for column in cursor.description or ()]


def _query(
    path: Path, names: list[str], where: tuple[str, str] | None = None
) -> Iterator[tuple[Any, ...]]:
    only = f" WHERE {_quoted(where[0])} = ?" if where is not None else ""
    given = [str(path)] if where is None else [str(path), where[1]]
    with reading(path, code="FB255", what="a damaged file") as connection:
        # Names come from the file's own header.
        text = f"SELECT {', '.join(map(_quoted, names))} FROM read_parquet(?){only}"  # noqa: S608
        cursor = connection.execute(text, given)
        while block := cursor.fetchmany(4):
            yield from block


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
