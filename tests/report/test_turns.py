from pathlib import Path

import numpy as np
import soundfile

from floorbench.datasets.open import open_dataset
from floorbench.report.render import tables
from floorbench.report.tables import render
from floorbench.run.engine import run
from floorbench.run.references import make_reference
from floorbench.run.scoring import open_predictions, score
from floorbench.tasks.turns import TurnsTask


def test_cut_ins_stand_beside_delays(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    lines = ["path\tlabel\tend"]
    for n in range(3):
        soundfile.write(data / f"{n}.wav", np.zeros(16_000), 8000)
        lines.append(f"{n}.wav\tcomplete\t1.0")
    (data / "labels.tsv").write_text("\n".join(lines) + "\n")
    task, source = TurnsTask(), open_dataset(data)
    oracle = make_reference("oracle", task=task, source=source, seed=0)
    made = run(
        task=task, system=oracle, source=source, out=tmp_path / "runs", notify=lambda said: None
    )
    (table,) = tables([score(open_predictions(made.path), draws=50)])
    (row,) = table.rows
    assert row.name == "oracle [reference]"
    shown = {key: row.cells[key].shown() for key in table.columns}
    assert shown == {
        "early_share": "0.0", "answered_share": "100.0", "accuracy": "100.0",
        "50%": "0.00", "90%": "0.00",
        "n": "3", "coverage": "100.0",
    }  # fmt: skip
    assert "window: 2 s" in render(table, "text")
