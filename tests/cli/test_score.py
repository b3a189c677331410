import csv
import dataclasses
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import soundfile

from floorbench.cli.app import main
from floorbench.cli.opening import PredictionOptions
from floorbench.cli.run import run
from floorbench.cli.score import check, print_results, score, told_apart
from floorbench.core.spec import SystemSpec
from floorbench.datasets.open import open_dataset
from floorbench.errors import DataError, UsageError
from floorbench.run.scoring import Result
from floorbench.run.store import RunFolder

CODETT = PredictionOptions(task="codett")
ACTIONS_ONLY = PredictionOptions(task="codett", task_sets=["stage=action"])


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def test_check_names_every_fault_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lines(
        tmp_path / "p.jsonl",
        {"sample_id": "nobody", "condition": "h0", "decision": {"label": "Dismiss"}},
        {"sample_id": "nobody", "condition": "h0", "decision": {"lable": "Dismiss"}},
    )
    path.write_text(path.read_text() + "{broken\n")
    assert check(path, options=CODETT) == 1
    out = capsys.readouterr().out
    assert f"FB204 {path}:1" in out
    assert f"FB201 {path}:2" in out
    assert "did you mean" in out or "unknown key 'lable'" in out
    assert f"FB201 {path}:3" in out
    assert "FB207" in out
    assert check(path, options=CODETT, json=True) == 1
    assert len(json.loads(capsys.readouterr().out)["faults"]) >= 4


def test_a_file_needs_its_task(tmp_path: Path) -> None:
    path = lines(tmp_path / "p.jsonl")
    with pytest.raises(UsageError, match="--task"):
        score(path)
    with pytest.raises(UsageError, match="name a run folder"):
        score()


def test_the_folder_above_a_run_names_the_run(tmp_path: Path) -> None:
    for number in "12":
        assert run("codett", "always-takeover", limit=4, score=False, out=tmp_path / number) == 0
    (first,) = (tmp_path / "1").glob("*/*/*")
    for folder in (tmp_path / "1", first.parent):
        with pytest.raises(UsageError, match="FB103") as error:
            score(folder)
        assert error.value.hint == f"did you mean '{first}'?"
        with pytest.raises(DataError, match="FB505") as missing:
            RunFolder.open(folder)
        assert missing.value.hint == f"did you mean '{first}'?"
    with pytest.raises(DataError, match="FB505") as missing:
        RunFolder.open(tmp_path / "none")
    assert "did you mean" not in missing.value.hint


def test_data_that_are_not_where_the_run_found_them_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clips = tmp_path / "there" / "clips" / "complete"
    clips.mkdir(parents=True)
    soundfile.write(clips / "a.wav", np.zeros(1600), 16000)
    monkeypatch.chdir(tmp_path / "there")
    sets = ["label=complete"]
    assert run("clips", "constant", data="clips", sets=sets, out=tmp_path, score=False) == 0
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there" / "clips").rename(tmp_path / "moved")
    (made,) = (tmp_path / "clips").glob("*/*")
    (tmp_path / "there").rename(tmp_path / "now")
    with pytest.raises(DataError, match="FB211") as error:
        score(made, draws=10)
    assert "--data" in error.value.hint
    assert score(made, options=PredictionOptions(data="moved"), draws=10) == 0


def test_a_folder_with_predictions_is_scored_when_its_task_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    with pytest.raises(DataError, match="FB505"):  # there is nothing in it
        score(folder, options=CODETT, draws=40)
    as_jsonl(folder / "predictions.jsonl")
    assert score(folder, options=ACTIONS_ONLY, draws=40) == 0
    whole = capsys.readouterr().out
    file = folder / "predictions.jsonl"
    assert score(file, options=ACTIONS_ONLY, draws=40) == 0
    assert capsys.readouterr().out == whole
    with pytest.raises(UsageError, match="--task"):
        score(folder)


def test_nothing_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_results([], "text", every=False)
    assert capsys.readouterr().out == ""


def rows() -> list[dict[str, object]]:
    """Answers to half of the starter set: right, wrong, with and without a reason."""
    out: list[dict[str, object]] = []
    for i, sample in enumerate(open_dataset("starter:codett").samples()):
        label = str(sample.target["label"]).split("_")[1] if i % 3 else "Dismiss"
        row: dict[str, object] = {"sample_id": sample.id, "condition": "h0", "label": label}
        if i % 7 == 0:
            row |= {"outcome": "failed", "label": None, "reason": 'said "no", then\nfell over'}
        if i % 2 == 0:
            out.append(row)
    return out


