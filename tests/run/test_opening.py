from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floorbench.datasets.open import open_dataset
from floorbench.errors import DataError, UsageError
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.opening import open_predictions
from floorbench.run.scoring import score
from floorbench.run.store import Given, RunFolder
from floorbench.tasks.codett import CodettTask
from support.engine_toys import Source, Task, choice, quiet

N = 40


def ran(out: Path, **options: Any) -> RunFolder:
    given: dict[str, Any] = {"task": Task(), "source": Source(N), "out": out, "notify": quiet}
    return run(system=choice(), **{**given, **options})


def test_a_run_is_scored_on_its_own_data_and_task_only(tmp_path: Path) -> None:
    folder = ran(tmp_path)
    with pytest.raises(UsageError, match=r"FB502 .*the run was made on data"):
        open_predictions(folder.path, task=Task(), source=Source(N + 1))
    other = Task()
    other.spec = replace(other.spec, name="echo")
    with pytest.raises(UsageError, match=r"FB502 .*of task 'toy', not 'echo'"):
        open_predictions(folder.path, task=other, source=Source(N))


def test_a_file_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"FB402 .*none\.jsonl: there is no such file"):
        open_predictions(tmp_path / "none.jsonl")


def test_a_file_needs_task_and_data(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("sample_id\n")
    with pytest.raises(UsageError, match=r"FB103 .*is not a run folder"):
        open_predictions(path)
    with pytest.raises(DataError, match="FB505"):
        open_predictions(tmp_path)


@pytest.fixture
def catalogued(monkeypatch: pytest.MonkeyPatch) -> None:
    import floorbench.datasets.open
    from floorbench import catalog
    from floorbench.registry import Entry, Registry

    tasks = Registry("task", {"toy": Entry("support.engine_toys:Task", "toy")})
    monkeypatch.setattr(catalog, "TASKS", tasks)
    monkeypatch.setattr(floorbench.datasets.open, "open_dataset", lambda where: Source(where["n"]))


@pytest.mark.usefixtures("catalogued")
def test_a_run_folder_knows_its_task_and_data(tmp_path: Path) -> None:
    given = {"missing": "drop"}
    folder = ran(tmp_path, task=Task(**given), task_parameters=given)
    alone = open_predictions(folder.path)
    told = open_predictions(folder.path, task=Task(**given), source=Source(N))
    assert score(alone, draws=200) == score(told, draws=200)


@pytest.mark.usefixtures("catalogued")
def test_a_task_that_comes_back_otherwise_is_refused(tmp_path: Path) -> None:
    folder = ran(tmp_path, task=Task(missing="drop"))
    with pytest.raises(UsageError, match=r'FB502 .*missing: "drop" -> "wrong"'):
        open_predictions(folder.path)


def test_a_task_with_a_parameter_of_another_version_is_refused_in_words(tmp_path: Path) -> None:
    folder = run(
        task=CodettTask(),
        system=SystemChoice(name="always-dismiss"),
        source=open_dataset("starter:codett"),
        limit=1,
        out=tmp_path,
        notify=quiet,
    )
    record = folder.record()
    folder.write_record(replace(record, task=Given(name="codett", parameters={"bogus": 1})))
    with pytest.raises(UsageError, match=r"FB502 the task cannot be built again .*bogus"):
        open_predictions(folder.path)
