import base64
from pathlib import Path

import numpy as np
import pytest

from floorbench import codec
from floorbench.core.prediction import PredictionKey
from floorbench.errors import UsageError
from floorbench.web import span
from floorbench.web.index import Group
from floorbench.web.line import WRONG, TimeLine
from support.session_runs import calls, runs

VIEW = {"kind": None, "reading": None, "run": 0}


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> TimeLine:
    return made(tmp_path_factory.mktemp("line"), 240.0)


def made(folder: Path, seconds: float) -> TimeLine:
    paths, read = runs(folder / "runs", calls(folder / "data", seconds=seconds))
    return TimeLine(Group([read(p) for p in paths]), PredictionKey("sw9009", "", 0))


def test_the_whole_in_little(line: TimeLine) -> None:
    found = span.overview(line, **VIEW)
    assert found["kind"] == "action"
    assert found["right"] + found["wrong"] == len(line.kinds["action"].events)
    share = np.frombuffer(base64.b64decode(found["activity"]["user"]), dtype=np.uint8)
    assert len(share) == span.BUCKETS
    spans = line.activity["user"]
    covered = float((spans[:, 1] - spans[:, 0]).sum())
    assert share.sum() / 255 * line.seconds / span.BUCKETS == pytest.approx(covered, rel=0.02)


def test_a_span_holds_what_lies_in_it(line: TimeLine) -> None:
    found = span.span(line, 30.0, 50.0, signals=["eot"], **VIEW)
    events = line.kinds["action"].events
    assert [e["time"] for e in found["events"]] == [
        e.time for e in events if (e.end or e.time) >= 30.0 and e.time <= 50.0
    ]
    assert {a["run"] for e in found["events"] for a in e["answers"]} == {0, 1}
    assert all(w["end"] > 30 and w["start"] < 50 for w in found["words"])
    assert {c["role"] for c in found["traces"]} == {"user", "system"}
    curve = found["traces"][0]
    assert curve["first"] <= 30.0
    assert curve["first"] + curve["step"] * len(curve["high"]) >= 50.0
    scores = line.scores[0]
    assert scores is not None
    at = round((curve["first"] - scores.first) / scores.step)
    column = scores.columns.index(f"eot:{curve['role']}")
    wanted = scores.values[at : at + len(curve["high"]), column]
    assert np.allclose(curve["high"], wanted, atol=1e-4)


def test_a_span_of_hours_is_small(tmp_path: Path) -> None:
    long = made(tmp_path, 7200.0)
    found = span.span(long, 0.0, 7200.0, signals=["eot", "vad", "hold"], **VIEW)
    assert found["words"] == []
    assert found["words_left"] > span.MOST_WORDS
    assert len(found["events"]) == span.MOST_EVENTS
    assert found["events_left"] > 0
    assert all(len(c["high"]) <= span.POINTS for c in found["traces"])
    assert all(
        low <= high for c in found["traces"] for low, high in zip(c["low"], c["high"], strict=True)
    )
    assert len(codec.encode(found)) < 400_000


def test_steps_go_through_every_error(line: TimeLine) -> None:
    kind = line.kinds["action"]
    wrong = {
        e.time for e, r in zip(kind.events, kind.readings[0][0].right, strict=True) if r == WRONG
    }
    assert wrong
    seen, at = [], -1.0
    while (found := span.step(line, at, back=False, errors=True, **VIEW)) is not None:
        at = found["time"]
        seen.append(at)
        assert any(a["verdict"] == "wrong" for a in found["answers"] if a["run"] == 0)
    assert seen == sorted(wrong)
    back = span.step(line, at, back=True, errors=True, **VIEW)
    assert back is not None
    assert back["time"] == seen[-2]


def test_steps_end_where_events_do(line: TimeLine) -> None:
    assert span.step(line, line.seconds, back=False, errors=False, **VIEW) is None
    assert span.step(line, 0.0, back=True, errors=False, **VIEW) is None


@pytest.mark.parametrize(
    ("start", "end", "asked"),
    [
        (5.0, 5.0, {}),
        (0.0, 5.0, {"kind": "<script>"}),
        (0.0, 5.0, {"run": 7}),
        (0.0, 5.0, {"signals": ["nothing"]}),
        (0.0, 5.0, {"signals": ["eot"] * 7}),
    ],
)
def test_what_is_not_there_is_refused(line: TimeLine, start: float, end: float, asked) -> None:
    with pytest.raises(UsageError) as error:
        span.span(line, start, end, **{**VIEW, "signals": [], **asked})
    assert error.value.code == "FB805"