def as_jsonl(path: Path) -> None:
    lines(
        path,
        *(
            {k: r[k] for k in ("sample_id", "condition")}
            | {
                "decision": {
                    k: v for k, v in r.items() if k in ("label", "outcome", "reason") and v
                }
            }
            for r in rows()
        ),
    )


def as_csv(path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["sample_id", "condition", "outcome", "label", "reason"])
        writer.writeheader()
        writer.writerows(rows())


def as_parquet(path: Path) -> None:
    plain = path.with_suffix(".csv")
    as_csv(plain)
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM read_csv('{plain}', header=true)) TO '{path}'")


def test_predictions_made_elsewhere_score_alike_in_every_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for suffix, write in (("jsonl", as_jsonl), ("csv", as_csv), ("parquet", as_parquet)):
        write(tmp_path / f"p.{suffix}")
        command = ["score", str(tmp_path / f"p.{suffix}"), "--task", "codett", "--task-set",
                   "stage=action", "--draws", "40", "--json"]  # fmt: skip
        with pytest.raises(SystemExit) as left:
            main(command)
        assert left.value.code == 0
        (result,) = json.loads(capsys.readouterr().out)
        found.append(result)
    assert found[0] == found[1] == found[2]
    coverage = found[0]["coverage"]
    assert coverage["failed"] > 0
    assert coverage["ok"] > 0
    assert coverage["absent"] > coverage["ok"]  # the other half, and the other conditions
    assert any(e["interval"]["low"] is not None for e in found[0]["estimates"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.jsonl", b"", None),
        ("p.csv", b"sample_id,label\n", None),
        ("p.csv", b"", "FB208 {}: the file is empty"),
        ("p.csv", b"id,label\n", "FB208 {}: there is no column 'sample_id'"),
        ("p.csv", b"sample_id,lable\n", "FB208 {}: unknown column 'lable'"),
        ("p.csv", b"sample_id,label\na\n", "FB201 {}:2: 1 cell where the header has 2"),
        ("p.csv", b"sample_id,score.p\na,nan\n", "FB202 {}:2: "),
        ("p.csv", b"sample_id,score.p\na,inf\n", "FB202 {}:2: "),
        ("p.csv", b"sample_id\n\xff\n", "FB208 {}: not readable as CSV"),
        ("p.jsonl", b'{"sample_id": "a", "decision": {"scores": {"p": NaN}}}\n', "FB201 {}:1: "),
        ("p.jsonl", b"[]\n", "FB201 {}:1: "),
        ("p.jsonl", b'{"sample_id": "a"', "FB201 {}:1: "),
        ("p.parquet", b"PAR1", "FB208 {}: not readable as Parquet"),
        ("p.parquet", b"", "FB208 {}: not readable as Parquet"),
        ("p.txt", b"", "FB208 {}: suffix '.txt' is none of .jsonl, .csv, .parquet"),
        ("missing/p.csv", None, "FB402 {}: there is no such file or folder"),
    ],
)
def test_bad_files_are_one_error_and_empty_ones_score_as_absent(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: bytes | None,
    message: str | None,
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit) as left:
        main(["score", str(path), "--task", "codett", "--draws", "10", "--json"])
    out, err = capsys.readouterr()
    if message is None:
        assert left.value.code == 0
        coverage = json.loads(out)[0]["coverage"]
        assert coverage["absent"] == coverage["expected"] > 0
    else:
        assert left.value.code == 2
        assert f"error: {message.format(path)}" in err
        assert "Traceback" not in err
        assert out == ""


def test_a_path_that_is_not_there_is_said_first(tmp_path: Path) -> None:
    for path in (tmp_path / "nope", tmp_path / "nope.jsonl"):
        with pytest.raises(DataError, match=r"FB402 .*nope.*: there is no such file or folder"):
            score(path, options=CODETT)


