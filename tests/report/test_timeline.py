import re
from dataclasses import replace
from pathlib import Path

import pytest

from floorbench.core.vocab import Role
from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.errors import EnvironmentProblem, UsageError
from floorbench.report.figures_save import save
from floorbench.report.timeline import gold_rows, said_rows, talk_rows, timeline
from floorbench.systems.frames import PersistenceFrames
from support import two_channel_tiny as tiny

SPAN = (5.0, 20.0)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory):
    folder = tiny.build(tmp_path_factory.mktemp("calls"), ("sw9001",))
    return SwitchboardSource(folder, splits="none").session("sw9001")


def test_bars_and_words_of_the_span(session) -> None:
    bars, words = talk_rows(session, SPAN)
    spoken = [w for w in session.words[Role.USER] if w.text != "[silence]"]
    inside = [w for w in spoken if 5e6 <= (w.start + w.end) // 2 < 20e6]
    assert [w["text"] for w in words if w["channel"] == "user"] == [w.text for w in inside]
    assert all(SPAN[0] <= b["start"] < b["end"] <= SPAN[1] for b in bars)
    assert {b["channel"] for b in bars} == {"user", "system"}


def test_gold_marks_stand_where_the_table_puts_them(session, tmp_path: Path) -> None:
    from floorbench.datasets.dualturn_labels import LabelRules, labelled
    from floorbench.events.dualturn_words import PhraseList

    folder = tiny.build(tmp_path, ("sw9001",))
    marks = gold_rows(session, SPAN, 0)
    assert {m["lane"] for m in marks} <= {f"{r} {w}" for r in ("user", "system")
                                          for w in ("signals", "actions")}  # fmt: skip
    assert {"EOT", "HOLD", "BC"} <= {m["label"] for m in marks}
    source = SwitchboardSource(folder, splits="none")
    rules = LabelRules(protocol="dualturn-4s", min_gap=0)
    (found,) = labelled(source, rules, PhraseList(phrases=(), counts=()))
    actions = [r for r in found.rows if r.kind == "action" and 5 <= r.frame * 0.08 < 20]
    assert sum(m["lane"].endswith("actions") for m in marks) == len(actions)


def test_curves_stand_at_their_commit_time(session) -> None:
    trace = PersistenceFrames().decide(session.observation()).trace
    assert trace is not None
    rows = said_rows(session, SPAN, trace, ("eot",))
    assert min(r["start"] for r in rows) == pytest.approx(5.04)
    assert max(r["start"] for r in rows) < SPAN[1]
    with pytest.raises(UsageError, match=r"FB103 .*'bc'"):
        said_rows(session, SPAN, trace, ("eot", "bc"))


def test_both_files_hold_a_picture(session, tmp_path: Path) -> None:
    trace = PersistenceFrames().decide(session.observation()).trace
    chart = timeline(session, start=5, end=20, min_gap=0, trace=trace, signals=("eot", "fvad1"))
    save(chart, tmp_path / "t.svg")
    save(chart, tmp_path / "t.png")
    svg = (tmp_path / "t.svg").read_text()
    for text in ("user: activity and words", "gold, min_gap 0", "predicted eot", "home", "HOLD"):
        assert text in svg
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    save(timeline(session, start=5, end=20, min_gap=0), tmp_path / "u.svg")
    assert "predicted" not in (tmp_path / "u.svg").read_text()


def test_impossible_spans_and_files_are_refused(session, tmp_path: Path) -> None:
    for start, end in ((20, 5), (-1, 5), (0, 90), (55, 70)):
        with pytest.raises(UsageError, match=r"FB103"):
            timeline(session, start=start, end=end, min_gap=0)
    chart = timeline(session, start=5, end=20, min_gap=0)
    with pytest.raises(UsageError, match=r"FB804"):
        save(chart, tmp_path / "t.gif")


def said(session, text: str):
    """Return the session with another word in the place of each."""
    words = {r: tuple(w._replace(text=text) for w in ws) for r, ws in session.words.items()}
    return replace(session, words=words)


def test_chinese_words_are_drawn(session, chinese_font: None, tmp_path: Path) -> None:
    chart = timeline(said(session, "你好"), start=5, end=20, min_gap=0, title="对话")
    save(chart, tmp_path / "t.png")
    save(chart, tmp_path / "t.svg")
    svg = (tmp_path / "t.svg").read_text()
    assert "你好" in svg
    assert re.search(r'font-family="[^"]*CJK', svg)


def test_a_character_that_no_font_has_is_an_error(session, tmp_path: Path) -> None:
    chart = timeline(said(session, "\U0001fae8\ue000"), start=5, end=20, min_gap=0)
    with pytest.raises(EnvironmentProblem, match=r"FB803"):
        save(chart, tmp_path / "t.png")
    assert not (tmp_path / "t.png").exists()
