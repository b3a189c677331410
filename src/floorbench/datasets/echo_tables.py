"""The tables of a matched-contrast set: samples and pairs, in our columns or in mapped ones.

Our own form is two JSON-lines files named by ``manifest.json``. A release with other column names
is read through a mapping file, ``echo_mapping.json`` beside the tables (see
``docs/howto/stream-system.md``): nothing has to be rewritten.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.core.numbers import number_of
from floorbench.core.time import Seconds
from floorbench.datasets.parquet import reading
from floorbench.errors import DataError, Place, did_you_mean

ROLES = ("interruption", "backchannel", "off_talk")
ACTIONS = ("yield", "keep")
ACTION_OF = {"interruption": "yield", "backchannel": "keep", "off_talk": "keep"}
CONTRASTS = {
    ("interruption", "backchannel"): "I-B",
    ("interruption", "off_talk"): "I-O",
    ("backchannel", "off_talk"): "B-O",
}
FORMAT = "floorbench-echo-1"
MAPPING = "echo_mapping.json"
MAPPING_FORMAT = "floorbench-echo-mapping-1"
SYSTEM_CHANNELS = ("planned", "silent_from_onset")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """A turn of the history."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioRow:
    """Where a role's audio lies: a path below the root, and a channel in a shared file."""

    path: str
    channel: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsRow:
    """Media times in seconds.

    ``system_end`` is the end of the assistant's *planned* utterance; ``insertion_start`` is the
    acoustic onset.
    """

    insertion_start: Seconds
    insertion_end: Seconds
    system_end: Seconds
    system_start: Seconds = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WordRow:
    """A word of the insertion and its media times."""

    text: str
    start: Seconds
    end: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningRow:
    """How the listening version of a sample differs from what systems get.

    The user track is raised by ``emphasis_db`` for ``emphasis_s`` from the onset on; the system
    track fades to silence over ``fade_s``, beginning ``reaction_s`` after the onset.
    """

    emphasis_db: float
    emphasis_s: Seconds
    reaction_s: Seconds
    fade_s: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow:
    """One line of the samples table."""

    sample_id: str
    group_id: str
    language: str
    role: str
    insertion: str
    events: EventsRow
    history: tuple[TurnRow, ...] = ()
    spoken_prefix: str | None = None
    audio: Mapping[str, AudioRow] = field(default_factory=dict)
    words: tuple[WordRow, ...] = ()
    listening: ListeningRow | None = None
    action: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """One line of the pairs table."""

    pair_id: str
    group_id: str
    sample_a: str
    sample_b: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMapping:
    """What a mapping file says about somebody else's tables.

    Parameters
    ----------
    samples, pairs : str
        Files (``.jsonl``, ``.json``, ``.csv``, ``.tsv``, ``.parquet``) beside the mapping.
    columns, pair_columns : mapping
        Our field to their column. Fields: ``sample_id``, ``group_id``, ``role``, ``insertion``,
        ``insertion_start``, ``insertion_end``, ``system_end``; optional ``system_start``,
        ``language``, ``action``, ``spoken_prefix``, ``history``, ``user_audio``,
        ``system_audio``. Pairs: ``pair_id``, ``group_id``, ``sample_a``, ``sample_b``.
    roles, actions, speakers : mapping
        Their value to ours.
    channels : mapping of str to int
        Channel index per role, where one file holds both.
    language : str or None
        For a table without a language column.
    system_channel : str
        ``planned``: the system's track is the unmodified utterance in all roles.
        ``silent_from_onset``: the release shows how the assistant reacted, so nothing of it is
        given from the onset on, in any role.
    times : float
        Seconds per unit of their times (0.001 for milliseconds).
    """

    name: str
    samples: str
    pairs: str
    columns: Mapping[str, str]
    pair_columns: Mapping[str, str]
    format: str = MAPPING_FORMAT
    version: str = "unknown"
    licence: str = "unknown"
    roles: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, str] = field(default_factory=dict)
    speakers: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, int] = field(default_factory=dict)
    history: Mapping[str, str] = field(default_factory=lambda: {"role": "role", "text": "text"})
    language: str | None = None
    system_channel: str = "silent_from_onset"
    times: float = 1.0


