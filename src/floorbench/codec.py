"""JSON at the boundary: dataclasses in, dataclasses out, nothing let through by accident.

msgspec does the work; this module adds what it leaves open for plain dataclasses: unknown keys
are refused with a suggestion, so is a key that stands twice in one object (readers differ in which
one they take), non-finite numbers are refused in both directions (they would be written as
``null``), and numpy scalars become plain numbers.
"""

from __future__ import annotations

import codecs
import dataclasses
import hashlib
import math
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from floorbench.errors import DataError, Place, did_you_mean

T = TypeVar("T")


def encode(value: object) -> bytes:
    """Return compact JSON with sorted keys for mappings and declared order for dataclasses.

    Raises
    ------
    DataError
        ``FB202`` when a number is NaN or infinite, with the path to it; ``FB201`` for text that
        is not valid Unicode (half a surrogate pair, a file name in no known encoding).
    """
    return _json(to_builtins(value))


def encode_pretty(value: object) -> str:
    """Return indented JSON text ending in a newline, for files that people read."""
    return msgspec.json.format(encode(value), indent=2).decode() + "\n"


def to_builtins(value: object) -> Any:
    """Return the JSON-ready form of dataclasses, mappings, sequences and numpy scalars."""
    plain = msgspec.to_builtins(value, enc_hook=_numpy_hook, str_keys=True)
    if not _finite(plain):
        path, number = next(_non_finite(plain, "$"))
        raise DataError("FB202", f"{path} is {number!r}")
    return plain


def decode(data: bytes | str, kind: type[T], *, where: Place | None = None) -> T:
    """Read one JSON value into ``kind``.

    Raises
    ------
    DataError
        ``FB201`` for broken JSON, a missing or unknown key or a wrong type.
    """
    return convert(parse(data, where=where), kind, where=where)


def parse(data: bytes | str, *, where: Place | None = None) -> Any:
    """Read one JSON value into plain Python values; non-finite numbers are no JSON.

    A UTF-8 signature in front, as some editors write it at the start of a file, is no content.

    Raises
    ------
    DataError
        ``FB201`` for broken JSON, or a key that stands twice in one object.
    """
    try:
        raw = data.encode() if isinstance(data, str) else data.removeprefix(codecs.BOM_UTF8)
        plain = msgspec.json.decode(raw)  # NaN, Infinity and 1e999 are no JSON to it
        again = msgspec.json.encode(plain)
        # One of two equal keys is not kept, so the rest, written anew, has fewer quotation marks.
        # Most lines are floorbench's own and come out as they went in. A mark has one other
        # spelling, \u0022, with which the numbers may be equal by chance.
        if raw not in (again, again + b"\n") and (
            raw.count(b'"') != again.count(b'"') or b"\\u0022" in raw
        ):
            twice = doubled_key(raw)
            if twice is not None:
                what = f"the key '{twice}' stands twice in one object"
                raise DataError("FB201", what, where=where)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise DataError("FB201", f"not valid JSON ({error})", where=where) from None
    return plain


def doubled_key(raw: bytes) -> str | None:
    """Return a key that stands twice in one object of valid JSON, if there is one; slow."""
    import json  # rarely needed, and every start would pay for it

    found: list[str] = []

    def pairs(members: list[tuple[str, Any]]) -> None:
        if len(dict(members)) < len(members):
            names = Counter(name for name, _ in members)
            found.append(names.most_common(1)[0][0])

    json.loads(raw.decode(), object_pairs_hook=pairs, parse_int=str, parse_float=str)
    return found[0] if found else None


