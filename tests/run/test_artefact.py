from dataclasses import replace
from pathlib import Path

import pytest

from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.errors import DataError, UsageError
from floorbench.run.artefact import (
    ThresholdArtefact,
    artefact_for,
    read_artefact,
    write_artefact,
)
from floorbench.run.signature import system_part

SYSTEM = SystemSpec(name="s", version="1")
TASK = TaskSpec(name="clips", version="1", labels=("a", "b"))


def made(system: SystemSpec = SYSTEM, **changes: object) -> ThresholdArtefact:
    artefact = ThresholdArtefact(
        task="clips",
        task_version="1",
        system=system_part(system),
        dataset="0" * 64,
        slice={},
        objective="recall_at_fpr",
        limit=0.05,
        beta=1.0,
        positive="complete",
        threshold=0.1 + 0.2,
        value=0.75,
        units=10,
        unanswered=1,
        scorer="floorbench 0",
    )
    return replace(artefact, **changes)


def test_a_written_artefact_reads_back_exactly(tmp_path: Path) -> None:
    frozen = write_artefact(made(), tmp_path / "a.json")
    assert read_artefact(tmp_path / "a.json") == frozen
    assert frozen.threshold == 0.1 + 0.2
    assert len(frozen.hash) == 64
    assert write_artefact(made(), tmp_path / "b.json").hash == frozen.hash
    assert write_artefact(made(value=0.7), tmp_path / "b.json").hash != frozen.hash


def test_a_changed_artefact_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_artefact(made(), path)
    text = path.read_text()
    path.write_text(text.replace("0.30000000000000004", "0.31"))
    with pytest.raises(DataError, match=r"FB522 .*a\.json: its content does not have the hash"):
        read_artefact(path)
    write_artefact(made(schema=2), path)
    with pytest.raises(DataError, match=r"FB522 .*schema 2, this reads 1"):
        read_artefact(path)
    path.write_text('{"threshold": 0.5}')
    with pytest.raises(DataError, match="FB201"):
        read_artefact(path)


def test_the_goal_is_one_phrase() -> None:
    assert made().goal() == "recall_at_fpr (limit 0.05)"
    assert made(objective="f_score", limit=None, beta=2.0).goal() == "f_score (beta 2)"
    assert made(objective="accuracy", limit=None).goal() == "accuracy"


def test_the_artefact_of_the_system_is_found_among_several() -> None:
    second = replace(SYSTEM, version="2")
    both = [made(), made(second)]
    assert artefact_for(both, task=TASK, system=second) == both[1]
    assert artefact_for([], task=TASK, system=second) is None


@pytest.mark.parametrize(
    ("artefacts", "message"),
    [
        (
            [made(task="codett")],
            "FB523 the threshold is for task 'codett' 1, the run is ",
        ),
        ([made(task_version="0")], "FB523 the threshold is for task 'clips' 0"),
        (
            [made(replace(SYSTEM, parameters={"p": 1}))],
            "FB523 the threshold is for another system: parameters: .* -> nothing",
        ),
        ([made(task="codett"), made(task="x")], "FB523 none of 2 artefacts is for 's' on 'clips'"),
        ([made(), made()], "FB103 2 threshold artefacts are for 's'"),
    ],
)
def test_a_threshold_of_something_else_is_refused(
    artefacts: list[ThresholdArtefact], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        artefact_for(artefacts, task=TASK, system=SYSTEM)
