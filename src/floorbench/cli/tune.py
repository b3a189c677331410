"""``floorbench tune``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.opening import Conditions, Declared, declarations
from floorbench.cli.options import ReaderSettings, TaskSettings, make_task, open_data
from floorbench.core.words import counted
from floorbench.datasets.filtering import conditions as parts
from floorbench.errors import UsageError
from floorbench.run.artefact import INCLUSIVE, write_artefact
from floorbench.run.scoring import open_predictions
from floorbench.run.tune import tune as choose_threshold

Objective = Literal["accuracy", "balanced_accuracy", "f_score", "recall_at_fpr", "fpr_at_recall"]


def tune(
    task: str,
    run: Path,
    /,
    *,
    objective: Objective,
    out: Path,
    limit: float | None = None,
    beta: float = 1.0,
    where: Annotated[list[str] | None, Parameter(name="--where", negative=())] = None,
    data: str | None = None,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    task_sets: TaskSettings = None,
    systems: Declared = None,
    conditions: Conditions = None,
    json: bool = False,
) -> int:
    """Choose a threshold on a run by a declared objective and freeze it in a file.

    Read it on a run over other data with ``floorbench score RUN --threshold-from FILE``.

    Parameters
    ----------
    task
        Task of the run.
    run
        Run folder, or a predictions file made elsewhere, over the data to choose on.
    objective
        What the threshold is to make best; recall_at_fpr and fpr_at_recall need --limit.
    out
        The JSON file to write.
    limit
        The highest false positive rate (recall_at_fpr) or lowest recall (fpr_at_recall) allowed.
    beta
        Weight of recall in f_score.
    where
        Choose on a part only: NAME=VALUE, for example language=zh (repeat the option).
    data
        Data of the run; found again by default. A file needs them.
    reader
        Reader of the data.
    json
        Print the artefact.
    """
    is_file = run.is_file()
    if conditions and not is_file:
        raise UsageError("FB103", "--condition is for predictions files; a run knows its own")
    opened = open_predictions(
        run,
        task=make_task(task, task_sets) if task_sets or is_file else None,
        source=open_data(task, data, reader, reader_sets) if data is not None or is_file else None,
        system=declarations([run], systems)[0],
        conditions=conditions,
    )
    if opened.task.spec.name != task:
        raise UsageError("FB103", f"the run is of task '{opened.task.spec.name}', not '{task}'")
    chosen = choose_threshold(
        opened,
        objective=objective,
        limit=limit,
        beta=beta,
        slice=_part(where or ()),
    )
    frozen = write_artefact(chosen, out)
    if json:
        console.data_json(frozen)
        return 0
    how = "at least that" if frozen.rule == INCLUSIVE else "greater"
    console.data(
        f"threshold {frozen.threshold:.6g}: {frozen.positive} when the score is {how}\n"
        f"{frozen.goal()} = {frozen.value:.4f} on {frozen.units - frozen.unanswered} of "
        f"{counted(frozen.units, 'unit')} of {opened.source.describe().get('name', 'the data')} "
        f"({frozen.unanswered} without a score)\n"
        f"{out}  {frozen.hash[:12]}"
    )
    return 0


def _part(where: Sequence[str]) -> dict[str, str]:
    """Read ``NAME=VALUE`` as other filters do; a part has one value per name."""
    found: dict[str, str] = {}
    for condition in parts(where):
        if not condition.wanted or len(condition.values) > 1:
            what = f"'{condition}' is not NAME=VALUE: a part of tune has one value per name"
            raise UsageError("FB103", what)
        if condition.name in found:
            raise UsageError("FB103", f"--where gives '{condition.name}' twice")
        found[condition.name] = condition.values[0]
    return found