def is_json(text: str) -> bool:
    """Tell whether a text is JSON; :func:`parse` may still refuse a key that stands twice."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def convert(plain: Any, kind: type[T], *, where: Place | None = None) -> T:
    """Turn plain values into ``kind``, refusing unknown keys (see :func:`decode`)."""
    _refuse_unknown(plain, kind, "$", where)
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise DataError("FB201", _sentence(error), where=where) from None
    except DataError as error:  # a value's own check, for example a reversed span
        raise DataError(error.code, error.what, where=where, hint=error.hint) from None


def read_json(path: Path, kind: type[T]) -> T:
    """Read a whole JSON file into ``kind`` (errors as :func:`decode`, ``FB402`` if unreadable)."""
    return decode(read_bytes(path), kind, where=Place(str(path)))


def read_bytes(path: Path) -> bytes:
    """Read a file or raise ``FB402`` saying why it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(
            "FB402", f"cannot be read: {error.strerror or error}", where=Place(str(path))
        ) from None


def digest(value: object) -> str:
    """Return the SHA-256 (hex) of the canonical JSON of a value; key order does not matter."""
    return hashlib.sha256(_json(to_builtins(value), order="sorted")).hexdigest()


def _json(plain: Any, order: Literal["sorted"] | None = None) -> bytes:
    try:
        return msgspec.json.encode(plain, order=order)
    except UnicodeEncodeError as error:
        text = ascii(error.object)
        raise DataError("FB201", f"{text} is not valid Unicode text") from None


def _numpy_hook(value: Any) -> Any:
    item = getattr(value, "tolist", None)
    if callable(item):  # numpy scalar or array
        return item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _finite(plain: Any) -> bool:
    """Tell whether all numbers are finite; every line that is written passes here."""
    if isinstance(plain, float):
        return math.isfinite(plain)
    if isinstance(plain, dict):
        plain = plain.values()
    elif not isinstance(plain, list | tuple):
        return True
    for item in plain:
        kind = item.__class__
        if kind is str or kind is int or item is None:
            continue
        if not _finite(item):
            return False
    return True


def _non_finite(plain: Any, path: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers that are not finite, with the way to them."""
    if isinstance(plain, float):
        if not math.isfinite(plain):
            yield path, plain
    elif isinstance(plain, dict):
        for key, item in plain.items():
            yield from _non_finite(item, f"{path}.{key}")
    elif isinstance(plain, list | tuple):
        for index, item in enumerate(plain):
            yield from _non_finite(item, f"{path}[{index}]")


_Check = Callable[[Any, str, "Place | None"], None]


def _refuse_unknown(plain: Any, kind: Any, path: str, where: Place | None) -> None:
    check = _checker(kind)
    if check is not None:
        check(plain, path, where)


@cache
def _checker(kind: Any) -> _Check | None:
    """Build, once per type, the walk that finds keys no dataclass field takes."""
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        fields = {f.name: _checker(hints[f.name]) for f in dataclasses.fields(kind)}

        def check_fields(plain: Any, path: str, where: Place | None) -> None:
            if not isinstance(plain, dict):
                return
            for key, item in plain.items():
                if key not in fields:
                    near = did_you_mean(str(key), fields)
                    raise DataError(
                        "FB201",
                        f"unknown key '{key}' at {path}",
                        where=where,
                        hint=f"did you mean '{near}'?" if near else f"known: {', '.join(fields)}",
                    )
                inner = fields[key]
                if inner is not None and item is not None:
                    inner(item, f"{path}.{key}", where)

        return check_fields
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        inner = [c for c in map(_checker, args) if c is not None]
        return inner[0] if len(inner) == 1 else None
    if isinstance(origin, type) and issubclass(origin, Mapping) and len(args) == 2:
        of_value = _checker(args[1])
        if of_value is None:
            return None

        def check_values(plain: Any, path: str, where: Place | None) -> None:
            if isinstance(plain, dict):
                for key, item in plain.items():
                    of_value(item, f"{path}.{key}", where)

        return check_values
    if isinstance(origin, type) and issubclass(origin, list | tuple) and args:
        of_item = _checker(args[0])
        if of_item is None:
            return None

        def check_items(plain: Any, path: str, where: Place | None) -> None:
            if isinstance(plain, list):
                for index, item in enumerate(plain):
                    of_item(item, f"{path}[{index}]", where)

        return check_items
    return None


def _sentence(error: msgspec.ValidationError) -> str:
    return str(error).replace("Object missing", "missing").replace(" - at", " at")
