"""Opening a dataset by path, by locator or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from floorbench.audio.addresses import is_url, shown
from floorbench.catalog import DATASETS
from floorbench.core.ports import DatasetSource
from floorbench.core.sample import JsonValue
from floorbench.datasets.filtering import FilteredSource
from floorbench.errors import DataError, Place, UsageError, did_you_mean

STARTER = Path(__file__).parent / "starter"
_STARTER_PREFIX = "starter:"


def open_dataset(
    where: str | Path | Mapping[str, JsonValue],
    *,
    reader: str | None = None,
    only: Sequence[str] | str = (),
    **options: Any,
) -> DatasetSource:
    """Open a dataset.

    Parameters
    ----------
    where : str, Path or mapping
        A path, ``starter:NAME`` for a set that ships with floorbench, the URL of a packed dataset,
        or what ``locator()`` of an open dataset returned.
    reader : str or None
        Name of the reader; found by looking at the files when ``None``.
    only : sequence of str, or str
        Conditions on samples (see :mod:`floorbench.datasets.filtering`); all by default.
    **options
        Keyword arguments of the reader.

    Raises
    ------
    UsageError
        ``FB101`` for an unknown reader or starter set.
    DataError
        ``FB211`` when the path does not exist or no reader, or more than one, knows it.
    """
    if isinstance(where, Mapping) and "only" in where:
        where = dict(where)
        only = only or where.pop("only")
    if only:
        whole = open_dataset(where, reader=reader, **options)
        return FilteredSource(whole, [only] if isinstance(only, str) else only)
    if isinstance(where, Mapping):
        known = dict(where)
        name = known.pop("reader", None)
        path = known.pop("path", None)
        if not isinstance(name, str) or not isinstance(path, str):
            raise DataError("FB211", "a locator needs 'reader' and 'path'")
        if "cache" in known:  # whoever opens says where to write, not who made the file
            raise DataError("FB211", "a locator names no cache folder", where=Place(path))
        if path.startswith(_STARTER_PREFIX):
            return starter(path.removeprefix(_STARTER_PREFIX), **{**known, **options})
        try:
            return open_dataset(path, reader=name, **{**known, **options})
        except (TypeError, AttributeError) as error:
            what = f"the reader '{name}' cannot use this locator ({error})"
            raise DataError("FB211", what, where=Place(path)) from None
    if reader is not None:
        DATASETS.entry(reader)
    if str(where).startswith(_STARTER_PREFIX):
        return starter(str(where).removeprefix(_STARTER_PREFIX), **options)
    if isinstance(where, str) and is_url(where):
        if reader not in (None, "shards"):
            what = f"the reader '{reader}' reads files on this machine only"
            raise DataError("FB211", what, where=Place(shown(where)))
        packed: DatasetSource = DATASETS.load("shards")(where, **options)
        return packed
    path = Path(where)
    try:
        there = path.exists()
    except OSError:  # a name that no file can have
        there = False
    if not there:
        raise DataError(
            "FB211", "there is no such file or folder", where=Place(str(path)), hint=_near(path)
        )
    chosen = reader if reader is not None else _detect(path)
    source: DatasetSource = DATASETS.load(chosen)(path, **options)
    return source


def starter(name: str, /, **options: Any) -> DatasetSource:
    """Open a starter set that ships with floorbench.

    Raises
    ------
    UsageError
        ``FB101`` for an unknown name.
    """
    sets = sorted(p.name for p in STARTER.iterdir() if p.is_dir()) if STARTER.is_dir() else []
    if name not in sets:
        near = did_you_mean(name, sets)
        raise UsageError(
            "FB101",
            f"there is no starter set '{name}'",
            hint=f"did you mean '{near}'?" if near else f"known: {', '.join(sets) or 'none'}",
        )
    located = f"{_STARTER_PREFIX}{name}"
    source: DatasetSource = DATASETS.load(name)(STARTER / name, located=located, **options)
    return source


def _detect(path: Path) -> str:
    claims = [name for name in DATASETS.entries() if DATASETS.load(name).detect(path)]
    if len(claims) == 1:
        return claims[0]
    what = f"the readers {', '.join(claims)} all claim this" if claims else "no reader knows this"
    from floorbench.datasets.two_channel_files import about_recordings

    why = None if claims else about_recordings(path)
    hint = why or f"name one with --reader: {', '.join(DATASETS.entries())}"
    raise DataError("FB211", what, where=Place(str(path)), hint=hint)


def _near(path: Path) -> str | None:
    try:
        beside = [p.name for p in path.parent.iterdir()]
    except OSError:  # it is only a hint
        return None
    near = did_you_mean(path.name, beside)
    return f"did you mean '{path.parent / near}'?" if near else None