def test_check_refuses_keys_that_stand_twice_and_what_cannot_be_below_zero(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = next(iter(open_dataset("starter:codett").samples())).id
    row = {"sample_id": name, "condition": "h0", "decision": {"label": "Dismiss"}}
    late = row | {"condition": "h1", "decision": {"label": "Dismiss", "commit": -0.1}}
    event = {"kind": "x", "time": 1.0, "commit": -2.0}
    path = lines(
        tmp_path / "p.jsonl",
        row,
        late,
        row | {"condition": "h3", "compute": {"wall": -1.0}},
        row | {"condition": "h5", "decision": {"label": "Dismiss", "events": [event]}},
    )
    text = '{"sample_id": "a", "decision": {"label": "Dismiss", "label": "Takeover"}}\n'
    path.write_text(path.read_text() + text, encoding="utf-8")
    assert check(path, options=CODETT) == 1
    found = [f for f in capsys.readouterr().out.splitlines() if "FB207" not in f]
    assert len(found) == 4
    assert f"FB206 {path}:2" in found[0]
    assert "commit is -0.1, below 0" in found[0]
    assert "compute.wall is -1.0, below 0" in found[1]
    assert "events[0].commit is -2.0, below 0" in found[2]
    assert f"FB201 {path}:5" in found[3]
    assert "'label' stands twice" in found[3]


def test_keys_that_stand_twice_in_a_cell_are_refused_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    path.write_text('sample_id,scores\na,"{""x"": 1, ""x"": 2}"\n', encoding="utf-8")
    assert check(path, options=CODETT) == 1
    assert f"FB201 {path}:2: the key 'x' stands twice" in capsys.readouterr().out


def result(name: str, **parameters: float) -> Result:
    held: Any = {f.name: None for f in dataclasses.fields(Result)}
    return Result(**held | {"system": SystemSpec(name=name, version="1", parameters=parameters)})


def test_systems_of_one_name_are_told_apart_by_their_settings() -> None:
    given = [result("a", t=0.5, k=1), result("a", t=0.7, k=1), result("b", t=0.5)]
    assert [r.system.name for r in told_apart(given)] == ["a (t=0.5)", "a (t=0.7)", "b"]
    twins = [result("a", k=1), result("a", k=1)]
    assert [r.system.name for r in told_apart(twins)] == ["a (#1)", "a (#2)"]
    releases = [
        dataclasses.replace(r, system=dataclasses.replace(r.system, version=v))
        for r, v in zip(twins, ("1.0", "1.1"), strict=True)
    ]
    told = [r.system.name for r in told_apart(releases)]
    assert told == ["a (version=1.0)", "a (version=1.1)"]
    inner = [result("a", of={"t": 0.5, "v": 1}), result("a", of={"t": 0.7, "v": 1})]
    assert [r.system.name for r in told_apart(inner)] == ["a (of.t=0.5)", "a (of.t=0.7)"]


def idle_in_native_words(path: Path) -> Path:
    """Idle items answered as a turn detector says it, half of them right."""
    answers = []
    for i, sample in enumerate(open_dataset("starter:codett").samples()):
        if sample.observation.state == "SystemIdle":
            over = sample.target["action"] == "Takeover"
            said = "complete" if over == (i % 2 == 0) else "incomplete"
            decision = {"label": said, "scores": {"end": 0.5}}
            answers.append({"sample_id": sample.id, "condition": "h0", "decision": decision})
    return lines(path, *answers)


def declared(path: Path, **more: object) -> Path:
    of = {"name": "mine", "version": "7", "labels": ["complete", "incomplete"]}
    spec = of | {"states": ["SystemIdle"], "label_map": "smart-turn", "score": "end"} | more
    path.write_text(json.dumps(spec))
    return path


def test_native_words_need_a_declared_meaning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = idle_in_native_words(tmp_path / "p.jsonl")
    assert check(path, options=CODETT) == 1
    out = capsys.readouterr().out
    assert f"FB206 {path}:1" in out
    assert "own word, and the system declares no label map" in out
    with pytest.raises(DataError, match="FB206"):
        score(path, options=CODETT, draws=10)
    other = declared(tmp_path / "other.json", label_map="ten", labels=["finished", "unfinished"])
    assert check(path, options=PredictionOptions(task="codett", systems=[other])) == 1
    assert "is not in the label map 'ten'" in capsys.readouterr().out


def test_a_file_is_scored_for_what_its_maker_declares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = idle_in_native_words(tmp_path / "p.jsonl")
    systems = [declared(tmp_path / "mine.json")]
    given = PredictionOptions(task="codett", systems=systems)
    assert check(path, options=given) == 0
    capsys.readouterr()
    assert score(path, options=given, draws=20, json=True) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["signature"]["system"]["name"] == "mine"
    assert result["coverage"]["expected"] == result["coverage"]["ok"] == 112
    cells = {
        (e["slice"]["language"], e["slice"].get("action")): e
        for e in result["estimates"]
        if e["metric"] == "class_accuracy" and "scenario" not in e["slice"]
    }
    assert cells["en", "Maintain"]["reason"] == "N/A: mine does not declare SystemSpeaking"
    assert 0 < cells["en", "Takeover"]["value"] < 1


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (
            {"states": ["idle"]},
            "FB204 {}: the system declares the state 'idle'; the data have "
            "'SystemIdle', 'SystemSpeaking'\n",
        ),
        (
            {"score": "prob"},
            "FB206 {}: the system declares the score 'prob'; the predictions have 'end'\n",
        ),
    ],
)
def test_a_declaration_that_fits_nothing_is_named(
    wrong: dict[str, object], fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = idle_in_native_words(tmp_path / "p.jsonl")
    systems = [declared(tmp_path / "s.json", **wrong)]
    assert check(path, options=PredictionOptions(task="codett", systems=systems)) == 1
    assert capsys.readouterr().out.startswith(fault.format(path))


def test_a_file_of_one_condition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.jsonl"
    as_jsonl(path)
    assert check(path, options=dataclasses.replace(ACTIONS_ONLY, conditions=["h0"])) == 1
    assert "98 missing" in capsys.readouterr().out
    with pytest.raises(UsageError, match="FB205"):
        check(path, options=dataclasses.replace(CODETT, conditions=["h9"]))


def test_a_run_declares_its_system_itself(tmp_path: Path) -> None:
    run("codett", "always-takeover", limit=4, out=tmp_path, score=False)
    folder = next((tmp_path / "codett").glob("*/*"))
    with pytest.raises(UsageError, match="1 --system for 0 predictions files"):
        score(folder, options=PredictionOptions(systems=[declared(tmp_path / "mine.json")]))
    with pytest.raises(UsageError, match="--condition is for predictions files"):
        score(folder, options=PredictionOptions(conditions=["h0"]))


def test_a_cheaper_score_is_printed_and_what_is_stored_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("codett", "always-takeover", limit=8, out=tmp_path) == 0
    (path,) = tmp_path.glob("*/*/*")
    stored = (path / "estimates.json").read_bytes()
    capsys.readouterr()
    assert score(path) == 0
    assert "stored" not in capsys.readouterr().err
    assert (
        score(path, options=PredictionOptions(task="codett", task_sets=["missing=drop"]), draws=20)
        == 0
    )
    said = capsys.readouterr()
    assert "always-takeover" in said.out
    assert "draws 2000, here 20" in said.err
    assert "missing wrong, here drop" in said.err
    assert "--store" in said.err
    assert (path / "estimates.json").read_bytes() == stored
    assert score(path, draws=20, store=True) == 0
    assert "stored" not in capsys.readouterr().err
    assert (
        json.loads((path / "estimates.json").read_text())["signature"]["protocol"]["bootstrap"][
            "draws"
        ]
        == 20
    )


def test_the_papers_layout_holds_the_rows_of_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("codett", "always-takeover", score=False, out=tmp_path) == 0
    (folder,) = tmp_path.glob("*/*/*")
    capsys.readouterr()
    assert score(folder, paper=True, methods=True, draws=50) == 0
    out = capsys.readouterr().out
    assert "We evaluated with floorbench" in out
    assert "Gemini3-Pro h5 †" in out
    assert "always-takeover h0" in out


@pytest.mark.parametrize(
    "pair",
    [
        {"paper": True, "every": True},
        {"paper": True, "json": True},
        {"methods": True, "json": True},
        {"methods": True, "form": "csv"},
        {"methods": True, "form": "json"},
    ],
)
def test_options_that_spoil_each_other_are_refused(tmp_path: Path, pair: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"FB103 .*--(paper|methods)"):
        score(tmp_path, **pair)
