"""Making hostile inputs out of valid ones."""

from __future__ import annotations

import codecs
import contextlib
import json
import random
import re
from collections.abc import Sequence
from typing import Any

NUMBERS = (
    b"0", b"-0", b"-1", b"1e9", b"1e-9", b"1e308", b"1e309", b"-1e309", b"NaN", b"nan", b"inf",
    b"-Infinity", b"Infinity", b"9223372036854775808", b"18446744073709551616", b"1e99999999",
    b"0x10", b"1_000", b"1,5", b"00", b"+1", b".5", b"5.", b"1e", b"--1", b"1.2.3", b"1" * 400,
    b"9" * 5000, b"0." + b"0" * 400 + b"1", "\u0661\u0662".encode(), "\uff11".encode(), b"\xc2\xb2",
)  # fmt: skip
PIECES = (
    b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud800", b"\\u0000",
    "\u2028".encode(), "\x85".encode(), "\u3000".encode(), "\ufeff".encode(), b"\r", b"\r\n", b"\n",
    b"\t", b" ", b'"', b"'", b"\\", b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b"&", b"&#0;",
    b"&lt;", b":", b";", b",", b"-->", b"<!--", b"<![CDATA[", b"null", b"true", b"false", b"{x}",
    b"[]", b"%s", b"{0}", b"../../etc/passwd", b"/", b"\x1b[2J", b"__class__", b"=", b"|",
)  # fmt: skip
HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, 2**64, 10**400, 1e308, -1e308, 5e-324, 0.5, "", " ", "a",
    "\u0000", "\ud800", "NaN", "1e309", "../x", "é" * 300, [], {}, [[]], [None], [1, 2], ["a", "a"],
    {"": ""}, {"a": 1}, "1_000", "\u0661", [[1, 0]], -0.0, "true", "0",
)  # fmt: skip
LARGEST_INPUT = 50_000
"""Bytes of an input at most; what grows with its square shows long before."""
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def mutated(
    rng: random.Random, data: bytes, others: Sequence[bytes], tokens: Sequence[bytes] = ()
) -> bytes:
    """Return an input with one to six changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 6))):
        data = CHANGES[rng.randrange(len(CHANGES))](rng, data, others, tokens)
        if len(data) > LARGEST_INPUT:
            data = data[:LARGEST_INPUT]
    return data


def _spot(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _flip(rng: random.Random, data: bytes, *_: Any) -> bytes:
    if not data:
        return data
    out = bytearray(data)
    for _n in range(rng.choice((1, 1, 2, 8))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def _byte(rng: random.Random, data: bytes, *_: Any) -> bytes:
    if not data:
        return bytes([rng.randrange(256)])
    out = bytearray(data)
    out[rng.randrange(len(out))] = rng.choice((0, 9, 10, 13, 32, 34, 44, 127, 128, 255, 48, 57))
    return bytes(out)


def _cut(rng: random.Random, data: bytes, *_: Any) -> bytes:
    return data[: _spot(rng, data)] if rng.random() < 0.7 else data[_spot(rng, data) :]


def _drop(rng: random.Random, data: bytes, *_: Any) -> bytes:
    at = _spot(rng, data)
    return data[:at] + data[at + rng.choice((1, 2, 8, 64)) :]


def _repeat(rng: random.Random, data: bytes, *_: Any) -> bytes:
    at = _spot(rng, data)
    piece = data[at : at + rng.choice((1, 4, 32))]
    return data[:at] + piece * rng.choice((2, 3, 50)) + data[at:]


def _splice(rng: random.Random, data: bytes, others: Sequence[bytes], *_: Any) -> bytes:
    other = rng.choice(others) if others else data
    return data[: _spot(rng, data)] + other[_spot(rng, other) :]


def _piece(
    rng: random.Random, data: bytes, others: Sequence[bytes], tokens: Sequence[bytes]
) -> bytes:
    at = _spot(rng, data)
    piece = rng.choice(tokens) if tokens and rng.random() < 0.5 else rng.choice(PIECES)
    return data[:at] + piece + data[at + rng.choice((0, 0, len(piece))) :]


def _number(rng: random.Random, data: bytes, *_: Any) -> bytes:
    found = list(_NUMBER.finditer(data[:20_000]))
    if not found:
        return data + rng.choice(NUMBERS)
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(NUMBERS) + data[one.end() :]


def _lines(rng: random.Random, data: bytes, others: Sequence[bytes], *_: Any) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    match rng.randrange(6):
        case 0:
            lines.insert(at, lines[at])
        case 1:
            del lines[at]
        case 2:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines.insert(at, rng.choice((b"", b" ", b"\t", b"#", b";;", b"x", b"\x00" * 40)))
        case 4:
            other = rng.choice(others) if others else data
            lines.insert(at, rng.choice(other.split(b"\n")))
        case _:
            lines[at] = lines[at] * rng.choice((2, 200))
    return b"\n".join(lines)


def _encoding(rng: random.Random, data: bytes, *_: Any) -> bytes:
    match rng.randrange(7):
        case 0:
            return codecs.BOM_UTF8 + data
        case 1:
            return data.replace(b"\n", b"\r\n")
        case 2:
            return data.replace(b"\n", b"\r")
        case 3:
            return data.decode("utf-8", "replace").encode("utf-16")
        case 4:
            return data.decode("utf-8", "replace").encode("utf-16-be")
        case 5:
            return data.decode("utf-8", "replace").encode("latin-1", "replace")
        case _:
            return data.replace(b"\n", b"")


def _deep(rng: random.Random, data: bytes, *_: Any) -> bytes:
    at = _spot(rng, data)
    depth = rng.choice((50, 500, 960, 1000, 1040, 5000))
    opened, closed = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"<a>", b"</a>"), (b"(", b")")))
    inside = opened * depth + rng.choice((b"", b"1", b"null")) + closed * rng.choice((0, depth))
    return data[:at] + inside + data[at:]


def _value(rng: random.Random, data: bytes, *_: Any) -> bytes:
    """Change one value, key or length in JSON (of a line, where there are lines)."""
    lines = data.split(b"\n")
    filled = [i for i, line in enumerate(lines) if line.strip()]
    if not filled:
        return data
    whole = rng.random() < 0.5
    at = rng.choice(filled)
    try:
        plain = json.loads(data if whole else lines[at])
    except (ValueError, RecursionError):
        return _number(rng, data)
    box = [plain]
    holder: Any = box
    key: Any = 0
    while isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.8:
        holder = holder[key]
        key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    match rng.randrange(6):
        case 0 if holder is not box:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[rng.choice(("extra", "", "id", str(key).upper()))] = holder[key]
        case 2 if isinstance(holder, list) and holder is not box:
            holder.insert(key, holder[key])
        case 3 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
            with contextlib.suppress(OverflowError):  # a whole number beyond any decimal one
                holder[key] *= rng.choice((-1, 0, 1000, 1e300))
        case _:
            holder[key] = rng.choice(HOSTILE)
    text = json.dumps(box[0], ensure_ascii=rng.random() < 0.5)
    made = text.encode("utf-8", "surrogatepass")
    if whole:
        return made
    return b"\n".join((*lines[:at], made, *lines[at + 1 :]))


def _twice(rng: random.Random, data: bytes, *_: Any) -> bytes:
    """Write a key of a JSON object twice."""
    found = list(re.finditer(rb'"[\w.-]+"\s*:\s*("[^"\\]*"|[\d.]+|true|false|null)', data[:20_000]))
    if not found:
        return data
    one = rng.choice(found)
    return data[: one.start()] + one[0] + b", " + data[one.start() :]


CHANGES = (
    _flip, _byte, _cut, _drop, _repeat, _splice, _piece, _piece, _number, _number, _lines, _lines,
    _encoding, _deep, _value, _value, _value, _twice,
)  # fmt: skip