_FIELDS = {
    "sample_id": True, "group_id": True, "role": True, "insertion": True,
    "insertion_start": True, "insertion_end": True, "system_end": True, "system_start": False,
    "language": False, "action": False, "spoken_prefix": False, "history": False,
    "user_audio": False, "system_audio": False,
}  # fmt: skip
_PAIR_FIELDS = dict.fromkeys(("pair_id", "group_id", "sample_a", "sample_b"), True)
_TIMES = ("system_start", "insertion_start", "insertion_end", "system_end")


def read_mapping(path: Path) -> ColumnMapping:
    """Read and check a mapping file.

    Raises
    ------
    DataError
        ``FB265`` for a missing or unknown field, or a value that is not one of ours.
    """
    mapping = codec.read_json(path, ColumnMapping)
    where = Place(str(path))
    if mapping.format != MAPPING_FORMAT:
        raise DataError(
            "FB265", f"format '{mapping.format}' is not '{MAPPING_FORMAT}'", where=where
        )
    if not mapping.times > 0:
        raise DataError("FB265", f"times {mapping.times:g} is no length of a unit", where=where)
    if set(mapping.history) != {"role", "text"}:
        raise DataError("FB265", "history names two keys of a turn, 'role' and 'text'", where=where)
    for given, known in ((mapping.columns, _FIELDS), (mapping.pair_columns, _PAIR_FIELDS)):
        for name in given:
            if name not in known:
                raise DataError(
                    "FB265", f"there is no field '{name}'", where=where, hint=_near(name, known)
                )
        for name, needed in known.items():
            if needed and name not in given:
                raise DataError("FB265", f"no column is named for '{name}'", where=where)
    if "language" not in mapping.columns and mapping.language is None:
        raise DataError("FB265", "neither a column nor a value for 'language'", where=where)
    for values, known_values in (
        (mapping.roles, ROLES),
        (mapping.actions, ACTIONS),
        (mapping.speakers, ("user", "system")),
    ):
        for theirs, ours in values.items():
            if ours not in known_values:
                raise DataError(
                    "FB265",
                    f"'{theirs}' is mapped to '{ours}', not one of {', '.join(known_values)}",
                    where=where,
                )
    if mapping.system_channel not in SYSTEM_CHANNELS:
        raise DataError(
            "FB265",
            f"system_channel '{mapping.system_channel}' is not one of {', '.join(SYSTEM_CHANNELS)}",
            where=where,
        )
    return mapping


def read_samples(path: Path) -> list[tuple[SampleRow, Place]]:
    """Read our own samples table."""
    return [(codec.convert(plain, SampleRow, where=at), at) for plain, at in _lines(path)]


def read_pairs(path: Path) -> list[tuple[PairRow, Place]]:
    """Read our own pairs table."""
    return [(codec.convert(plain, PairRow, where=at), at) for plain, at in _lines(path)]


def map_samples(root: Path, mapping: ColumnMapping) -> list[tuple[SampleRow, Place]]:
    """Read somebody else's samples table.

    Raises
    ------
    DataError
        ``FB261`` for a missing column or a time that is no number, ``FB264`` for a role or action
        that the mapping does not know.
    """
    out = []
    for row, at in _table(root / mapping.samples):
        got = {name: _column(row, column, at) for name, column in mapping.columns.items()}
        _filled(got, _FIELDS, mapping.columns, at)
        role = mapping.roles.get(str(got["role"]), got["role"])
        action = got.get("action")
        if action is not None:
            action = mapping.actions.get(str(action), action)
        plain: dict[str, Any] = {
            "sample_id": str(got["sample_id"]),
            "group_id": str(got["group_id"]),
            "language": str(got.get("language", mapping.language)),
            "role": role,
            "insertion": got["insertion"],
            "action": action,
            "spoken_prefix": got.get("spoken_prefix"),
            "events": {
                name: _seconds(got[name], mapping.times, name, at) for name in _TIMES if name in got
            },
            "history": _history(got.get("history"), mapping, at),
            "audio": {
                role_: {"path": got[f"{role_}_audio"], "channel": mapping.channels.get(role_)}
                for role_ in ("user", "system")
                if got.get(f"{role_}_audio") is not None
            },
        }
        out.append((codec.convert(plain, SampleRow, where=at), at))
    return out


def map_pairs(root: Path, mapping: ColumnMapping) -> list[tuple[PairRow, Place]]:
    """Read somebody else's pairs table."""
    out = []
    for row, at in _table(root / mapping.pairs):
        got = {name: _column(row, column, at) for name, column in mapping.pair_columns.items()}
        _filled(got, _PAIR_FIELDS, mapping.pair_columns, at)
        plain = {name: str(value) for name, value in got.items()}
        out.append((codec.convert(plain, PairRow, where=at), at))
    return out


