"""Results of real runs of cheap systems, for tests of the report."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from floorbench.datasets.open import open_dataset
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.references import make_reference
from floorbench.run.scoring import Result, open_predictions, score
from floorbench.tasks.codett import CodettTask


@cache
def toy_result(system: str = "always-takeover") -> Result:
    """Return the result of a cheap system or reference on a part of the CoDeTT starter set."""
    task, source = CodettTask(), open_dataset("starter:codett")
    references = ("oracle", "prior")
    chosen = (
        make_reference(system, task=task, source=source)
        if system in references
        else SystemChoice(name=system)
    )
    with tempfile.TemporaryDirectory() as folder:
        made = run(
            task=task,
            system=chosen,
            source=source,
            out=Path(folder),
            conditions=["h0"],
            notify=lambda _: None,
        )
        return score(open_predictions(made.path, task=task, source=source), draws=50)
