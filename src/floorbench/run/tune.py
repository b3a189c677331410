"""Choose a threshold on one run by a declared objective, to be read on another split."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from floorbench import __version__
from floorbench.core.spec import SystemSpec
from floorbench.errors import UsageError, did_you_mean
from floorbench.metrics.base import Scored
from floorbench.metrics.thresholds import choose
from floorbench.run.artefact import INCLUSIVE, RULE, ThresholdArtefact
from floorbench.run.opening import Opened
from floorbench.run.scoring import scored_units
from floorbench.run.signature import system_part
from floorbench.tasks.labelmaps import label_map
from floorbench.tasks.units import ScoreReading, without_unscored


def tune(
    opened: Opened,
    *,
    objective: str,
    limit: float | None = None,
    beta: float = 1.0,
    slice: Mapping[str, str] | None = None,
) -> ThresholdArtefact:
    """Choose the threshold of a run's score.

    Parameters
    ----------
    opened : Opened
        From :func:`floorbench.run.opening.open_predictions`; a run on the split to choose on.
    objective, limit, beta
        As in :func:`floorbench.metrics.thresholds.choose`.
    slice : mapping of str to str or None
        Choose on a part, for example ``{"language": "zh"}``: names and values of label columns
        of the task's units. A run with several conditions must name one.

    Returns
    -------
    ThresholdArtefact
        Not yet frozen; :func:`floorbench.run.artefact.write_artefact` does that. Its threshold is
        for its ``rule`` and divides all possible scores as the chosen operating point (score >=
        its threshold) does: for "positive when score > threshold" it is the next smaller number.

    Raises
    ------
    UsageError
        ``FB524`` when the system or the task knows no threshold; ``FB103`` for an unknown
        objective, a limit out of place, an unknown slice, or several conditions at once.
    DataError
        ``FB631`` when a class has no scored unit; ``FB622`` for a score that is not finite.
    """
    task, system = opened.task.spec, opened.system
    reading: ScoreReading | None = getattr(opened.task, "score_reading", None)
    native = _native(system, reading)
    if "threshold" not in task.parameters:
        raise UsageError("FB524", f"task '{task.name}' has no threshold")
    part = dict(slice or {})
    if len(opened.plan.conditions) > 1 and "condition" not in part:
        raise UsageError(
            "FB103",
            f"the run has the conditions {', '.join(opened.plan.conditions)}",
            hint="choose on one of them, for example --where condition=h0",
        )
    units = scored_units(opened).units["sample" if reading is None else reading.unit]
    for name, value in part.items():
        units = _where(units, name, value)
    positive = next((label for label in native if label in units.vocab["gold"]), None)
    if positive is None:
        raise UsageError("FB524", f"task '{task.name}' asks for none of {', '.join(native)}")
    chosen = choose(
        without_unscored(units), positive=positive, objective=objective, limit=limit, beta=beta
    )
    inclusive = reading is not None and reading.inclusive
    return ThresholdArtefact(
        task=task.name,
        task_version=task.version,
        system=system_part(system),
        dataset=opened.source.digest(),
        slice=part,
        objective=objective,
        limit=limit,
        beta=beta,
        positive=positive,
        threshold=chosen.threshold if inclusive else math.nextafter(chosen.threshold, -math.inf),
        rule=INCLUSIVE if inclusive else RULE,
        value=chosen.value,
        units=len(units),
        unanswered=chosen.unanswered,
        scorer=f"floorbench {__version__}",
    )


def _native(system: SystemSpec, reading: ScoreReading | None) -> tuple[str, ...]:
    """Return the task labels that a high score stands for, by kind of task."""
    if reading is not None:
        if system.score is None:
            raise UsageError("FB524", f"'{system.name}' declares no score")
        return (reading.positive,)
    if system.score is None or system.label_map is None:
        raise UsageError("FB524", f"'{system.name}' declares no score with a label map")
    table = label_map(system.label_map)
    if table.positive is None:
        raise UsageError("FB524", f"the label map '{system.label_map}' has no threshold")
    return (table.actions[table.positive], table.clips[table.positive])


def _where(units: Scored, name: str, value: str) -> Scored:
    """Return the units of a part; one that is empty is refused with the values that there are."""
    known = units.vocab.get(name)
    if known is None:
        near = did_you_mean(name, list(units.vocab))
        hint = f"did you mean '{near}'?" if near else f"there are: {', '.join(units.vocab)}"
        raise UsageError("FB103", f"there is no column '{name}'", hint=hint)
    column = units.column(name)
    if value in known and np.any(column == known.index(value)):
        return units.where(np.equal(column, known.index(value)))
    counts = {label: int(np.sum(column == code)) for code, label in enumerate(known)}
    there = ", ".join(f"{label} ({n})" for label, n in counts.items() if n)
    raise UsageError(
        "FB103",
        f"no unit of the run has {name}='{value}'",
        hint=f"values of '{name}', with their units: {there or 'none'}",
    )
