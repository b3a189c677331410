"""A release with other column names is read through a mapping file, and faults are placed."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from floorbench.core.vocab import Role
from floorbench.datasets.echo import EchoSource
from floorbench.datasets.echo_tables import read_mapping
from floorbench.errors import DataError
from support import echo_tiny

MAPPING: dict[str, Any] = {
    "name": "release",
    "samples": "metadata.csv",
    "pairs": "pairs.csv",
    "columns": {
        "sample_id": "id", "group_id": "group", "role": "scenario", "insertion": "text",
        "insertion_start": "on", "insertion_end": "off", "system_end": "planned",
        "user_audio": "wav", "system_audio": "wav", "history": "dialogue", "action": "target",
    },
    "pair_columns": {"pair_id": "pair", "group_id": "group", "sample_a": "x", "sample_b": "y"},
    "roles": {"打断": "interruption", "附和": "backchannel", "旁白": "off_talk"},
    "actions": {"Yield": "yield", "Keep": "keep"},
    "speakers": {"A": "user", "B": "system"},
    "channels": {"user": 0, "system": 1},
    "history": {"role": "speaker", "text": "content"},
    "language": "zh",
    "times": 0.001,
}  # fmt: skip
NAMES = {"interruption": "打断", "backchannel": "附和", "off_talk": "旁白"}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    samples = echo_tiny.rows(languages=("zh",))
    rows = []
    for sample in samples:
        e = sample["events"]
        user = echo_tiny.track([(e["insertion_start"], e["insertion_end"])], 3.3, level=0.2)
        system = echo_tiny.track([(e["system_start"], e["system_end"])], 3.3, level=0.1)
        name = f"{sample['sample_id']}.wav"
        soundfile.write(tmp_path / name, np.stack([user, system], axis=1), echo_tiny.RATE)
        rows.append(
            {
                "id": sample["sample_id"], "group": sample["group_id"],
                "scenario": NAMES[sample["role"]], "text": sample["insertion"],
                "on": 1000 * e["insertion_start"], "off": 1000 * e["insertion_end"],
                "planned": 1000 * e["system_end"], "wav": name,
                "target": "Yield" if sample["role"] == "interruption" else "Keep",
                "dialogue": json.dumps([{"speaker": "A", "content": "你好"},
                                        {"speaker": "B", "content": "您好"}]),
            }
        )  # fmt: skip
    pairs = [
        {"pair": p["pair_id"], "group": p["group_id"], "x": p["sample_a"], "y": p["sample_b"]}
        for p in echo_tiny.pairs(samples)
    ]
    for file, lines in (("metadata.csv", rows), ("pairs.csv", pairs)):
        with (tmp_path / file).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)
    write(tmp_path, MAPPING)
    return tmp_path


def write(folder: Path, mapping: dict[str, Any]) -> None:
    (folder / "echo_mapping.json").write_text(json.dumps(mapping), encoding="utf-8")


def test_a_release_is_read_as_it_is(release: Path) -> None:
    samples = list(EchoSource(release).samples())
    own = echo_tiny.rows(languages=("zh",))
    assert [s.target["role"] for s in samples] == [r["role"] for r in own]
    assert [s.target["events"]["insertion_start"] for s in samples] == [
        pytest.approx(r["events"]["insertion_start"]) for r in own
    ]
    first = samples[0]
    assert [(t.role, t.text) for t in first.observation.turns] == [
        (Role.USER, "你好"),
        (Role.SYSTEM, "您好"),
    ]
    user = first.observation.channels[Role.USER].read()
    assert np.max(np.abs(user)) == pytest.approx(0.2, rel=0.05)
    # The release shows the reaction, so the system is not heard from the onset on.
    assert not np.any(first.observation.channels[Role.SYSTEM].read(start=1.0))


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a field nobody knows": ({"columns": {**MAPPING["columns"], "rolle": "x"}}, "'rolle'"),
    "a field is missing": (
        {"columns": {k: v for k, v in MAPPING["columns"].items() if k != "role"}}, "'role'"
    ),
    "a value that is not ours": ({"roles": {"打断": "stop"}}, "'stop'"),
    "no language": ({"language": None}, "'language'"),
    "another format": ({"format": "floorbench-echo-mapping-2"}, "floorbench-echo-mapping-2"),
    "a unit of nothing": ({"times": 0}, "times 0"),
    "a turn without its text": ({"history": {"role": "speaker"}}, "'text'"),
    "another rule": ({"system_channel": "faded"}, "'faded'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_mapping_is_refused(name: str, release: Path) -> None:
    change, words = BAD[name]
    write(release, {**MAPPING, **change})
    with pytest.raises(DataError, match="FB265") as refused:
        read_mapping(release / "echo_mapping.json")
    assert words in refused.value.what


def test_a_column_that_is_not_there_is_named_with_the_line(release: Path) -> None:
    write(release, {**MAPPING, "columns": {**MAPPING["columns"], "insertion": "texte"}})
    with pytest.raises(DataError, match="FB261") as refused:
        list(EchoSource(release).samples())
    assert "'texte'" in refused.value.what
    assert refused.value.hint == "did you mean 'text'?"
    assert refused.value.where is not None
    assert refused.value.where.line == 2


def test_a_time_that_is_no_number_is_named(release: Path) -> None:
    text = (release / "metadata.csv").read_text()
    (release / "metadata.csv").write_text(text.replace("1000.0", "soon", 1))
    with pytest.raises(DataError, match="'soon'"):
        list(EchoSource(release).samples())


BROKEN: dict[str, tuple[str, bytes, str]] = {
    "a line cut short": ("pairs.csv", b"pair,group,x,y\np,g,a\n", "column 'y' has no value"),
    "no UTF-8": ("pairs.csv", b"pair,group,x,y\np,\xff,a,b\n", "not UTF-8"),
    "a null": ("pairs.jsonl", b'{"pair":null,"group":"g","x":"a","y":"b"}', "column 'pair' has"),
    "no table at all": ("pairs.parquet", b"PAR1 nothing", "not a Parquet table"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_table_gives_one_error(name: str, release: Path) -> None:
    file, content, words = BROKEN[name]
    (release / file).write_bytes(content)
    write(release, {**MAPPING, "pairs": file})
    with pytest.raises(DataError, match="FB261") as refused:
        list(EchoSource(release).samples())
    assert words in refused.value.what


def test_a_history_that_is_no_list_is_said(release: Path) -> None:
    write(release, {**MAPPING, "columns": {**MAPPING["columns"], "history": "on"}})
    with pytest.raises(DataError, match=r"FB261 .*not a list of turns"):
        list(EchoSource(release).samples())


def test_json_and_parquet_tables_are_read_too(release: Path) -> None:
    import duckdb

    with (release / "metadata.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    (release / "metadata.json").write_text(json.dumps(rows), encoding="utf-8")
    duckdb.execute(
        f"COPY (SELECT * FROM read_csv('{release / 'pairs.csv'}')) "
        f"TO '{release / 'pairs.parquet'}' (FORMAT parquet)"
    )
    before = EchoSource(release).digest()
    write(release, {**MAPPING, "samples": "metadata.json", "pairs": "pairs.parquet"})
    assert EchoSource(release).digest() == before
    write(release, {**MAPPING, "samples": "metadata.xlsx"})
    with pytest.raises(DataError, match="xlsx"):
        list(EchoSource(release).samples())
