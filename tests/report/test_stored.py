import json
import os
from pathlib import Path

import pytest

from floorbench.core.prediction import Decision
from floorbench.core.sample import Sample
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.codett_labels import BY_LABEL
from floorbench.errors import DataError, UsageError
from floorbench.report.stored import Sources, changed, load, read_run, with_names
from floorbench.run.scoring import open_predictions, score
from floorbench.run.store import RunFolder
from floorbench.tasks.codett import CodettTask
from floorbench.tasks.dualturn import DualTurnTask
from support import session_runs, trp_scored, trp_tiny
from support.codett_tiny import build
from support.engine_toys import Source, Task
from support.viewing import DuoSource, DuoTask, answers, duo_reader, duo_runs, system, write_run


def right(sample: Sample, condition: str) -> Decision:
    return Decision(label=sample.target["label"])


def codett_run(tmp_path: Path) -> tuple[Path, Path]:
    data = build(tmp_path / "data", history=1)
    spec = system("knower", labels=tuple(BY_LABEL), score=None, threshold=None)
    path = write_run(
        tmp_path / "runs", task=CodettTask(), source=CodettSource(data), spec=spec, answer=right
    )
    return path, data


def test_a_run_is_read_with_the_task_and_data_it_names(tmp_path: Path) -> None:
    path, _ = codett_run(tmp_path)
    run = load(path, Sources())
    assert run.remarks == ()
    assert len(run.items) == 14 * 2 * 4
    assert not run.fresh
    assert all(e.interval.low is None for e in run.result.estimates)
    values = {e.value for e in run.result.estimates if e.metric == "class_accuracy"}
    assert values == {1.0}


def test_values_without_intervals_are_those_of_scoring(tmp_path: Path) -> None:
    path = duo_runs(tmp_path)[1]
    task, source = DuoTask(), DuoSource()
    before = read_run(path, task=task, source=source)
    scored = score(open_predictions(path, task=task, source=source), draws=20)
    after = read_run(path, task=task, source=source)
    assert [e.value for e in before.result.estimates] == [e.value for e in scored.estimates]
    assert before.result.coverage == scored.coverage
    assert after.fresh
    assert after.result == scored


def test_estimates_older_than_the_journal_do_not_count(tmp_path: Path) -> None:
    path = duo_runs(tmp_path)[0]
    task, source = DuoTask(), DuoSource()
    score(open_predictions(path, task=task, source=source), draws=20)
    later = (path / "estimates.json").stat().st_mtime_ns + 10**9
    os.utime(path / "predictions.jsonl", ns=(later, later))
    assert not read_run(path, task=task, source=source).fresh


def test_moved_data_ask_for_their_place(tmp_path: Path) -> None:
    path, data = codett_run(tmp_path)
    moved = data.rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="FB801") as caught:
        load(path, Sources())
    assert "--dataset" in caught.value.hint
    assert str(data) in caught.value.what
    assert len(load(path, Sources(str(moved))).items) == 112


def test_a_split_moves_with_its_data(tmp_path: Path) -> None:
    """The run's own settings of the reader hold where the data are now."""
    data = trp_tiny.build(tmp_path / "data")
    path = trp_scored.ran(tmp_path, data, split="dev")
    moved = data.rename(tmp_path / "elsewhere")
    assert len(load(path, Sources(str(moved))).items) == 9


def test_other_data_are_refused(tmp_path: Path) -> None:
    path, _ = codett_run(tmp_path)
    other = build(tmp_path / "other", history=0)
    with pytest.raises(UsageError, match="FB502"):
        load(path, Sources(str(other)))


def test_missing_audio_is_a_remark(tmp_path: Path) -> None:
    path, data = codett_run(tmp_path)
    next((data / "audios").rglob("*.wav")).unlink()
    run = load(path, Sources())
    assert len(run.items) == 112
    assert run.remarks[0].startswith("the data could not be checked")


def test_a_run_being_written_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_run(
        tmp_path,
        task=DuoTask(),
        source=DuoSource(),
        spec=system(),
        answer=answers(),
        status="running",
        only=5,
        torn=True,
    )
    run = duo_reader()(path)
    assert run.remarks == (
        "5 of 24 predictions are there so far",
        "the last line of the journal is unfinished and left out",
    )
    assert sum(item.prediction is None for item in run.items) == 19
    assert run.result.coverage.absent == 19


