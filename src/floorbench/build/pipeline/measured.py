"""What a finished build has measured, read from its folder: for a plan of a larger one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from floorbench import codec
from floorbench.audio.decode import probe
from floorbench.build.pipeline.record import BUILD_FILE, LINEAGE_FILE, BuildRecord, StageReport
from floorbench.errors import DataError, Place
from floorbench.run.due import LARGEST, MOST
from floorbench.run.factors import folder_bytes
from floorbench.run.store import EDITED, LONGEST, out_of_range

T = TypeVar("T")
_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]

SCHEMA = 1
AUDIO = (".flac", ".wav", ".opus", ".ogg", ".mp3", ".sph")
GROWING = ("results", "sounds", "said", "heard")
"""Folders of a cache that grow with a build: results, sounds, voices' lines, recognisers' words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What a model read and wrote for the finished items, and in how many calls."""

    calls: int
    read: int
    written: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BuildFactors:
    """Figures of a finished build.

    Parameters
    ----------
    record : BuildRecord
    sounds : float64 array (n,)
        Seconds of every sound file of the dataset.
    bytes : int
        Size of the dataset.
    stored : int or None
        Bytes of what grows in the cache; ``None`` without the cache.
    tokens : mapping of str to mapping of str to Tokens
        By stage, then by model.
    """

    record: BuildRecord
    sounds: NDArray[np.float64]
    bytes: int
    stored: int | None
    tokens: Mapping[str, Mapping[str, Tokens]] = field(default_factory=dict)


def measure_build(path: Path, *, cache: Path | None = None) -> BuildFactors:
    """Read the factors of a build.

    Parameters
    ----------
    path : Path
        The dataset that it made.
    cache : Path or None
        Its cache, for the space that this takes; one that this build alone has used.

    Raises
    ------
    DataError
        ``FB563`` when nothing came through, a stage was not measured, a number is one that no
        build has, or the cache is none; ``FB201`` or ``FB402``
        for a damaged or missing ``build.json``, ``FB201`` for a damaged lineage.
    """
    where = Place(str(path))
    record = codec.read_json(path / BUILD_FILE, BuildRecord)
    wrong = next(_wrong(record), None)
    if wrong is not None:
        raise DataError("FB563", wrong, where=Place(str(path / BUILD_FILE)), hint=EDITED)
    if cache is not None and not any((cache / name).is_dir() for name in GROWING):
        what = "is no cache folder of a build"
        raise DataError(
            "FB563", what, where=Place(str(cache)), hint="Give --cache as the build had it."
        )
    if not record.finished or not record.seeds or not record.stages:
        raise DataError("FB563", "no item came through this build", where=where)
    empty = [s.stage for s in record.stages if not s.entered or not s.left]
    if empty:
        raise DataError("FB563", f"nothing went through the stage '{empty[0]}'", where=where)
    files = sorted(p for p in path.rglob("*") if p.suffix.lower() in AUDIO)
    sounds = []
    for file in files:
        info = probe(file)
        sounds.append(info.frames / info.rate)
    return BuildFactors(
        record=record,
        sounds=np.array(sounds, dtype=np.float64),
        bytes=folder_bytes(path),
        stored=None if cache is None else sum(folder_bytes(cache / n) for n in GROWING),
        tokens=_tokens(path),
    )


def _wrong(record: BuildRecord) -> Iterator[str]:
    """Say which numbers no build can have."""
    if record.schema != SCHEMA:
        yield f"schema {record.schema} is not known here, {SCHEMA} is"
    yield from out_of_range([("workers", record.workers)], 0, MOST)
    yield from out_of_range([("took", record.took)], 0, LONGEST)
    counts = {"seeds": record.seeds, "finished": record.finished, "failed": record.failed}
    yield from out_of_range(counts.items(), 0, LARGEST)
    for n, s in enumerate(record.stages):
        at = f"stages[{n}]."
        counts = {at + name: getattr(s, name) for name in ("entered", "left", "calls", "cached")}
        yield from out_of_range(counts.items(), 0, LARGEST)
        times = {at + name: getattr(s, name) for name in ("wall", "cpu", "spread")}
        yield from out_of_range(times.items(), 0, LONGEST)


def sees_all(stage: StageReport) -> bool:
    """Tell whether a stage saw all its items at once: it was called once for several."""
    return stage.calls < stage.entered


def on_gpu(stage: StageReport) -> bool:
    """Tell whether a stage's settings name a CUDA device."""
    return any(
        name == "device" and isinstance(value, str) and value.startswith("cuda")
        for name, value in _flat(stage.settings)
    )


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _flat(one, key)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _flat(one, name)
    else:
        yield name, value


class _Spent(msgspec.Struct):
    """Tokens of a call, under the names of one kind of model."""

    prompt: _Count | None = None
    generated: _Count | None = None


class _Note(msgspec.Struct):
    """A line that a stage left; other keys are the stage's own."""

    kind: Any = None
    model: Any = None
    prompt_tokens: _Count | None = None
    generated_tokens: _Count | None = None
    tokens: _Spent | None = None


class _Step(msgspec.Struct):
    key: str
    item: str
    stage: str
    notes: list[dict[str, Any]]


class _Item(msgspec.Struct):
    steps: list[_Step]


def _lineage(path: Path) -> Iterator[_Item]:
    file = path / LINEAGE_FILE
    if file.is_file():
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                where = Place(str(file), number)
                yield _typed(codec.parse(line, where=where), _Item, where)


def _typed(plain: Any, kind: type[T], where: Place) -> T:
    """Take what a plan needs out of plain values; other keys may stand beside it."""
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise DataError("FB201", str(error), where=where) from None


def _tokens(path: Path) -> dict[str, dict[str, Tokens]]:
    """Sum the tokens of the finished items' calls; a result that several items share counts once.

    Failed attempts are not in the lineage of what was finished: the plan scales by calls.
    """
    seen: set[tuple[str, str]] = set()
    out: dict[str, dict[str, Tokens]] = {}
    for number, item in enumerate(_lineage(path), start=1):
        for step in item.steps:
            once = (step.key, step.item)
            if once in seen:
                continue
            seen.add(once)
            for plain in step.notes:
                if plain.get("kind") != "call":
                    continue
                note = _typed(plain, _Note, Place(str(path / LINEAGE_FILE), number))
                spent = note.tokens or _Spent()
                read = spent.prompt if note.prompt_tokens is None else note.prompt_tokens
                wrote = spent.generated if note.generated_tokens is None else note.generated_tokens
                models = out.setdefault(step.stage, {})
                had = models.get(str(note.model), Tokens(calls=0, read=0, written=0))
                models[str(note.model)] = Tokens(
                    calls=had.calls + 1,
                    read=had.read + (read or 0),
                    written=had.written + (wrote or 0),
                )
    return out
