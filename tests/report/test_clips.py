from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.datasets.open import open_dataset
from floorbench.report.figures_data import trade_offs
from floorbench.report.render import tables
from floorbench.report.stored import Sources, load
from floorbench.report.tables import render
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.scoring import Result, open_predictions, score
from floorbench.tasks.clips import ClipsTask

SCORED = """
from floorbench.core.prediction import Decision
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Role


class Scored:
    def __init__(self):
        self.spec = SystemSpec(
            name="scored", version="1", score="p", threshold=0.5, label_map="smart-turn",
            labels=("complete", "incomplete"),
        )

    def load(self):
        pass

    def decide(self, observation):
        peak = float(abs(observation.channels[Role.USER].read()).max())
        return Decision(label="complete", scores={"p": min(peak, 1.0)})
"""


def clips(folder: Path, **labels: int) -> Path:
    rng = np.random.default_rng(0)
    for label, count in labels.items():
        (folder / label).mkdir(parents=True)
        for n in range(count):
            soundfile.write(folder / label / f"{n}.wav", rng.normal(0, 0.1, 1600), 16000)
    return folder


def scored(folder: Path, out: Path, label: str, **options: object) -> Result:
    made = run(
        task=ClipsTask(),
        system=SystemChoice(name="constant", parameters={"label": label}),
        source=open_dataset(folder, **options),
        out=out,
        notify=lambda sentence: None,
    )
    return score(open_predictions(made.path), draws=50)


def test_systems_stand_side_by_side_and_the_columns_are_explained(tmp_path: Path) -> None:
    data = clips(tmp_path / "data", complete=3, incomplete=2)
    results = [scored(data, tmp_path / "runs", label) for label in ("complete", "incomplete")]
    (table,) = tables(results)
    assert list(table.columns.values()) == [
        "Complete right", "Incomplete right", "Average", "AUC", "n", "answered %"
    ]  # fmt: skip
    shown = [[row.cells[k].shown() for k in ("complete", "incomplete", "n")] for row in table.rows]
    assert shown == [["100.0", "0.0", "5"], ["0.0", "100.0", "5"]]
    assert "false cut-ins" in render(table, "text")
    assert "Clips of data:" in table.title


def test_only_labels_of_the_data_have_columns(tmp_path: Path) -> None:
    data = clips(tmp_path / "data", complete=2, backchannel=2)
    (table,) = tables([scored(data, tmp_path / "runs", "complete")])
    assert list(table.columns)[:4] == ["complete", "backchannel", "average", "end"]
    assert table.rows[0].cells["end"].shown() == "50.0"
    assert "false cut-ins" not in " ".join(table.notes)


@pytest.mark.parametrize("other", [0, 1])
def test_equal_cells_are_drawn_once(tmp_path: Path, other: int) -> None:
    data = clips(tmp_path / "data", complete=2, incomplete=2, **{"wait": other} if other else {})
    (tmp_path / "system.py").write_text(SCORED)
    made = run(
        task=ClipsTask(),
        system=SystemChoice(name=f"{tmp_path / 'system.py'}:Scored"),
        source=open_dataset(data),
        out=tmp_path / "runs",
        notify=lambda sentence: None,
    )
    parts = [part.about for part in trade_offs([load(made.path, Sources())])]
    assert len(parts) == 1 + other


@pytest.mark.parametrize(("language", "named"), [("zh", ", Chinese:"), ("de", ", de:")])
def test_one_table_a_language(tmp_path: Path, language: str, named: str) -> None:
    data = clips(tmp_path / "data", complete=1, incomplete=1)
    made = run(
        task=ClipsTask(languages=(language,)),
        system=SystemChoice(name="constant", parameters={"label": "complete"}),
        source=open_dataset(data, language=language),
        out=tmp_path / "runs",
        notify=lambda sentence: None,
    )
    task = ClipsTask(languages=(language,))
    (table,) = tables([score(open_predictions(made.path, task=task), draws=50)])
    assert named in table.title
