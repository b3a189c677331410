import os
from pathlib import Path

import duckdb
import pytest

from floorbench import codec
from floorbench.core.prediction import Compute, Decision, Event, Prediction, Served
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError
from floorbench.run.engine import run
from floorbench.run.predictions import (
    Fault,
    count_trials,
    read_predictions,
    scan,
    trials_of,
)
from support.engine_toys import Bad, Source, Task, choice, quiet
from support.parquet import write_parquet

FULL = Prediction(
    sample_id="s1",
    condition="h0",
    trial=1,
    decision=Decision(
        label="yes",
        scores={"no": 0.25, "yes": 0.75},
        events=(Event(kind="take", time=1.5, commit=1.25, label="x", score=0.5),),
        commit=1.25,
        raw='He said "yes",\nthen left',
        reason="sure",
        served=Served(snapshot="gpt-4o-2024-08-06", build="fp_1", at="2026-01-31T23:59:59Z"),
    ),
    compute=Compute(wall=0.5, tokens_in=3, tokens_out=1),
    observed="ab" * 32,
)
LEAST = Prediction(sample_id="s2", decision=Decision(outcome=Outcome.FAILED))


def faults(path: Path) -> list[str]:
    return [f"{r.line} {r.fault.code} {r.fault.what}" for r in scan(path) if r.fault]


def test_jsonl_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(codec.encode(FULL) + b"\n" + codec.encode(LEAST) + b"\n")
    assert list(read_predictions(path)) == [FULL, LEAST]


def test_the_least_line_needs_an_id_and_a_decision(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"sample_id": "a", "decision": {"label": "yes"}}')  # no newline needed
    assert list(read_predictions(path)) == [
        Prediction(sample_id="a", decision=Decision(label="yes"))
    ]


def test_every_bad_line_is_named_and_the_good_ones_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    good = codec.encode(LEAST).decode()
    lines = [
        good,
        "{",
        "",
        '{"sample_id": "a"}',
        '{"sample_id": 1, "decision": {}}',
        '{"sample_id": "a", "decision": {"lable": "yes"}}',
        '{"sample_id": "a", "decision": {"scores": {"yes": NaN}}}',
        '{"sample_id": "a", "decision": {"scores": {"yes": 1e999}}}',
        '{"sample_id": "a", "decision": {"outcome": "great"}}',
        good,
        good[:-5],
    ]
    path.write_text("\n".join(lines))
    found = faults(path)
    assert [f.split(" ", 2)[:2] for f in found] == [
        ["2", "FB201"],
        ["3", "FB201"],
        ["4", "FB201"],
        ["5", "FB201"],
        ["6", "FB201"],
        ["7", "FB201"],
        ["8", "FB201"],
        ["9", "FB201"],
        ["11", "FB201"],
    ]
    assert "unknown key 'lable'" in found[4]
    assert found[-1].endswith("the file ends in the middle of this line")
    assert [r.line for r in scan(path) if r.prediction] == [1, 10]
    with pytest.raises(DataError, match=r"FB201 .*p\.jsonl:2"):
        list(read_predictions(path))


CSV = """\ufeffsample_id,condition,trial,outcome,label,score.no,score.yes,wall,raw
s1,h0,0,,yes,0.25,0.75,0.5,"a ""b"",
c"
s2,,,failed,,,,,
"""


