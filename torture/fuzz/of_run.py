"""What runs, scores, pages and builds keep and read again; options and requests."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from floorbench import codec
from floorbench.build.pipeline.record import Factors, factors_path, read_factors
from floorbench.build.pipeline.stage import Item
from floorbench.build.pipeline.store import Folder, Result, ResultCache, SoundStore
from floorbench.build.recordings.mine import read_verdicts
from floorbench.cli.options import settings
from floorbench.core.prediction import Compute, Decision, Event, Prediction, Trace
from floorbench.core.vocab import Outcome
from floorbench.datasets.open import open_dataset
from floorbench.datasets.trp_lists import LISTS
from floorbench.events.dualturn import RATE as FRAMES
from floorbench.events.readout import Readout
from floorbench.events.traces import make_trace, trace_problem
from floorbench.run.artefact import ThresholdArtefact, read_artefact, write_artefact
from floorbench.run.journal import cut_torn_line, read_journal
from floorbench.run.predictions import scan
from floorbench.run.scoring import Result as Scored
from floorbench.run.scoring import read_result
from floorbench.run.store import RunFolder, RunRecord
from floorbench.run.traces import get, put
from floorbench.run.traces_import import Declared, read_trace
from floorbench.systems import frames_probe as probe
from floorbench.systems.api_cost import PriceFile, read_prices
from floorbench.systems.frames_probe import ProbeArtefact
from floorbench.systems.frames_probe import read_artefact as read_probe
from floorbench.systems.llm.recorded import _read as read_recorded
from floorbench.systems.worker_pipe import split
from floorbench.tasks.dualturn import Phrases, read_phrases
from floorbench.web.listen_store import Session
from floorbench.web.notes import NOTES_FILE, Notes
from floorbench.web.query import seconds as query_seconds
from floorbench.web.query import whole
from floorbench.web.review_plan import Sampling
from floorbench.web.review_store import Plan, Review
from torture.fuzz.of_answers import seeds, text
from torture.fuzz.of_data import file, rows, survives
from torture.fuzz.target import Target, finite, law

FIXTURES = Path(__file__).resolve().parents[2] / "tests" / "run" / "fixtures"
_DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)

LINES = (
    Prediction(sample_id="a", decision=Decision(label="complete", scores={"x": 0.5}, raw="é <b>")),
    Prediction(sample_id="b", condition="h1", trial=2, compute=Compute(wall=0.25, tokens_in=3),
               decision=Decision(outcome=Outcome.ABSTAINED, reason="unsure"), observed="0" * 64),
    Prediction(sample_id="c", decision=Decision(commit=1.5, events=(
        Event(kind="yield", time=1.0, commit=1.1, end=1.2, label="y", score=0.3),))),
)  # fmt: skip


def _journal_bytes() -> bytes:
    return b"".join(codec.encode(p) + b"\n" for p in LINES)


# ---- predictions and runs -----------------------------------------------------------------------


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
            plain = given[i] == "" or _DECIMAL.fullmatch(given[i])
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


# ---- scores per frame ---------------------------------------------------------------------------

_TRACE = make_trace(
    np.linspace(0, 1, 24).reshape(12, 2), rate=FRAMES,
    columns=["eot:user", "eot:system"],
)  # fmt: skip


@cache
def _stored_trace() -> tuple[bytes, Decision]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        decision = put(Path(folder), Decision(trace=_TRACE))
        return (Path(folder) / str(decision.trace.file)).read_bytes(), decision  # type: ignore[union-attr]


def _trace_file(data: bytes, folder: Path) -> None:
    decision = _stored_trace()[1]
    path = folder / str(decision.trace.file)  # type: ignore[union-attr]
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    found = get(folder, decision).trace
    law(found is not None and found.data == _TRACE.data, "other scores than the line says")


def _trace_line(found: Any) -> None:
    trace = codec.convert(found, Trace)
    problem = trace_problem(trace)
    if problem is None:
        finite(trace)
        law(trace.frames >= 1 and Fraction(trace.rate) > 0, "an impossible trace")


def _imported(suffix: str, rate: Fraction | None) -> Callable[[Path], None]:
    declared = Declared(rate=rate, columns=("eot:user", "eot:system") if suffix == ".npy" else None)

    def check(path: Path) -> None:
        trace = read_trace(path, declared)
        law(trace_problem(trace) is None, str(trace_problem(trace)))
        if suffix == ".csv":
            given = path.read_bytes().decode("utf-8-sig")
            lines = [x for x in given.replace("\r\n", "\n").replace("\r", "\n").split("\n") if x]
            if '"' not in given:
                law(
                    trace.frames == len(lines) - 1,
                    f"{trace.frames} frames of {len(lines) - 1} rows",
                )
            for line in csv.reader(io.StringIO(given, newline="")):
                if line and not line[0].startswith("time"):
                    for cell in line:
                        law(_DECIMAL.fullmatch(cell), f"{cell!r} is taken for a number")

    return check


@cache
def _arrays() -> dict[str, bytes]:
    out = {}
    values = np.linspace(0, 1, 24, dtype=np.float32).reshape(12, 2)
    buffer = io.BytesIO()
    np.save(buffer, values)
    out["npy"] = buffer.getvalue()
    buffer = io.BytesIO()
    np.savez(buffer, values=values, columns=np.array(["eot:user", "eot:system"]))
    out["npz"] = buffer.getvalue()
    buffer = io.BytesIO()
    np.savez_compressed(buffer, values=values, columns=np.array(["eot:user", "eot:system"]))
    out["npz2"] = buffer.getvalue()
    lines = ["time_sec,eot:user,eot:system"]
    lines += [f"{0.08 * (i + 1):.2f},{v[0]:.3f},{v[1]:.3f}" for i, v in enumerate(values)]
    out["csv"] = ("\n".join(lines) + "\n").encode()
    import duckdb

    path = Path("/tmp") / f"torture-{id(out)}.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            'COPY (SELECT i * 0.08 + 0.08 AS time_sec, i / 20.0 AS "eot:user", 0.5 AS "eot:system"'
            f" FROM range(12) t(i)) TO '{path}' (FORMAT parquet)"
        )
    out["parquet"] = path.read_bytes()
    path.unlink()
    return out


# ---- artefacts, prices, options -----------------------------------------------------------------


def _probe(path: Path) -> None:
    survives(read_probe(path), ProbeArtefact)


@cache
def _probe_bytes() -> bytes:
    wanted = probe.names(("yes",))
    readout = Readout(
        labels=("no", "yes"), features=wanted, mean=(0.0,) * len(wanted),
        scale=(1.0,) * len(wanted), weights=((0.5,) * len(wanted),) * 2, bias=(0.1, 0.2),
    )  # fmt: skip
    made = ProbeArtefact(
        version=probe.VERSION, words=("yes",), models=dict.fromkeys(probe.MODELS, readout)
    )
    return codec.encode(made)


def _prices(path: Path) -> None:
    found = read_prices(path)
    survives(found, PriceFile)


_PRICES = {
    "date": "2026-03-01", "currency": "USD",
    "models": {"m": {"text_in": 0.15, "text_out": 0.6, "audio_in": 1.0,
                     "audio_tokens_per_second": 25.0}},
}  # fmt: skip


def _json_value(data: bytes, folder: Path) -> None:
    value = codec.parse(data)
    survives(value, type(value))

    def once(pairs: list[tuple[str, Any]]) -> None:
        law(len({name for name, _ in pairs}) == len(pairs), "a key stands twice")

    json.loads(data.decode("utf-8-sig"), object_pairs_hook=once, parse_int=str)


def _phrases(path: Path) -> None:
    found = read_phrases(path)
    survives(found, Phrases)
    law(found.utterance_gap > 0 and len(found.phrases) == len(found.counts), "does not fit")


def _pairs(said: str) -> None:
    pairs = said.split("\n")
    found = settings(pairs)
    law(len(found) == len(pairs), "a setting is lost")
    finite(found)


def _command(said: str) -> None:
    law(split(said), "a command without words")


def _numbers(said: str) -> None:
    value = whole({"n": said}, "n", 0)
    law(0 <= value < 10**9 and said.isascii(), f"{said!r} is {value}")


def _time(said: str) -> None:
    value = query_seconds({"t": said}, "t")
    law(_DECIMAL.fullmatch(said), f"{said!r} is taken for {value}")


# ---- what pages keep ----------------------------------------------------------------------------

_PLAN = Plan(name="x", data="0" * 64, sampling=Sampling(share=1.0), items=("a", "b", "c"))


def _review_log(path: Path) -> None:
    folder = path.parents[2]
    (folder / "plan.json").write_text(codec.encode_pretty(_PLAN))
    found = Review.begin(folder, _PLAN)
    data = path.read_bytes()
    law(data == b"" or data.endswith(b"\n"), "a torn line is left")
    law(set(found.answers("r1")) <= set(_PLAN.items), "an item of nowhere")
    last = {json.loads(x)["item"]: json.loads(x)["label"] for x in data.splitlines()}
    law({k: a.label for k, a in found.answers("r1").items()} == last, "not the last line counts")
    found.answer("r2", "a", "reject", heard=True)
    law("r2" in Review(folder).answers("r2") or Review(folder).answers("r2"), "an answer is lost")


def _review_plan(path: Path) -> None:
    survives(Review(path.parent).plan, Plan)


def _decisions(path: Path) -> None:
    (path.parent / "plan.json").write_text(codec.encode_pretty(_PLAN))
    found = Review.begin(path.parent, _PLAN)
    for verdict in found.verdicts().values():
        finite(verdict)


_SESSION = {"schema": 1, "stimuli": "x", "data": "0" * 64, "lists": "1" * 64, "seed": 1}
_LOG = (
    {"event": "joined", "id": "p1", "list": "A", "reversed": False, "mode": "key", "consent": "c",
     "at": "2026-01-01T00:00:00+00:00"},
    {"event": "calibration", "kind": "tap", "beats": [1.0, 2.0], "responses": [1.1, 2.1],
     "latency": 0.1, "spread": 0.01, "used": 2, "steady": True, "at": "x"},
    {"event": "key", "item": 0, "visit": 1, "time": 1.5, "at": "x"},
    {"event": "item", "item": 0, "stimulus": "t1", "visit": 1, "started": 0.5, "latency": 0.1,
     "rate": None, "frames": None, "facts": {"hidden": False}, "at": "x"},
    {"event": "visit", "number": 2, "at": "x"},
)  # fmt: skip


def _listening_log(path: Path) -> None:
    folder = path.parents[2]
    (folder / "session.json").write_text(json.dumps(_SESSION))
    session = Session.open(folder, stimuli="x", data="0" * 64, lists="1" * 64, seed=1)
    data = path.read_bytes()
    law(data == b"" or data.endswith(b"\n"), "a torn line is left")
    for person in session.people().values():
        finite(person)
    lines = [json.loads(x) for x in data.splitlines()]
    kept = session.people().get("p1")
    keys = {(x["item"], x["visit"], x["time"]) for x in lines if x.get("event") == "key"}
    law(kept is None or len(kept.presses) == len(keys), "a press is lost")


def _listening_session(path: Path) -> None:
    (path.parent / "participants").mkdir()
    finite(Session(path.parent).record)


def _notes(path: Path) -> None:
    found = Notes(path.parent)
    before = dict(found.all())
    found.put("new", text="hello", tags="a b")
    law({k: v for k, v in Notes(path.parent).all().items() if k != "new"}
        == {k: v for k, v in before.items() if k != "new"}, "a note is lost")  # fmt: skip


def _posted(name: str) -> Callable[[bytes, Path], None]:
    def read(data: bytes, folder: Path) -> None:
        room = _room(folder)
        room.session.join("p1", lists=list(room._lists), mode="key", consent="c")
        before = len(room.session.person("p1").presses)
        from floorbench.web.listen import _posted as posted

        asked = codec.parse(data)
        made = posted(getattr(room, f"_{name}"))(None, asked)
        codec.encode(made)
        again = Session(folder / "session")
        law(again.people().keys() == room.session.people().keys(), "the journal tells of others")
        if name == "key":
            law(len(again.person("p1").presses) - before <= 1, "more than one press")

    return read


@cache
def _listening_set() -> Path:
    import tempfile

    import soundfile

    from floorbench.build.stimuli_lists import make_lists

    root = Path(tempfile.mkdtemp(prefix="torture-set-"))
    (root / "audio").mkdir()
    words = [{"text": "well", "start": 0.1, "end": 0.4}]
    (root / "stimuli.jsonl").write_bytes(
        rows({"id": "t1", "list": "A", "words": words, "turn_end": 0.5})
    )
    soundfile.write(root / "audio" / "t1.wav", 0.1 * np.sin(np.arange(8000) / 10), 16_000)
    make_lists(root, count=1, seed=5, gap=1.0)
    law((root / LISTS).is_file(), "no lists")
    return root


def _room(folder: Path) -> Any:
    from floorbench.web.listen import ListeningRoom

    return ListeningRoom(_listening_set(), folder / "session", mode="key", seed=1)


def _sound_part(data: bytes, folder: Path) -> None:
    """A block of sound with any number in front: kept once, in order, or refused."""
    (folder / "session.json").write_text(json.dumps(_SESSION))
    session = Session.open(folder, stimuli="x", data="0" * 64, lists="1" * 64, seed=1)
    session.join("p1", lists=[("A", False)], mode="voice", consent="c")
    session.append_sound("p1", "turn-0000", first=0, pcm=b"\1\0\2\0\3\0")
    first = int.from_bytes(data[:1], "little")
    pcm = data[1 : 1 + len(data[1:]) // 2 * 2]
    kept = session.append_sound("p1", "turn-0000", first=first, pcm=pcm)
    held = session.sound("p1", "turn-0000")
    law(len(held) == 2 * kept, f"{len(held)} bytes kept, {kept} frames said")
    law(held.startswith(b"\1\0\2\0\3\0"), "what was kept has changed")


# ---- what builds keep ---------------------------------------------------------------------------

_RESULT = Result(
    key="ab" * 32, stage="text", version=1, deterministic=True, item="i", attempt=0,
    items=(Item(id="i", fields={"text": "é", "n": 1.5}, audio={}),), notes=({"kind": "call"},),
)  # fmt: skip


@cache
def _result_bytes() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        folder = Folder(Path(made))
        cache_ = ResultCache(folder, SoundStore(folder))
        cache_.put(_RESULT)
        return cache_.path(_RESULT.key).read_bytes()


def _result(data: bytes, folder: Path) -> None:
    store = Folder(folder)
    cache_ = ResultCache(store, SoundStore(store))
    path = cache_.path(_RESULT.key)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    found = cache_.get(_RESULT.key)
    law(found is None or found == _RESULT, "a damaged result passes for whole")


def _sound(data: bytes, folder: Path) -> None:
    from floorbench.build.pipeline.store import sound_digest

    store = SoundStore(Folder(folder))
    digest = sound_digest(np.arange(800, dtype="<i2"), 8000)
    path = store.path(digest)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    pcm, rate = store.pcm(digest)
    law(rate == 8000 and np.array_equal(pcm, np.arange(800)), "a damaged sound passes for whole")


@cache
def _sound_bytes() -> bytes:
    import soundfile

    buffer = io.BytesIO()
    soundfile.write(buffer, np.arange(800, dtype=np.int16), 8000, subtype="PCM_16", format="FLAC")
    return buffer.getvalue()


def _factors(path: Path) -> None:
    folder = path.parent
    target = factors_path(folder, "r")
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)
    finite(read_factors(folder, "r"))


def _verdicts(path: Path) -> None:
    found = read_verdicts(path)
    law(set(found.values()) <= {"accept", "reject"}, "another verdict")
    ids = [json.loads(x)["id"] for x in path.read_text("utf-8").splitlines() if x.strip()]
    law({str(i) for i in ids} == set(found), "an item is lost")
    law(all(isinstance(i, str) for i in ids), "an id that is no text")


def _recorded(path: Path) -> None:
    read_recorded(path)


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
    Target(
        name="run-trace-file",
        seeds=lambda: [_stored_trace()[0]],
        read=_trace_file,
        covers=("floorbench.run.traces:get", "floorbench.run.traces:_read"),
        native=True,
    ),
    Target(
        name="run-trace-line",
        seeds=seeds(json.loads(codec.encode(_TRACE))),
        read=lambda data, folder: _trace_line(codec.parse(data)),
        covers=("floorbench.events.traces:trace_problem",),
    ),
    *(
        Target(
            name=f"run-import-{kind.strip('2')}",
            seeds=lambda kinds=kinds: [_arrays()[k] for k in kinds],
            read=file(f"s1.{kind}", _imported(f".{kind}", rate)),
            covers=(f"floorbench.run.traces_import:{function}",
                    "floorbench.run.traces_import:read_trace"),
            tokens=tokens,
            native=kind != "csv",
            share=0.05 if kind == "parquet" else 1.0,
        )
        for kind, kinds, function, rate, tokens in (
            ("csv", ("csv",), "_text", None, (b"time_sec", b"eot:user", b",")),
            ("npy", ("npy",), "_loaded", FRAMES, (b"'descr': '<f8'", b"'shape': (9999999999, 2)",
                                                  b"\x93NUMPY", b"'|O'", b"'fortran_order': True")),
            ("npz", ("npz", "npz2"), "_loaded", FRAMES, (b"PK\x03\x04", b"values.npy", b"\x93NUMPY",
                                                         b"'shape': (9999999999, 2)", b"'|O'")),
            ("parquet", ("parquet",), "_parquet", None, ()),
        )
    ),
    Target(
        name="system-probe",
        seeds=lambda: [_probe_bytes()],
        read=file("probe.json", _probe),
        covers=("floorbench.systems.frames_probe:read_artefact",),
        share=0.3,
    ),
    Target(
        name="system-prices",
        seeds=seeds(_PRICES),
        read=file("prices.json", _prices),
        covers=("floorbench.systems.api_cost:read_prices",),
        tokens=(b"2026-02-30", b"20260301", b"2026-W01-1"),
    ),
    Target(
        name="system-recorded",
        seeds=seeds({"answer": {"choices": []}}),
        read=file("r.json", _recorded),
        covers=("floorbench.systems.llm.recorded:_read",),
    ),
    Target(
        name="json-value",
        seeds=seeds({"a": {"b": [1, "x", {"a": None}]}, "c\"": True}, '{"a": "\\u0022", "\\u0062": 1}'),
        read=_json_value,
        covers=("floorbench.codec:parse", "floorbench.codec:doubled_key"),
        tokens=(b'"a"', b'\\"', b"\\u0022", b"\\u0061", b"{}"),
    ),
    Target(
        name="task-phrases",
        seeds=seeds({"utterance_gap": 1.0, "phrases": ["uh huh", "yeah"], "counts": [10, 5]}),
        read=file("phrases.json", _phrases),
        covers=("floorbench.tasks.dualturn:read_phrases",),
    ),
    Target(
        name="option-settings",
        seeds=seeds('threshold=0.7\nname=x\nlist=["a", 1]\nflag=true', "a-b=1"),
        read=text(_pairs),
        covers=("floorbench.cli.options:settings",),
        tokens=(b"=", b"threshold", b"NaN", b"[", b"{"),
    ),
    Target(
        name="option-command",
        seeds=seeds("python predict.py --a 'b c'", "x"),
        read=text(_command),
        covers=("floorbench.systems.worker_pipe:split",),
        tokens=(b"'", b'"', b"\\", b" "),
    ),
    Target(
        name="request-whole",
        seeds=seeds("0", "12"),
        read=text(_numbers),
        covers=("floorbench.web.query:whole",),
    ),
    Target(
        name="request-seconds",
        seeds=seeds("0.5", "12", "1e3"),
        read=text(_time),
        covers=("floorbench.web.query:seconds",),
        tokens=(b"_", b"e", b".", b"-"),
    ),
    *(
        Target(
            name=f"request-listening-{name}",
            seeds=seeds(asked),
            read=_posted(name),
            covers=(f"floorbench.web.listen:ListeningRoom._{name}", "floorbench.web.listen:_number",
                    "floorbench.web.guard:json_handler"),
            tokens=(b'"id"', b'"p1"', b'"item"'),
            share=0.2,
        )
        for name, asked in (
            ("join", {"id": "p2", "agreed": True}),
            ("device", {"id": "p1", "facts": {"rate": 48000}}),
            ("latency", {"id": "p1", "kind": "tap", "beats": [1.0, 2.0, 3.0], "taps": [1.1, 2.1, 3.1]}),
            ("key", {"id": "p1", "item": 0, "visit": 1, "time": 1.5}),
            ("item", {"id": "p1", "item": 0, "visit": 1, "started": 0.5, "facts": {}}),
        )
    ),
    Target(
        name="request-listening-sound",
        seeds=lambda: [b"\x03\1\0\2\0", b"\x00\1\0\2\0\3\0\4\0"],
        read=_sound_part,
        covers=("floorbench.web.listen_store:Session.append_sound",),
        share=0.3,
    ),
    Target(
        name="web-review-log",
        seeds=lambda: [rows(*({"item": i, "label": "reject", "heard": True, "at": "x"} for i in "abca"))],
        read=file("reviewers/r1/log.jsonl", _review_log),
        covers=("floorbench.web.review_store:Review._read", "floorbench.web.journal:plain_lines"),
        share=0.5,
    ),
    Target(
        name="web-review-plan",
        seeds=seeds(json.loads(codec.encode(_PLAN))),
        read=file("plan.json", _review_plan),
        covers=("floorbench.web.review_store:Review.__init__",),
    ),
    Target(
        name="web-review-decisions",
        seeds=lambda: [rows({"item": "a", "label": "x", "by": "r3", "after_gold": False, "at": "x"})],
        read=file("adjudication.jsonl", _decisions),
        covers=("floorbench.web.review_store:Review._read",),
        share=0.5,
    ),
    Target(
        name="web-listening-log",
        seeds=lambda: [rows(*_LOG)],
        read=file("participants/p1/log.jsonl", _listening_log),
        covers=("floorbench.web.listen_store:_events", "floorbench.web.listen_store:read_person"),
        tokens=(b'"event"', b'"joined"', b'"key"', b'"finished"'),
        share=0.5,
    ),
    Target(
        name="web-listening-session",
        seeds=seeds(_SESSION),
        read=file("session.json", _listening_session),
        covers=("floorbench.web.listen_store:Session.__init__",),
    ),
    Target(
        name="web-notes",
        seeds=seeds({"schema": 1, "notes": {"a": {"text": "x", "tags": ["t"], "changed": "x"}}}),
        read=file(NOTES_FILE, _notes),
        covers=("floorbench.web.notes:Notes._read",),
        share=0.3,
    ),
    Target(
        name="build-result",
        seeds=lambda: [_result_bytes()],
        read=_result,
        covers=("floorbench.build.pipeline.store:ResultCache.get",),
    ),
    Target(
        name="build-sound",
        seeds=lambda: [_sound_bytes()],
        read=_sound,
        covers=("floorbench.build.pipeline.store:SoundStore.pcm",),
        native=True,
        tokens=(b"fLaC",),
    ),
    Target(
        name="build-factors",
        seeds=seeds(json.loads(codec.encode(Factors(stages={})))),
        read=file("f.json", _factors),
        covers=("floorbench.build.pipeline.record:read_factors",),
    ),
    Target(
        name="build-verdicts",
        seeds=lambda: [rows({"id": "a", "verdict": "accept"}, {"id": "b", "verdict": "reject"})],
        read=file("v.jsonl", _verdicts),
        covers=("floorbench.build.recordings.mine:read_verdicts",),
        tokens=(b'"id"', b'"verdict"', b'"accept"'),
    ),
]  # fmt: skip
