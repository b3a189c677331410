"""JSON as annotation files use it: exact numbers, no NaN, no surprises in depth or size."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn

from floorbench.errors import DataError
from floorbench.formats.source import Source
from floorbench.formats.tiers import checked_time, parse_time, plain


def load(source: Source) -> Any:
    """Parse the file; numbers become decimals.

    Raises
    ------
    DataError
        ``FB703`` for text that is not JSON or a key that stands twice in one object, ``FB704``
        for NaN and infinities, ``FB705`` for brackets nested too deep.
    """

    def no_constant(name: str) -> NoReturn:
        source.fail("FB704", f"{name} is not a finite number")

    def number(text: str) -> Decimal:
        if len(text) > 64:
            source.fail("FB704", f"a number of {len(text)} digits")
        return Decimal(text)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
            source.fail("FB703", f"the key {twice!r} stands twice in one object")
        return made

    try:
        return json.loads(
            source.text,
            parse_float=number,
            parse_int=number,
            parse_constant=no_constant,
            object_pairs_hook=once,
        )
    except json.JSONDecodeError as error:
        source.fail("FB703", f"not JSON: {error.msg}", error.lineno)
    except RecursionError:
        source.fail("FB705", "brackets nested too deep")


def time_of(value: Any) -> Decimal | None:
    """Read a time: a number, a number in a string, or null for none."""
    if value is None:
        return None
    if isinstance(value, Decimal):
        return checked_time(value)
    if isinstance(value, str):
        return parse_time(value.strip())
    raise DataError("FB704", f"time {str(value)[:40]!r} is not a number")


def text_of(value: Any, key: str) -> str:
    """Read a string."""
    if not isinstance(value, str):
        raise DataError("FB703", f"{key!r} is not a string")
    return value


def scalar_text(value: Any) -> str | None:
    """Return a string or number as text, ``None`` for anything else."""
    if isinstance(value, Decimal):
        return str(value)
    return value if isinstance(value, str) else None


def dump(records: Sequence[Mapping[str, str | Decimal]]) -> str:
    """Write a list of flat records, one a line; decimals as JSON numbers, digit by digit."""
    lines = [
        "  {" + ", ".join(f"{_quoted(k)}: {_value(v)}" for k, v in record.items()) + "}"
        for record in records
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"


def _value(value: str | Decimal) -> str:
    return plain(value) if isinstance(value, Decimal) else _quoted(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def extra_of(
    item: Mapping[str, Any], known: Collection[str], unread: Counter[str]
) -> dict[str, str]:
    """Return the members of an object that no field takes, as text.

    Parameters
    ----------
    item : mapping
    known : collection of str
        Keys that have a field.
    unread : Counter
        Members that are no single value are counted here, by key.
    """
    extra: dict[str, str] = {}
    for key, value in item.items():
        if key not in known:
            text = scalar_text(value)
            if text is None:
                unread[key] += 1
            else:
                extra[key] = text
    return extra