def _lines(path: Path) -> Iterator[tuple[Any, Place]]:
    for number, line in enumerate(codec.read_bytes(path).splitlines(), start=1):
        at = Place(str(path), number)
        if line.strip():
            yield codec.parse(line, where=at), at


def _table(path: Path) -> Iterator[tuple[Mapping[str, Any], Place]]:
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        rows = _lines(path)
    elif suffix == ".json":
        whole = codec.parse(codec.read_bytes(path), where=Place(str(path)))
        if not isinstance(whole, list):
            raise DataError("FB261", "not a list of rows", where=Place(str(path)))
        rows = ((row, Place(str(path), None, f"row {i}")) for i, row in enumerate(whole, start=1))
    elif suffix in (".csv", ".tsv"):
        try:
            text = codec.read_bytes(path).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            what = f"not UTF-8 text ({error.reason} at byte {error.start})"
            raise DataError("FB261", what, where=Place(str(path))) from None
        rows = _cells(text, "\t" if suffix == ".tsv" else ",", path)
    elif suffix == ".parquet":
        rows = _parquet(path)
    else:
        raise DataError(
            "FB261", f"'{path.suffix}' is no known kind of table", where=Place(str(path))
        )
    for row, at in rows:
        if not isinstance(row, Mapping):
            raise DataError("FB261", "a row is not an object", where=at)
        yield row, at


def _cells(text: str, delimiter: str, path: Path) -> Iterator[tuple[Mapping[str, Any], Place]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = reader.fieldnames or []
        for name in names:
            if names.count(name) > 1:
                raise DataError("FB261", f"column '{name}' stands twice", where=Place(str(path), 1))
        for row in reader:
            at = Place(str(path), reader.line_num)
            if None in row:
                raise DataError("FB261", "the row has more cells than columns", where=at)
            short = next((name for name, cell in row.items() if cell is None), None)
            if short is not None:
                raise DataError("FB261", f"column '{short}' has no value: a short row", where=at)
            yield row, at
    except csv.Error as error:
        at = Place(str(path), reader.line_num)
        raise DataError("FB261", f"not readable as a table ({error})", where=at) from None


def _parquet(path: Path) -> Iterator[tuple[Mapping[str, Any], Place]]:
    codec.read_bytes(path)  # says why, if it cannot be read
    with reading(path, code="FB261", what="not a Parquet table") as connection:
        found = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
        names = [d[0] for d in found.description or ()]
        rows = found.fetchall()
    for number, values in enumerate(rows, start=1):
        yield dict(zip(names, values, strict=True)), Place(str(path), None, f"row {number}")


def _column(row: Mapping[str, Any], column: str, at: Place) -> Any:
    if column not in row:
        raise DataError(
            "FB261", f"there is no column '{column}'", where=at, hint=_near(column, row)
        )
    return row[column]


def _filled(
    got: Mapping[str, Any], needed: Mapping[str, bool], columns: Mapping[str, str], at: Place
) -> None:
    """Refuse a row without a value that it needs: a line cut short, a null."""
    for name, value in got.items():
        if needed[name] and value is None:
            raise DataError("FB261", f"column '{columns[name]}' has no value", where=at)


def _seconds(value: Any, unit: float, name: str, at: Place) -> float:
    try:
        found = round((number_of(value) if isinstance(value, str) else float(value)) * unit, 9)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise DataError("FB261", f"{name} {str(value)[:80]!r} is not a number", where=at)
    return found


def _history(value: Any, mapping: ColumnMapping, at: Place) -> list[dict[str, Any]]:
    if value is None or value == "":
        return []
    turns = codec.parse(value, where=at) if isinstance(value, str) else value
    if not isinstance(turns, list | tuple):
        raise DataError("FB261", "the history is not a list of turns", where=at)
    out = []
    for turn in turns:
        if not isinstance(turn, Mapping):
            raise DataError("FB261", "a turn of the history is not an object", where=at)
        speaker = str(_column(turn, mapping.history["role"], at))
        text = _column(turn, mapping.history["text"], at)
        out.append({"role": mapping.speakers.get(speaker, speaker), "text": text})
    return out


def _near(name: str, known: Mapping[str, Any]) -> str:
    near = did_you_mean(name, known)
    return f"did you mean '{near}'?" if near else f"known: {', '.join(known)}"
