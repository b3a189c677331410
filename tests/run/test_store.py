import errno
import json
import os
from pathlib import Path

import pytest

from floorbench.errors import DataError, EnvironmentProblem, UsageError
from floorbench.run.engine import run
from floorbench.run.store import RUN_FILE, RunFolder, new_run_id, safe_name, write_text
from support.engine_toys import Source, Task, choice, quiet


def test_folders_are_made_by_task_system_and_id(tmp_path: Path) -> None:
    made = [
        RunFolder.create(tmp_path, task="echo", system="my/sys tem", run_id="r") for _ in range(3)
    ]
    names = [m.path.relative_to(tmp_path).as_posix() for m in made]
    assert names == ["echo/my-sys-tem/r", "echo/my-sys-tem/r-2", "echo/my-sys-tem/r-3"]


@pytest.mark.parametrize(
    ("name", "safe"), [("..", "unnamed"), ("a/../b", "a-..-b"), ("smart-turn_v3.2", None)]
)
def test_names_are_one_path_component(name: str, safe: str | None) -> None:
    assert safe_name(name) == (safe or name)
    assert Path(safe_name(name)).name == safe_name(name)


def test_a_base_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "base").write_text("")
    with pytest.raises(EnvironmentProblem, match="FB504"):
        RunFolder.create(tmp_path / "base", task="t", system="s", run_id="r")


def test_what_is_no_run_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"FB505 .*holds no run\.json"):
        RunFolder.open(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(DataError, match=r"FB201 .*run\.json"):
        RunFolder.open(tmp_path)


def test_a_second_writer_gets_one_clear_error(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.locked():
        with (
            pytest.raises(UsageError, match=f"FB503 .*is being written by process {os.getpid()}"),
            RunFolder(tmp_path).locked(),
        ):
            pass
        assert (tmp_path / ".lock").read_text() == f"{os.getpid()}\n"
    with RunFolder(tmp_path).locked():
        pass


def test_the_lock_goes_with_an_error(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with pytest.raises(ValueError, match="x"), folder.locked():
        raise ValueError("x")
    with folder.locked():
        pass


def test_whole_files_are_old_or_new_never_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.json"
    write_text(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentProblem, match=r"FB504 .*f\.json: .*No space left"):
        write_text(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["f.json"]
    write_text(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o644


def test_run_ids_name_time_and_content() -> None:
    one, two = new_run_id({"a": 1}), new_run_id({"a": 2})
    assert one[16:] != two[16:]
    assert len(one) == len("20260102T030405Z-abcdef")


def test_a_folder_that_cannot_be_locked_says_so(tmp_path: Path) -> None:
    (tmp_path / ".lock").mkdir()
    with (
        pytest.raises(EnvironmentProblem, match=r"FB504 .*\.lock: cannot be locked"),
        RunFolder(tmp_path).locked(),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "value"),
    [("trials", 10**12), ("trials", 0), ("limit", 0), ("limit", 10**30), ("written", -1),
     ("written", 10**400), ("workers", 10**18), ("workers", 0), ("batch", 0), ("loading", -1.0),
     ("answering", 1e300)],
)  # fmt: skip
def test_numbers_that_no_run_has_are_refused(tmp_path: Path, name: str, value: float) -> None:
    made = run(task=Task(), system=choice(), source=Source(2), out=tmp_path, notify=quiet)
    path = made.path / RUN_FILE
    plain = json.loads(path.read_text())
    (plain if name in plain else plain["sittings"][0])[name] = value
    path.write_text(json.dumps(plain))
    with pytest.raises(DataError, match=rf"FB505 .*run\.json: .*{name} is .*, not a number from"):
        RunFolder.open(path.parent)
