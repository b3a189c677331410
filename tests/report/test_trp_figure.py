"""The picture of one turn: bars, consensus and predictions come from the same slots."""

from __future__ import annotations

import pytest

from floorbench.core.prediction import Decision
from floorbench.datasets.trp import TrpSource
from floorbench.errors import UsageError
from floorbench.report.trp_figure import answers, figure, slots
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.scoring import open_predictions
from floorbench.tasks.trp import TrpTask
from support import scoring, trp_tiny


class Even:
    """Says yes after every second word."""

    spec = scoring.system("even", modalities=("text", "question"))

    def load(self):
        pass

    def decide(self, observation):
        return Decision(label="no" if len(observation.text.split()) % 2 else "yes")


@pytest.fixture
def made(tmp_path):
    task, source = TrpTask(), TrpSource(trp_tiny.build(tmp_path / "data"))
    folder = run(
        task=task,
        system=SystemChoice(name="even", factory=Even),
        source=source,
        conditions=["expert"],
        out=tmp_path,
        notify=lambda _: None,
    )
    return task, source, open_predictions(folder.path, task=task, source=source)


def test_slots_hold_words_shares_and_consensus(made):
    task, source, _ = made
    rows = slots(task, source, "one")
    assert [r["word"] for r in rows] == ["w0", "w1", "w2", "w3", "w4"]
    assert [r["share"] for r in rows] == [0.0, 0.75, 0.0, 0.5, 0.0]
    assert [r["slot"] for r in rows if r["consensus"]] == [2, 4]
    assert len(slots(TrpTask(final_slot="drop"), source, "one")) == 4


def test_answers_are_the_runs_yes(made):
    *_, opened = made
    assert answers([opened], "three") == [
        {"run": "even expert", "slot": 2}, {"run": "even expert", "slot": 4},
    ]  # fmt: skip


def test_the_chart_shows_them_and_can_be_drawn(made, tmp_path):
    task, source, opened = made
    chart = figure(task, source, "one", [opened])
    upper, lower = chart.to_dict()["vconcat"]
    bars = upper["layer"][0]["data"]["values"]
    assert [b["share"] for b in bars] == [0.0, 0.75, 0.0, 0.5, 0.0]
    assert upper["layer"][1]["data"]["values"] == [{"tau": 0.3}]
    marks = [(m["run"], m["at"]) for m in lower["data"]["values"]]
    assert marks == [
        ("listeners", "2 w1"), ("listeners", "4 w3"), ("even expert", "2 w1"),
        ("even expert", "4 w3"),
    ]  # fmt: skip
    chart.save(str(tmp_path / "one.svg"))
    assert (tmp_path / "one.svg").read_text().startswith("<svg")


def test_an_adaptive_rule_has_no_line(made):
    _, source, _ = made
    chart = figure(TrpTask(rule="adaptive"), source, "one").to_dict()
    assert len(chart["vconcat"][0]["layer"]) == 1


def test_an_unknown_stimulus_gets_a_suggestion(made):
    task, source, _ = made
    with pytest.raises(UsageError, match="did you mean 'one'"):
        figure(task, source, "oen")
