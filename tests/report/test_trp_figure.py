import dataclasses
import json
from fractions import Fraction
from pathlib import Path

import pytest

from floorbench import codec
from floorbench.datasets.open import open_dataset
from floorbench.datasets.trp import TrpSource
from floorbench.errors import DataError, EnvironmentProblem, UsageError
from floorbench.events.trp import TrpRules
from floorbench.report.figures_save import render, save
from floorbench.report.stored import Sources, load
from floorbench.report.trp_figure import HIT, MISS, NEAR, draw, picture
from floorbench.run.store import RunFolder
from floorbench.tasks.trp import TrpTask


@pytest.fixture(scope="module")
def starter() -> TrpSource:
    source = open_dataset("starter:trp")
    assert isinstance(source, TrpSource)
    return source


def test_the_picture_says_what_the_labels_say(starter: TrpSource) -> None:
    shown = picture(starter, "allotment")
    task = TrpTask()
    gold = [s for s in starter.samples() if s.target["slot"][0] == "allotment"]
    assert len(shown.slots) == len(gold) == len(shown.words)
    for slot, sample in zip(shown.slots, gold, strict=True):
        said = task.gold(sample)
        assert slot["consensus"] == (said.label == "yes")
        assert slot["share"] == said.scores["proportion"]
    assert shown.threshold == 0.3
    assert shown.listeners == 22
    assert starter.panels is not None
    assert len(shown.onsets) == sum(map(len, starter.panels["allotment"].onsets.values()))
    assert len(shown.windows) == sum(s["consensus"] for s in shown.slots)
    for window in shown.windows:
        assert window["start"] <= window["at"] < window["end"]
    assert all(a["end"] == b["start"] for a, b in zip(shown.slots, shown.slots[1:], strict=False))


def test_rules_change_the_consensus(starter: TrpSource) -> None:
    strict = picture(starter, "allotment", rules=TrpRules(tau=Fraction(6, 10)))
    loose = picture(starter, "allotment", rules=TrpRules(tau=Fraction(1, 10)))
    assert len(strict.windows) < len(loose.windows)
    assert picture(starter, "allotment", rules=TrpRules(rule="adaptive")).threshold is None


def test_the_figure_is_drawn_in_every_format(starter: TrpSource, tmp_path: Path) -> None:
    shown = picture(starter, "allotment")
    svg = render(draw(shown), "svg").decode()
    assert "allotment: 22 listeners" in svg
    assert "TRP by consensus" in svg
    assert "obviously" in svg
    assert save(draw(shown), tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_predictions_have_a_row_each_and_their_kind(starter: TrpSource) -> None:
    shown = picture(starter, "allotment")
    rows = [{"system": "one", "time": 2.0, "kind": k} for k in (HIT, NEAR, MISS)]
    both = dataclasses.replace(shown, predictions=rows, systems=["one", "silent system"])
    svg = render(draw(both), "svg").decode()
    assert "silent system" in svg
    assert all(kind in svg for kind in (HIT, NEAR, MISS))
    nothing = dataclasses.replace(shown, predictions=[], systems=["silent system"])
    assert "silent system" in render(draw(nothing), "svg").decode()


def test_the_adaptive_rule_has_no_line(starter: TrpSource) -> None:
    shown = picture(starter, "allotment", rules=TrpRules(rule="adaptive"))
    assert "τ" not in json.dumps(draw(shown).to_dict(), ensure_ascii=False)


def test_stimuli_that_are_not_there_or_not_heard(starter: TrpSource, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="FB232") as caught:
        picture(starter, "alotment")
    assert "allotment" in caught.value.hint
    lines = b"".join(codec.encode(s) + b"\n" for s in starter.stimuli)
    (tmp_path / "stimuli.jsonl").write_bytes(lines)
    with pytest.raises(DataError, match="FB235"):
        picture(TrpSource(tmp_path), "allotment")


def test_runs_give_rows_and_rules(starter: TrpSource, tmp_path: Path) -> None:
    from floorbench.cli.run import run

    assert run("trp", "oracle", out=tmp_path, limit=120, score=False, conditions=["expert"]) == 0
    (path,) = (p.parent for p in tmp_path.rglob("run.json"))
    assert RunFolder.open(path)
    stored = load(path, Sources("starter:trp"))
    shown = picture(starter, "allotment", runs=[stored])
    assert shown.systems == ["oracle · expert"]
    assert {p["kind"] for p in shown.predictions} == {HIT}
    assert [p["time"] for p in shown.predictions] == [
        s["start"] for s in shown.slots if s["consensus"]
    ]
    other = dataclasses.replace(stored, record=dataclasses.replace(
        stored.record, dataset=dataclasses.replace(stored.record.dataset, digest="0" * 64)
    ))  # fmt: skip
    with pytest.raises(UsageError, match="FB802"):
        picture(starter, "allotment", runs=[other])


def test_names_in_any_script_are_drawn_or_refused(
    starter: TrpSource, chinese_font: None, tmp_path: Path
) -> None:
    shown = picture(starter, "allotment")
    chinese = draw(dataclasses.replace(shown, predictions=[], systems=["系统"]))
    svg = save(chinese, tmp_path / "f.svg").read_text()
    assert "系统" in svg
    assert "CJK" in svg
    nobody = draw(dataclasses.replace(shown, predictions=[], systems=["\ue000"]))
    with pytest.raises(EnvironmentProblem, match="FB803"):
        save(nobody, tmp_path / "g.svg")
