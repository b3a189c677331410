from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from floorbench.core.prediction import PredictionKey
from floorbench.core.sample import Sample
from floorbench.errors import UsageError
from floorbench.report.stored import read_run
from floorbench.web.index import NOT_DUE, RIGHT, UNDECIDED, WRONG, Group
from support.viewing import (
    DuoSource,
    DuoTask,
    answers,
    duo_reader,
    duo_runs,
    system,
    write_run,
)


def group(tmp_path: Path) -> Group:
    read = duo_reader()
    return Group([read(p) for p in duo_runs(tmp_path)])


def test_right_and_wrong_are_those_of_the_tasks_units(tmp_path: Path) -> None:
    g = group(tmp_path)
    layer = g.runs[0].layer("label")
    wrong = {g.keys[r].sample_id for r in np.flatnonzero(layer.right == WRONG)}
    assert wrong == {"s0", "s5", "s10"}
    assert (layer.right != UNDECIDED).all()
    measure = next(m for m in g.runs[0].stored.measures if m.slice["condition"] == "h0")
    h0 = np.array([k.condition == "h0" for k in g.keys])
    gold, said = measure.scored.column("gold"), measure.scored.column("predicted")
    assert (layer.right[h0] == RIGHT).sum() == (gold == said).sum()


def test_failed_predictions_are_wrong_and_have_no_label(tmp_path: Path) -> None:
    g = group(tmp_path)
    run = g.runs[1]
    row = g.row(PredictionKey("s7", "h0", 0))
    layer = run.layer("label")
    assert (layer.right[row], layer.predicted[row]) == (WRONG, -1)


def test_items_without_a_prediction_are_undecided(tmp_path: Path) -> None:
    path = write_run(
        tmp_path, task=DuoTask(), source=DuoSource(), spec=system(), answer=answers(), only=3
    )
    g = Group([duo_reader()(path)])
    right = g.runs[0].layer("label").right
    assert (right[:3] != UNDECIDED).all()
    assert (right[3:] == UNDECIDED).all()


def test_rows_are_the_union_of_what_the_runs_were_asked(tmp_path: Path) -> None:
    task, source = DuoTask(), DuoSource()
    paths = [
        write_run(tmp_path, task=task, source=source, spec=spec, answer=answers())
        for spec in (
            system("short", context="none"),
            system("long"),
            system("zh", languages=("zh",)),
        )
    ]
    g = Group([duo_reader()(p) for p in paths])
    assert len(g.keys) == 24
    assert [k.condition for k in g.keys[:2]] == ["h0", "h1"]
    assert [(r.item != NOT_DUE).sum() for r in g.runs] == [12, 24, 8]


def test_the_items_of_a_cell_are_its_units(tmp_path: Path) -> None:
    g = group(tmp_path)
    mask = g.cell_mask(g.runs[0], "accuracy", {"condition": "h1"})
    assert {g.keys[r].condition for r in np.flatnonzero(mask)} == {"h1"}
    assert mask.sum() == 12
    with pytest.raises(UsageError, match="FB805"):
        g.cell_mask(g.runs[0], "accuracy", {"condition": "h9"})


def test_unknown_runs_and_items_are_refused(tmp_path: Path) -> None:
    g = group(tmp_path)
    with pytest.raises(UsageError, match="FB805"):
        g.run(2)
    with pytest.raises(UsageError, match="FB805"):
        g.row(PredictionKey("nobody", "h0", 0))


class Roles(DuoSource):
    """Items that have a role instead of a scenario."""

    def sample(self, i: int) -> Sample:
        made = super().sample(i)
        role = "off_talk" if i % 2 else "interruption"
        return replace(made, tags={"language": "en"}, target={**made.target, "role": role})


def test_sorts_of_items_are_scenarios_or_else_roles(tmp_path: Path) -> None:
    assert group(tmp_path / "a").kind == "scenario"
    task, source = DuoTask(), Roles()
    path = write_run(tmp_path, task=task, source=source, spec=system(), answer=answers())
    g = Group([read_run(path, task=task, source=source)])
    assert g.kind == "role"
    assert g.tags["role"][0] == ("interruption", "off_talk")
    assert [g.kind_of(sample) for sample in g.samples[:2]] == ["interruption"] * 2
