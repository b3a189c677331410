"""What a resumed run keeps, asks again and refuses."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floorbench.errors import DataError, UsageError
from floorbench.run.deciding import SystemChoice
from floorbench.run.store import RunFolder
from support.engine_runs import everything, go, keys
from support.engine_toys import Counting, Source, System, Task, choice


def cut(folder: RunFolder, size: int) -> None:
    with folder.journal.open("r+b") as file:
        file.truncate(size)


def test_only_what_is_missing_is_asked_again(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    folder = go(tmp_path, choice(Counting, path=str(asked)), 10)
    whole = folder.journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    cut(folder, len(b"".join(lines[:13])) + 7)
    asked.unlink()
    said: list[str] = []
    go(tmp_path, choice(Counting, path=str(asked)), 10, resume=folder.path, notify=said.append)
    assert asked.read_text().split() == ["6", "7", "7", "8", "8", "9", "9"]
    assert Counter(keys(folder)) == Counter(everything(10))
    assert said == [
        "cut an unfinished last line of 7 bytes; it is computed again",
        "resuming: 13 predictions are kept",
    ]
    first, second = folder.record().sittings
    assert (first.written, second.written) == (20, 7)
    assert second.outcomes == {"ok": 20}


def test_a_complete_run_resumes_to_nothing(tmp_path: Path) -> None:
    folder = go(tmp_path)
    before = folder.journal.read_bytes()
    go(tmp_path, resume=folder.path)
    assert folder.journal.read_bytes() == before


def test_parameters_that_json_changes_do_not_stand_in_the_way(tmp_path: Path) -> None:
    def factory() -> System:
        system = System()
        system.spec = replace(system.spec, parameters={"layers": (1, 2)}, threshold=0.1)
        return system

    system = SystemChoice(name="tuples", parameters={"layers": (1, 2)}, factory=factory)
    folder = go(tmp_path, system)
    assert go(tmp_path, system, resume=folder.path).path == folder.path


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"system": choice(wrong_every=4)}, "system.parameters.wrong_every: 5 -> 4"),
        ({"task": Task(version="2")}, 'task.version: "1" -> "2"'),
        ({"task": Task(missing="drop")}, 'task.parameters.missing: "wrong" -> "drop"'),
        ({"source": Source(21)}, "dataset: "),
        ({"conditions": ["h0"]}, 'conditions: ["h0","h1"] -> ["h0"]'),
        ({"trials": 2}, "trials: 1 -> 2"),
        ({"limit": 2}, "limit: nothing -> 2"),
        ({"seed": 2}, "seed: 0 -> 2"),
    ],
    ids=lambda v: next(iter(v)) if isinstance(v, dict) else "",
)
def test_a_run_is_not_resumed_as_another(
    tmp_path: Path, options: dict[str, Any], difference: str
) -> None:
    folder = go(tmp_path)
    before = {p.name: p.read_bytes() for p in folder.path.iterdir()}
    with pytest.raises(UsageError) as caught:
        go(tmp_path, **{"resume": folder.path, **options})
    assert caught.value.code == "FB502"
    assert difference in caught.value.what
    assert {p.name: p.read_bytes() for p in folder.path.iterdir()} == before


class Edited(Source):
    """The same ids and digest, but sample 3 shows something else."""

    def sample(self, i):  # type: ignore[no-untyped-def]
        sample = super().sample(i)
        if i != 3:
            return sample
        return replace(sample, observation=replace(sample.observation, text="13"))


def test_changed_observations_are_refused(tmp_path: Path) -> None:
    folder = go(tmp_path, n=6)
    with pytest.raises(UsageError, match=r"FB508 sample 's3' condition 'h0' is shown otherwise"):
        go(tmp_path, resume=folder.path, source=Edited(6))
    assert Counter(keys(folder)) == Counter(everything(6))


def test_changed_observations_are_computed_again_on_demand(tmp_path: Path) -> None:
    folder = go(tmp_path, n=6)
    said: list[str] = []
    go(tmp_path, resume=folder.path, source=Edited(6), recompute_changed=True, notify=said.append)
    assert "2 predictions saw another observation; computing them again" in said
    assert Counter(keys(folder)) == Counter(everything(6))
    assert folder.record().sittings[1].written == 2
    fresh = go(tmp_path, source=Edited(6))
    assert {p.key: p.observed for p in folder.predictions()} == {
        p.key: p.observed for p in fresh.predictions()
    }
    before = folder.journal.read_bytes()
    go(tmp_path, resume=folder.path, source=Edited(6), recompute_changed=True)
    assert folder.journal.read_bytes() == before


def test_a_second_process_on_the_folder_is_refused(tmp_path: Path) -> None:
    folder = go(tmp_path)
    with folder.locked(), pytest.raises(UsageError, match=r"FB503 .*by process"):
        go(tmp_path, resume=folder.path)


def test_a_journal_with_a_key_twice_is_refused(tmp_path: Path) -> None:
    folder = go(tmp_path)
    lines = folder.journal.read_bytes().splitlines(keepends=True)
    folder.journal.write_bytes(b"".join([*lines, lines[0]]))
    with pytest.raises(DataError, match=r"FB203 .*\.jsonl:41: sample 's0' appears twice"):
        go(tmp_path, resume=folder.path)
