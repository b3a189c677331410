"""Hand-written files read as worked out by hand, and round trip."""

import json
import os
from decimal import Decimal
from pathlib import Path

import pytest

from floorbench.formats import FORMATS, Entry, Tier, detect, read, write

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))


def number(text):
    return None if text is None else Decimal(text)


def tier(spec):
    spec = dict(spec)
    rows = spec.pop("entries")
    columns = {
        "parent": spec.pop("parents", None),
        "estimated": spec.pop("estimated", None),
        "extra": spec.pop("extra", None),
        "confidence": spec.pop("confidence", None),
    }
    entries = []
    for n, (start, end, text) in enumerate(rows):
        more = {key: column[n] for key, column in columns.items() if column is not None}
        if "confidence" in more:
            more["confidence"] = number(more["confidence"])
        entries.append(Entry(start=number(start), end=number(end), text=text, **more))
    if "extent" in spec:
        spec["extent"] = tuple(number(time) for time in spec["extent"])
    return Tier(entries=tuple(entries), **spec)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_reads_as_worked_out_by_hand(name):
    assert list(read(GOLDEN / name).tiers) == [tier(spec) for spec in EXPECTED[name]]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_round_trip_is_equal_and_lossless(name, tmp_path):
    first = read(GOLDEN / name)
    losses = write(first, tmp_path / name, format=first.format)
    again = read(tmp_path / name, format=first.format)
    assert again.tiers == first.tiers
    assert again.duration == first.duration
    assert again.origin == first.origin
    assert again.metadata == first.metadata
    assert losses == []


def test_every_format_has_a_golden_file():
    assert {read(GOLDEN / name).format for name in EXPECTED} == set(FORMATS)


def test_every_golden_file_is_listed():
    there = {path.name for path in GOLDEN.iterdir()} - {"README.md", "expected.json"}
    assert there == set(EXPECTED)


REAL = Path(os.environ.get("FLOORBENCH_REAL_DATA", GOLDEN.parent))
REAL_FILES = [
    path
    for path in sorted([*(REAL / "formats").glob("*"), *(REAL / "swb_ms98").glob("*")])
    if path.suffix not in (".csv", ".md") and path.name != "expected.json"
]


@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: path.name)
def test_files_round_trip_in_their_own_format(path, tmp_path):
    """Runs on the golden files, and on real corpora where FLOORBENCH_REAL_DATA points to them."""
    name = detect(path)
    first = read(path)
    assert first.tiers
    losses = write(first, tmp_path / path.name, format=name)
    faults = any(notice.fault for notice in first.warnings)
    again = read(tmp_path / path.name, format=name, strict=not faults)
    assert again.tiers == first.tiers
    assert losses == []
