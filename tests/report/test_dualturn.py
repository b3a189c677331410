from pathlib import Path

import pytest

from floorbench.datasets.dualturn_labels import LabelRules, labelled, training_phrases
from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.report.dualturn import stats_tables
from floorbench.report.published import rows
from floorbench.report.render import tables
from floorbench.report.tables import RENDERERS, render
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.scoring import open_predictions, score
from floorbench.systems.frames import PersistenceFrames
from floorbench.tasks.dualturn import DualTurnTask
from floorbench.tasks.vap import VapTask
from support import two_channel_tiny as tiny


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SwitchboardSource:
    folder = tiny.build(tmp_path_factory.mktemp("calls"))
    return SwitchboardSource(folder, splits=str(folder / "splits.json"))


def result(task, source, folder: Path, factory=None):
    made = run(
        task=task, system=SystemChoice(name="persistence", factory=factory), source=source,
        out=folder, notify=lambda text: None,
    )  # fmt: skip
    if factory is not None:
        return score(open_predictions(made.path, task=task, source=source), draws=60)
    assert len(list((made.path / "traces").iterdir())) == 16
    return score(open_predictions(made.path, task=task, source=source), draws=60)


def test_a_run_becomes_tables_with_the_published_rows(source, tmp_path: Path) -> None:
    found = tables([result(DualTurnTask(min_gap=0), source, tmp_path)])
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


class Faltering(PersistenceFrames):
    """Fails on every third session that it is asked about."""

    asked = 0

    def decide(self, observation):
        self.asked += 1
        if self.asked % 3 == 0:
            raise RuntimeError("it faltered")
        return super().decide(observation)


def test_failures_show_in_the_coverage_of_every_table(source, tmp_path: Path) -> None:
    actions, _, ends, *_ = tables(
        [result(DualTurnTask(min_gap=0), source, tmp_path / "a", Faltering)]
    )
    (vap,) = tables([result(VapTask(), source, tmp_path / "b", Faltering)])
    for table in (actions, ends, vap):
        share = table.rows[0].cells["coverage"].value
        assert isinstance(share, float)
        assert 0.5 < share < 0.9
    assert actions.rows[0].cells["wf1"].value is not None  # failures count as misses
    assert ends.rows[0].cells["auc:+0 ms"].value is None  # a score cannot be made up


@pytest.mark.parametrize(("ported", "words"), [(False, "these runs do not"), (True, "so do these")])
def test_printed_action_figures_are_told_from_ones_that_count_otherwise(
    source, tmp_path: Path, ported: bool, words: str
) -> None:
    actions = tables([result(DualTurnTask(port_compat=ported, min_gap=2), source, tmp_path)])[0]
    assert any("port_compat=true" in n and words in n for n in actions.notes)
    assert any("5 frames (0.4 s)" in n for n in actions.notes)
    assert any("at most 2 frames" in n for n in actions.notes)


def test_sessions_too_short_for_actions_are_counted(tmp_path: Path) -> None:
    folder = tiny.build(tmp_path / "calls", (*tiny.CALLS[4:12], "sw9020"))
    for side, said in tiny.call(3, seconds=30.0).items():
        tiny.write_side(folder / f"sw9020{side}-ms98-a-word.text", f"sw9020{side}", said, 30.0)
    short = SwitchboardSource(folder, splits=str(folder / "splits.json"))
    assert short.splits.of("sw9020") == "test"
    made = run(
        task=DualTurnTask(min_gap=0), system=SystemChoice(name="persistence"), source=short,
        out=tmp_path / "runs", notify=lambda text: None,
    )  # fmt: skip
    scored = score(
        open_predictions(made.path, task=DualTurnTask(min_gap=0), source=short), draws=60
    )
    said = "1 test session without actions (shorter than 500 frames, or none)"
    (note,) = [e.note for e in scored.estimates if e.metric == "weighted_f1"]
    assert str(note).startswith(f"{said}; gold labels in the test part: ST ")
    actions, words, ends = tables([scored])[:3]
    assert actions.notes[0] == note
    assert not any("gold labels" in n for n in words.notes)  # none: there is no list of phrases
    assert any(n.startswith("gold labels in the test part: EOT ") for n in ends.notes)


def test_the_other_protocol_has_its_own_table(source, tmp_path: Path) -> None:
    (table,) = tables([result(VapTask(), source, tmp_path)])
    assert len(table.columns) == 13
    assert table.rows[0].cells["coverage"].value == 1.0
    assert not any("min_gap" in n for n in table.notes)
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
    assert set(sums.columns) >= {"ST", "ST_overlapping", "CL", "SL", "CT", "BC", "C", "B", "T"}
    assert any("min_gap 0" in n for n in sums.notes)
