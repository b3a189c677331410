"""The TRP table: systems, baselines of the same slots, the paper's rows, and what they may not be
compared in."""

from __future__ import annotations

import pytest

from floorbench.core.prediction import Decision
from floorbench.datasets.trp import TrpSource
from floorbench.report.render import tables
from floorbench.report.tables import as_text
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.scoring import open_predictions, score
from floorbench.tasks.trp import TrpTask
from support import scoring, trp_tiny


class Always:
    """Says yes, with or without reading the instruction."""

    def __init__(self, name, modalities):
        self.spec = scoring.system(name, modalities=modalities)

    def load(self):
        pass

    def decide(self, observation):
        return Decision(label="yes")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trp")
    task, source = TrpTask(), TrpSource(trp_tiny.build(folder / "data"))
    out = []
    for name, modalities in (("plain", ("text",)), ("asked", ("text", "question"))):
        made = run(
            task=task,
            system=SystemChoice(name=name, factory=lambda n=name, m=modalities: Always(n, m)),
            source=source,
            out=folder,
            notify=lambda _: None,
        )
        out.append(score(open_predictions(made.path, task=task, source=source), draws=50))
    return out


def test_rows(results):
    (table,) = tables(results)
    names = [row.name for row in table.rows]
    assert names[:3] == ["plain", "asked expert", "asked participant"]
    assert names[3:9] == [
        "(never)", "(always)", "(random at prevalence)", "(pause rule)", "(punctuation rule)",
        "(one listener)",
    ]  # fmt: skip
    assert [row.published for row in table.rows] == [False] * 9 + [True] * 14


def test_values(results):
    (table,) = tables(results)
    rows = {row.name: row.cells for row in table.rows}
    for name in ("plain", "asked expert", "(always)"):
        assert rows[name]["slot_recall"].value == 1
        assert rows[name]["slot_f"].value == pytest.approx(8 / 17)
    assert rows["GPT-4 Omni participant"]["slot_f"].value == 0.152
    assert rows["GPT-4 Omni participant"]["kappa_true"].value == 0.325
    assert "kappa_hit" not in rows["GPT-4 Omni participant"]
    assert "kappa_true" not in rows["plain"]


def test_it_says_why_the_paper_is_not_comparable(results):
    text = as_text(tables(results)[0])
    assert "Not label for label comparable" in text
    assert "4 of 13 slots are consensus TRPs" in text
    assert "values in percent" not in text


def test_it_says_what_another_panel_would_change(results):
    """Three stimuli are too few for an interval, which is said, and the labels that flip are."""
    (table,) = tables(results)
    (note,) = [n for n in table.notes if n.startswith("F1 with stimuli and listeners drawn again")]
    assert "plain " in note
    assert "asked expert " in note
    assert "asked participant " in note
    assert "no interval: " in note
    assert "Another panel would turn " in note