def test_a_half_written_run_says_so(tmp_path: Path) -> None:
    path = write_run(
        tmp_path,
        task=DuoTask(),
        source=DuoSource(),
        spec=system(),
        answer=answers(),
        status="failed",
        only=5,
    )
    assert duo_reader()(path).remarks == ("5 of 24 predictions are there though the run ended",)


def test_strays_and_repeats_are_left_out_and_named(tmp_path: Path) -> None:
    path = duo_runs(tmp_path)[0]
    journal = path / "predictions.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    stray = lines[0].replace('"s0"', '"nobody"')
    journal.write_text("".join([*lines, stray, lines[1]]))
    assert duo_reader()(path).remarks == (
        "1 prediction is of samples that were not asked for; left out",
        "1 prediction repeats an earlier key; the first counts",
    )


def test_an_old_schema_is_read(tmp_path: Path) -> None:
    fixture = Path(__file__).parents[1] / "run" / "fixtures" / "run_schema1.json"
    (tmp_path / "run.json").write_bytes(fixture.read_bytes())
    count = json.loads(fixture.read_text())["dataset"]["locator"]["n"]
    run = read_run(tmp_path, task=Task(), source=Source(count))
    assert run.record.run_id == "20261130T023454Z-f6b77a"
    assert run.result.coverage.absent == len(run.items) > 0


def test_what_is_no_run_or_has_an_unknown_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="FB505"):
        load(tmp_path, Sources())
    (tmp_path / "run.json").write_text('{"schema": 99}')
    with pytest.raises(DataError, match="FB506"):
        load(tmp_path, Sources())


def test_changed_tells_a_longer_journal(tmp_path: Path) -> None:
    path = duo_runs(tmp_path)[0]
    before = changed(path)
    assert changed(path) == before
    with (path / "predictions.jsonl").open("ab") as file:
        file.write(b"{")
    assert changed(path) != before


def test_runs_of_one_system_get_their_ids(tmp_path: Path) -> None:
    task, source = DuoTask(), DuoSource()
    paths = [
        write_run(
            tmp_path, task=task, source=source, spec=system("one"), answer=answers(), run_id=name
        )
        for name in ("a", "b")
    ]
    paths.append(duo_runs(tmp_path / "more")[1])
    named = with_names([duo_reader()(p) for p in paths])
    assert [r.result.system.name for r in named] == ["one (a)", "one (b)", "two"]


def test_runs_of_one_system_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    task, source = DuoTask(), DuoSource()
    paths = [
        write_run(
            tmp_path, task=task, source=source, spec=system("one", parameters={"pause": pause}),
            answer=answers(), run_id=name,
        )
        for name, pause in (("a", 0.3), ("b", 0.9), ("c", 0.9))
    ]  # fmt: skip
    named = with_names([duo_reader()(p) for p in paths])
    assert [r.result.system.name for r in named] == [
        "one (pause=0.3)", "one (pause=0.9 b)", "one (pause=0.9 c)"
    ]  # fmt: skip


def test_runs_with_frame_scores_are_read_and_drawn(tmp_path: Path) -> None:
    from floorbench.cli.run import run
    from floorbench.report.figures_data import calibrations, trade_offs
    from support import two_channel_tiny

    calls = two_channel_tiny.build(tmp_path / "calls")
    given = {"data": str(calls), "out": tmp_path / "runs", "score": False}
    assert run("dualturn-4s", "silence-frames", task_sets=["min_gap=4"], **given) == 0
    (path,) = (p.parent for p in (tmp_path / "runs").rglob("run.json"))
    stored = load(path, Sources())
    traces = [i.prediction.decision.trace for i in stored.items if i.prediction is not None]
    assert traces
    assert all(trace is not None and trace.data for trace in traces)
    assert list(calibrations([stored])) == list(trade_offs([stored])) == []


def test_a_run_whose_maker_did_not_repeat_the_parameters_is_built_from_its_spec(
    tmp_path: Path,
) -> None:
    source = session_runs.calls(tmp_path / "calls", seconds=30.0)
    task = DualTurnTask(min_gap=4)
    made, _ = session_runs.runs(tmp_path / "runs", source, task)
    assert RunFolder(made[0]).record().task.parameters == {}
    for opened in (load(made[0], Sources()).opened, open_predictions(made[0])):
        assert opened.task.spec == task.spec
