"""What runs and scores keep and read again: predictions, records, estimates, thresholds."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.core.prediction import Compute, Decision, Event, Prediction
from floorbench.core.vocab import Outcome
from floorbench.datasets.open import open_dataset
from floorbench.run.artefact import ThresholdArtefact, read_artefact, write_artefact
from floorbench.run.journal import cut_torn_line, read_journal
from floorbench.run.predictions import scan
from floorbench.run.scoring import Result as Scored
from floorbench.run.scoring import read_result
from floorbench.run.store import RunFolder, RunRecord
from torture.fuzz.files import DECIMAL, file, survives
from torture.fuzz.target import Target, law

LINES = (
    Prediction(sample_id="a", decision=Decision(label="complete", scores={"x": 0.5}, raw="é <b>")),
    Prediction(sample_id="b", condition="h1", trial=2, compute=Compute(wall=0.25, tokens_in=3),
               decision=Decision(outcome=Outcome.ABSTAINED, reason="unsure"), observed="0" * 64),
    Prediction(sample_id="c", decision=Decision(commit=1.5, events=(
        Event(kind="yield", time=1.0, commit=1.1, end=1.2, label="y", score=0.3),))),
)  # fmt: skip


def _journal_bytes() -> bytes:
    return b"".join(codec.encode(p) + b"\n" for p in LINES)


def _jsonl(path: Path) -> None:
    data = path.read_bytes()
    found = list(scan(path))
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    law(len(found) == len(lines), f"{len(found)} rows of {len(lines)} lines")
    for row, line in zip(found, lines, strict=True):
        law((row.prediction is None) != (row.fault is None), "neither or both")
        if row.prediction is not None:
            survives(row.prediction, Prediction)
            _said(line, row.prediction)


def _said(line: bytes, prediction: Prediction) -> None:
    """Every text and number of an accepted line is in the prediction, under its own name."""
    plain = json.loads(line.decode("utf-8-sig"))
    kept = json.loads(codec.encode(prediction))

    def inside(given: Any, held: Any, at: str) -> None:
        if isinstance(given, dict):
            for key, value in given.items():
                law(key in held, f"{at}.{key} is lost")
                inside(value, held[key], f"{at}.{key}")
        elif isinstance(given, list):
            law(len(given) == len(held), f"{at} has another length")
            for n, value in enumerate(given):
                inside(value, held[n], f"{at}[{n}]")
        elif given is not None:
            law(
                held == given and type(held) in (type(given), float), f"{at}: {given!r} is {held!r}"
            )

    inside(plain, kept, "$")


def _csv(path: Path) -> None:
    found = list(scan(path))
    for row in found:
        if row.prediction is not None:
            survives(row.prediction, Prediction)
    content = path.read_bytes().decode("utf-8-sig")
    cells = list(csv.reader(io.StringIO(content, newline=""), strict=True))
    law(len(found) == len(cells) - 1, f"{len(found)} rows of {len(cells) - 1}")
    numbers = [
        i
        for i, n in enumerate(cells[0])
        if n in ("trial", "commit", "wall", "tokens_in", "tokens_out") or n[:6] == "score."
    ]
    for row, given in zip(found, cells[1:], strict=True):
        if row.prediction is None:
            continue
        for i in numbers:
            plain = given[i] == "" or DECIMAL.fullmatch(given[i])
            law(plain, f"{given[i]!r} is taken for a number")


def _parquet(path: Path) -> None:
    for row in scan(path):
        law((row.prediction is None) != (row.fault is None), "neither or both")
        if row.prediction is not None:
            survives(row.prediction, Prediction)


@cache
def _parquet_bytes() -> bytes:
    import duckdb

    out = Path("/tmp") / f"torture-{id(LINES)}.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT * FROM (VALUES ('a', 0, 'complete', 0.5, 1.25), ('b', 1, 'wait', 0.25, 2.0))"
            f" AS t(sample_id, trial, label, \"score.x\", wall)) TO '{out}' (FORMAT parquet)"
        )
    data = out.read_bytes()
    out.unlink()
    return data


def _journal(path: Path) -> None:
    cut = cut_torn_line(path)
    data = path.read_bytes()
    law(cut >= 0 and (not data or data.endswith(b"\n")), "a torn line is left")
    found = list(read_journal(path))
    law(len(found) == data.count(b"\n"), f"{len(found)} of {data.count(bytes([10]))} lines")
    for line in found:
        survives(line.prediction, Prediction)


@cache
def _run_bytes() -> tuple[bytes, bytes]:
    """Return a run record and estimates of a real run on the starter set."""
    import tempfile

    from floorbench.catalog import TASKS
    from floorbench.run.engine import run
    from floorbench.run.references import make_reference
    from floorbench.run.scoring import open_predictions, score

    with tempfile.TemporaryDirectory() as folder:
        task, source = TASKS.load("codett")(), open_dataset("starter:codett")
        made = run(
            task=task, source=source, limit=3, out=Path(folder), notify=lambda _: None,
            system=make_reference("prior", task=task, source=source, seed=0, predictions=None),
        )  # fmt: skip
        result = score(open_predictions(made.path), draws=50)
        small = dataclasses.replace(result, estimates=result.estimates[:4], headline=(0,))
        record = (made.path / "run.json").read_bytes()
    return record, codec.encode_pretty(small).encode()


def _record(path: Path) -> None:
    survives(RunFolder(path.parent).record(), RunRecord)


def _estimates(path: Path) -> None:
    found = read_result(path)
    survives(found, Scored)
    for one in found.estimates:
        law((one.value is None) == (one.reason is not None), "neither or both")


_ARTEFACT = ThresholdArtefact(
    task="clips", task_version="1", system={"name": "level"}, dataset="0" * 64, slice={},
    objective="f_beta", limit=None, beta=1.0, positive="complete", threshold=0.35, value=0.9,
    units=40, unanswered=0, scorer="x",
)  # fmt: skip


@cache
def _artefact_bytes() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write_artefact(_ARTEFACT, Path(folder) / "a.json")
        return (Path(folder) / "a.json").read_bytes()


def _artefact(path: Path) -> None:
    found = read_artefact(path)
    survives(found, ThresholdArtefact)
    law(dataclasses.replace(found, hash="") == _ARTEFACT, "a changed threshold passes for frozen")


TARGETS = [
    Target(
        name="run-predictions-jsonl",
        seeds=lambda: [_journal_bytes()],
        read=file("p.jsonl", _jsonl),
        covers=("floorbench.run.predictions:_scan_jsonl", "floorbench.codec:decode",
                "floorbench.codec:convert"),
        tokens=(b'"decision"', b'"scores"', b'"sample_id"', b'"events"'),
    ),
    Target(
        name="run-predictions-csv",
        seeds=lambda: [b'sample_id,condition,trial,label,score.x,scores,commit,wall,raw\n'
                       b'a,,0,complete,0.5,,1.5,0.25,"x, ""y"""\nb,h1,1,wait,,"{""y"": 1}",,,\n'],
        read=file("p.csv", _csv),
        covers=("floorbench.run.predictions:_scan_csv", "floorbench.run.predictions:_record",
                "floorbench.run.predictions:_json", "floorbench.run.predictions:_number",
                "floorbench.run.predictions:_row"),
        tokens=(b'"', b'""', b"sample_id", b"score.x", b"trial", b"{}"),
    ),
    Target(
        name="run-predictions-parquet",
        seeds=lambda: [_parquet_bytes()],
        read=file("p.parquet", _parquet),
        covers=("floorbench.run.predictions:_scan_parquet",),
        native=True,
        share=0.05,
    ),
    Target(
        name="run-journal",
        seeds=lambda: [_journal_bytes()],
        read=file("predictions.jsonl", _journal),
        covers=("floorbench.run.journal:read_journal",),
    ),
    Target(
        name="run-record",
        seeds=lambda: [_run_bytes()[0]],
        read=file("run.json", _record),
        covers=("floorbench.run.store:RunFolder.record", "floorbench.run.migrations:migrate"),
        tokens=(b'"schema"', b'"status"', b'"sittings"'),
    ),
    Target(
        name="run-estimates",
        seeds=lambda: [_run_bytes()[1]],
        read=file("estimates.json", _estimates),
        covers=("floorbench.run.scoring:read_result", "floorbench.codec:read_json"),
    ),
    Target(
        name="run-threshold",
        seeds=lambda: [_artefact_bytes()],
        read=file("t.json", _artefact),
        covers=("floorbench.run.artefact:read_artefact",),
    ),
]  # fmt: skip
