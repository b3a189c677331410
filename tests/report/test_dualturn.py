from pathlib import Path

import pytest

from floorbench.datasets.dualturn_labels import LabelRules, labelled, training_phrases
from floorbench.datasets.two_channel_words import SwitchboardSource
from floorbench.report.dualturn import stats_tables
from floorbench.report.published import rows
from floorbench.report.render import tables
from floorbench.report.tables import RENDERERS, render
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.scoring import open_predictions, score
from floorbench.tasks.dualturn import DualTurnTask
from floorbench.tasks.vap import VapTask
from support import two_channel_tiny as tiny


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SwitchboardSource:
    folder = tiny.build(tmp_path_factory.mktemp("calls"))
    return SwitchboardSource(folder, splits=str(folder / "splits.json"))


def result(task, source, folder: Path):
    made = run(
        task=task, system=SystemChoice(name="persistence"), source=source, out=folder,
        notify=lambda text: None,
    )  # fmt: skip
    assert len(list((made.path / "traces").iterdir())) == 16
    return score(open_predictions(made.path, task=task, source=source), draws=60)


def test_a_run_becomes_tables_with_the_published_rows(source, tmp_path: Path) -> None:
    found = tables([result(DualTurnTask(), source, tmp_path)])
    actions, words, ends, curve, f1 = found
    own = actions.rows[0]
    assert own.name == "persistence"
    for key in ("wf1", "f:BC", "chance", "always"):
        assert isinstance(own.cells[key].value, float)
    printed = {r.name: r for r in actions.rows if r.published}
    assert printed["DualTurn (switchboard)"].cells["wf1"].shown() == "63.3"
    assert printed["VAP + LR probe (otospeech)"].cells["f:BC"].shown() == "0.0"
    assert [r.name for r in words.rows if r.published] == [
        "DualTurn (LR probe) (switchboard)",
        "DualTurn (heuristic) (switchboard)",
    ]
    assert words.rows[0].cells["avg"].shown() == "N/A"
    assert isinstance(ends.rows[0].cells["bacc:+0 ms"].value, float)
    for table in (actions, words, ends):
        assert "coverage" in table.columns
    assert len(curve.columns) == len(f1.columns) == 19
    for table in found:
        for form in RENDERERS:
            assert render(table, form)


def test_the_other_protocol_has_its_own_table(source, tmp_path: Path) -> None:
    (table,) = tables([result(VapTask(), source, tmp_path)])
    assert len(table.columns) == 10
    assert table.rows[0].cells["coverage"].value == 1.0
    assert "vap-1s" in table.title


def test_published_averages_are_the_means_of_their_rows() -> None:
    cells: dict[str, dict[str, float]] = {}
    for r in rows("dualturn"):
        if r["metric"].startswith("word_auc"):
            cells.setdefault(r["system"], {})[r["metric"].rsplit("_")[-1]] = float(r["value"])
    assert len(cells) == 2
    for values in cells.values():
        mean = sum(values[c] for c in "cbt") / 3
        assert abs(mean - values["avg"]) <= 0.0005 + 1e-9


def test_counts_of_sessions(source) -> None:
    rules = LabelRules(protocol="dualturn-4s", min_gap=0)
    phrases = training_phrases(source, rules)
    counts = [x.counts for x in labelled(source, rules, phrases)]
    sides, sums = stats_tables(counts, rules, phrases, name="tiny")
    assert len(sides.rows) == 2 * len(counts) + 1
    total = sum(c.sides["user"]["EOT"] + c.sides["system"]["EOT"] for c in counts)
    assert sides.rows[-1].cells["EOT"].shown() == str(total)
    assert set(sums.columns) >= {"ST", "CL", "SL", "CT", "BC", "C", "B", "T"}
    assert any("min_gap 0" in n for n in sums.notes)
