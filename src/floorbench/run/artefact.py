"""A frozen threshold: a JSON file that says what was chosen, on what, by which rule.

The file carries the SHA-256 of its own content, and scores made with it name that hash in the
system part of their signature.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from floorbench import codec
from floorbench.core.sample import JsonValue
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.words import counted
from floorbench.errors import DataError, Place, UsageError
from floorbench.run.signature import differences, system_part
from floorbench.run.store import write_text

SCHEMA = 1
RULE = "positive when score > threshold"
INCLUSIVE = "positive when score >= threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdArtefact:
    """A threshold and all that its choice depended on.

    Parameters
    ----------
    schema : int
        Version of this layout.
    task, task_version : str
    system : mapping
        The system part of the signature of the run it was chosen on.
    dataset : str
        Digest of the data it was chosen on.
    slice : mapping of str to str
        The part of these data, for example ``{"language": "zh"}``; empty for all.
    objective : str
    limit : float or None
        Bound of a capped objective.
    beta : float
        Weight of recall in ``f_score``.
    positive : str
        Task label that a high score stands for.
    threshold : float
        In the system's own score.
    rule : str
        How the threshold is read: strictly, or by a task that says so, inclusively.
    value : float
        What the objective reached where it was chosen, over the answered units.
    units, unanswered : int
        Units of the choice, and how many of them had no score and took no part.
    scorer : str
        The program that chose.
    hash : str
        SHA-256 of the rest.
    """

    schema: int = SCHEMA
    task: str
    task_version: str
    system: Mapping[str, JsonValue]
    dataset: str
    slice: Mapping[str, str]
    objective: str
    limit: float | None
    beta: float
    positive: str
    threshold: float
    rule: str = RULE
    value: float
    units: int
    unanswered: int
    scorer: str
    hash: str = ""

    def digest(self) -> str:
        """Return the SHA-256 of everything but ``hash``."""
        return codec.digest(dataclasses.replace(self, hash=""))

    def shown(self) -> dict[str, JsonValue]:
        """Return what a signature says of it."""
        return {"artefact": self.hash, "threshold": self.threshold, "dataset": self.dataset}

    def goal(self) -> str:
        """Return the objective in one phrase, its bound included."""
        if self.limit is not None:
            return f"{self.objective} (limit {self.limit:g})"
        return f"{self.objective} (beta {self.beta:g})" if self.beta != 1 else self.objective


def write_artefact(artefact: ThresholdArtefact, path: Path) -> ThresholdArtefact:
    """Freeze an artefact: give it its hash and write it.

    Parameters
    ----------
    artefact : ThresholdArtefact
    path : Path
        The JSON file; replaced whole if it exists.

    Raises
    ------
    EnvironmentProblem
        ``FB504`` when the file cannot be written.
    """
    frozen = dataclasses.replace(artefact, hash=artefact.digest())
    write_text(Path(path), codec.encode_pretty(frozen))
    return frozen


def read_artefact(path: Path) -> ThresholdArtefact:
    """Read an artefact and check its hash.

    Parameters
    ----------
    path : Path

    Raises
    ------
    DataError
        ``FB201`` when it is no artefact; ``FB522`` when it was changed, or written by a newer
        floorbench.
    """
    where = Place(str(path))
    artefact = codec.read_json(Path(path), ThresholdArtefact)
    if artefact.schema != SCHEMA:
        raise DataError("FB522", f"schema {artefact.schema}, this reads {SCHEMA}", where=where)
    if artefact.hash != artefact.digest():
        raise DataError("FB522", "its content does not have the hash it carries", where=where)
    return artefact


def artefact_for(
    artefacts: Sequence[ThresholdArtefact], *, task: TaskSpec, system: SystemSpec
) -> ThresholdArtefact | None:
    """Return the artefact that was chosen for this task and system; ``None`` without artefacts.

    Parameters
    ----------
    artefacts : sequence of ThresholdArtefact
        One per system.
    task, system
        Those of the run that is scored.

    Raises
    ------
    UsageError
        ``FB523`` when none is for this task and system; with one, the message says what differs.
        ``FB103`` when two are.
    """
    if not artefacts:
        return None
    mine = system_part(system)
    fits = [
        a
        for a in artefacts
        if (a.task, a.task_version) == (task.name, task.version) and a.system == mine
    ]
    if len(fits) > 1:
        raise UsageError(
            "FB103", f"{counted(len(fits), 'threshold artefact')} are for '{system.name}'"
        )
    if fits:
        return fits[0]
    one = artefacts[0]
    if len(artefacts) > 1:
        raise UsageError(
            "FB523",
            f"none of {counted(len(artefacts), 'artefact')} "
            f"is for '{system.name}' on '{task.name}'",
        )
    if (one.task, one.task_version) != (task.name, task.version):
        raise UsageError(
            "FB523",
            f"the threshold is for task '{one.task}' {one.task_version}, "
            f"the run is of '{task.name}' {task.version}",
        )
    shown = "; ".join(str(d) for d in differences(one.system, mine))
    raise UsageError("FB523", f"the threshold is for another system: {shown}")