def test_csv_is_read(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(CSV, encoding="utf-8")
    first, second = read_predictions(path)
    assert first == Prediction(
        sample_id="s1",
        condition="h0",
        decision=Decision(label="yes", scores={"no": 0.25, "yes": 0.75}, raw='a "b",\nc'),
        compute=Compute(wall=0.5),
    )
    assert second == LEAST


def test_bad_csv_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(
        "sample_id,trial,score.yes,scores,wall\n"
        "a,x,,,\n"
        "a,1.5,,,\n"
        "a,,nan,,\n"
        "a,,inf,,\n"
        "a,,much,,\n"
        "a,,,[1],\n"
        "a,,,{,\n"
        "a,0\n"
        ",0,,,\n"
        "a,0,1,,2\n"
    )
    assert [f.split(" ", 2)[:2] for f in faults(path)] == [
        ["2", "FB201"],
        ["3", "FB201"],
        ["4", "FB202"],
        ["5", "FB202"],
        ["6", "FB201"],
        ["7", "FB201"],
        ["8", "FB201"],
        ["9", "FB201"],
        ["10", "FB201"],
    ]
    assert [r.line for r in scan(path) if r.prediction] == [11]


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("p.txt", b"", "suffix '.txt' is none of .jsonl, .csv, .parquet"),
        ("p.csv", b"", "the file is empty"),
        ("p.csv", b"id,label\n", "there is no column 'sample_id'"),
        ("p.csv", b"sample_id,colour\n", "unknown column 'colour'"),
        ("p.csv", b"sample_id,label,label\n", "column 'label' appears twice"),
        ("p.csv", b"sample_id,label\na,\xff\n", "not readable as CSV"),
        ("p.csv", b'sample_id,label\na,"x\n', "not readable as CSV"),
        ("p.parquet", b"no parquet", "not readable as Parquet"),
    ],
)
def test_files_that_are_no_table_are_refused(
    tmp_path: Path, name: str, content: bytes, what: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"FB208 .*{name}: {what}"):
        list(read_predictions(path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"FB402 .*no such file"):
        list(read_predictions(tmp_path / "none.jsonl"))


def test_parquet_from_elsewhere_is_read(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 's1' AS sample_id, 'yes' AS label, 0.75::FLOAT AS \"score.yes\", "
            f"NULL AS raw, 2::BIGINT AS trial) TO '{path}'"
        )
    assert list(read_predictions(path)) == [
        Prediction(sample_id="s1", trial=2, decision=Decision(label="yes", scores={"yes": 0.75}))
    ]


def test_the_derived_parquet_holds_the_whole_journal(tmp_path: Path) -> None:
    folder = run(task=Task(), system=choice(Bad), source=Source(20), out=tmp_path, notify=quiet)
    with folder.journal.open("ab") as file:
        file.write(codec.encode(FULL) + b"\n")
    path = write_parquet(folder)
    assert list(read_predictions(path)) == list(folder.predictions())
    assert list(read_predictions(folder.path)) == list(folder.predictions())


def test_a_single_mistyped_trial_does_not_make_millions_due() -> None:
    assert count_trials([]) == 1
    assert count_trials([0, 1, 2, 1]) == 3
    assert count_trials([0, 10**30, -1]) == 2


def test_a_fault_is_one_printable_line() -> None:
    fault = Fault("FB204", "sample 'a\nb' is not here", 2, "\x1b[31m")
    assert fault.at("f") == "FB204 f:2 [\\x1b[31m]: sample 'a\\nb' is not here"


def test_a_file_that_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.csv"
    path.touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DataError, match=r"FB402 .*p\.csv: cannot be read: permission denied"):
        scan(path)


@pytest.mark.parametrize(
    ("line", "twice"),
    [
        ('{"sample_id": "a", "decision": {"label": "x", "label": "x"}}', "label"),
        ('{"sample_id": "a", "sample_id": "a", "decision": {}}', "sample_id"),
        ('{"sample_id": "a", "trial": 0, "trial": 0, "decision": {}}', "trial"),
        ('{"sample_id": "a", "decision": {"scores": {"p": 1, "p": 2}}}', "p"),
        ('{"sample_id": "a", "decision": {"scores": {"\\u0070": 1, "p": 2}}}', "p"),
        ('{"sample_id": "a\\"", "decision": {"raw": "\\"", "raw": ""}}', "raw"),
        ('{"sample_id": "a", "decision": {"raw": "a, \\"raw\\": b"}}', None),
        ('{"sample_id": "a", "decision": {"raw": "是"}}', None),
    ],
)
def test_keys_that_stand_twice_are_found_whatever_is_in_the_text(
    tmp_path: Path, line: str, twice: str | None
) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    (row,) = scan(path)
    if twice is None:
        assert row.fault is None
    else:
        assert row.fault is not None
        assert f"'{twice}' stands twice" in row.fault.what


LEAST_LINE = '{"sample_id": "a", "decision": {}}'


@pytest.mark.parametrize(
    ("lines", "trials"),
    [
        ([LEAST_LINE], 1),
        (['{"sample_id": "a", "decision": {}, "trial": 0}', "broken"], 1),
        ([LEAST_LINE, LEAST_LINE.replace("}}", '}, "trial": 1}')], 2),
        (['{"sample_id": "a", "decision": {}, "trial": 9}'], 1),
        (['{"nobody": "a", "decision": {}, "trial": 1}', LEAST_LINE], 1),
        ([], 1),
    ],
)
def test_how_many_trials_a_file_has(tmp_path: Path, lines: list[str], trials: int) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(lines) + "\n")
    assert trials_of(path) == trials
    (tmp_path / "p.csv").write_text("sample_id,trial\na,0\na,1\na,2\n")
    assert trials_of(tmp_path / "p.csv") == 3


def test_who_answered_is_read_from_a_table_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(
        "sample_id,label,served\n"
        's1,yes,"{""snapshot"": ""m-1""}"\n'
        's2,yes,"{""snapshot"": ""a\\nb""}"\n'
        's3,yes,"[]"\n'
    )
    (row,) = [r.prediction for r in scan(path) if r.prediction]
    assert row.decision.served == Served(snapshot="m-1")
    found = faults(path)
    assert found[0] == "3 FB201 snapshot 'a\\nb' is no name of a model"
    assert found[1].startswith("4 FB201 served is")
