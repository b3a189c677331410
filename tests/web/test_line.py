from pathlib import Path

import numpy as np

from floorbench.core.prediction import PredictionKey
from floorbench.tasks.dualturn import DualTurnTask
from floorbench.tasks.vap import VapTask
from floorbench.web.index import Group
from floorbench.web.item import item_payload
from floorbench.web.line import RIGHT, TimeLine
from support.session_runs import calls, phrases, runs
from support.viewing import SECONDS, duo_reader, duo_runs


def session_line(tmp_path: Path, task=None, sample="sw9009") -> tuple[Group, TimeLine]:
    paths, read = runs(tmp_path / "runs", calls(tmp_path / "data"), task)
    group = Group([read(p) for p in paths])
    return group, TimeLine(group, PredictionKey(sample, "", 0))


def test_answers_stand_at_the_events_that_were_scored(tmp_path: Path) -> None:
    source = calls(tmp_path / "list")
    group, line = session_line(tmp_path, DualTurnTask(min_gap=0, phrases=phrases(tmp_path, source)))
    assert list(line.kinds) == ["action", "word", "end"]
    for run in group.runs:
        known = next(m for m in run.stored.measures if m.metric.spec.name == "weighted_f1").scored
        own = np.array([n == "sw9009" for n in known.units or ()])
        reading = line.kinds["action"].readings[run.position][0]
        assert reading.right.sum() == (known.column("predicted") == known.column("gold"))[own].sum()
        for event, said, right in zip(
            line.kinds["action"].events, reading.predicted, reading.right.tolist(), strict=True
        ):
            assert (event.label == said) == (right == RIGHT)
    assert [e.time for e in line.kinds["end"].events] == sorted(
        e.time for e in line.kinds["end"].events
    )
    assert line.kinds["end"].readings[0][0].name.startswith("+0 ms")
    assert len(line.kinds["end"].readings[0]) == 19 + 3
    assert line.kinds["word"].readings == [[], []]


def test_sessions_that_are_fitted_on_have_no_verdict(tmp_path: Path) -> None:
    _, line = session_line(tmp_path, sample="sw9005")
    reading = line.kinds["action"].readings[0][0]
    assert reading.reason == "a validation session: figures are of test"
    assert reading.predicted == []


def test_answers_of_vap_have_the_names_of_the_events(tmp_path: Path) -> None:
    _, line = session_line(tmp_path, VapTask())
    kind = line.kinds["shift_hold"]
    assert {e.label for e in kind.events} <= {"shift", "hold"}
    assert set(kind.readings[0][0].predicted) <= {"shift", "hold"}


def test_scores_stand_where_they_were_committed(tmp_path: Path) -> None:
    _, line = session_line(tmp_path)
    scores = line.scores[0]
    assert scores is not None
    assert scores.step == 0.08
    assert scores.first == 0.08 + scores.look_ahead
    assert line.seconds == 120.0


def test_a_clip_has_the_same_time_line(tmp_path: Path) -> None:
    read = duo_reader()
    group = Group([read(p) for p in duo_runs(tmp_path)])
    line = TimeLine(group, PredictionKey("s1", "h1", 0))
    assert [(e.label, e.time, e.end) for e in line.kinds["gold"].events] == [
        ("overlap", 0.5, 0.8), ("shift", 1.25, None),
    ]  # fmt: skip
    assert [w[3] for w in line.words] == ["one", "two"]
    assert [e["kind"] for e in line.said[0]] == ["shift", "commit"]
    assert line.seconds == SECONDS
    assert line.scores == [None, None]


def test_the_rule_of_a_session_counts_what_was_right(tmp_path: Path) -> None:
    group, line = session_line(tmp_path)
    made = item_payload(group, PredictionKey("sw9009", "", 0), line)
    said = made["runs"][0]["rule"]
    assert said[0].startswith("The system answered in each of 1500 frames with vad, eot")
    right = int(line.kinds["action"].readings[0][0].right.sum())
    n = len(line.kinds["action"].events)
    assert f"Actions of the agent: {right} of {n} right (the task's answers)." in said
