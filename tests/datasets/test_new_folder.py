from pathlib import Path

import pytest

from floorbench.datasets.new_folder import locked, new_folder, taken
from floorbench.errors import UsageError


def test_it_is_there_when_all_has_gone_well(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with new_folder(out, suffix=".part") as partial:
        (partial / "file").touch()
        assert not out.exists()
    assert [p.name for p in out.iterdir()] == ["file"]
    assert [p.name for p in out.parent.iterdir()] == ["out"]
    assert taken(out)


def test_it_is_not_there_when_it_has_not(tmp_path: Path) -> None:
    def fails() -> None:
        with new_folder(tmp_path / "out", suffix=".part") as partial:
            (partial / "file").touch()
            raise ValueError("told")

    with pytest.raises(ValueError, match="told"):
        fails()
    assert not list(tmp_path.iterdir())


def test_only_one_process_makes_it(tmp_path: Path) -> None:
    def two() -> None:
        with (
            new_folder(tmp_path / "out", suffix=".part") as partial,
            new_folder(tmp_path / "out", suffix=".part"),
        ):
            (partial / "never").touch()

    with pytest.raises(UsageError, match=r"FB503 .*another process"):
        two()


def test_what_came_up_meanwhile_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def meanwhile() -> None:
        with new_folder(out, suffix=".part"):
            out.mkdir()
            (out / "theirs").touch()

    with pytest.raises(UsageError, match=r"FB503 .*come up meanwhile"):
        meanwhile()
    assert [p.name for p in out.iterdir()] == ["theirs"]


def test_a_folder_that_was_renamed_before_it_was_held_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partial = tmp_path / "partial"
    partial.mkdir()
    monkeypatch.setattr("fcntl.flock", lambda *_: partial.rename(tmp_path / "out"))
    with pytest.raises(UsageError, match=r"FB503 .*another process"), locked(partial):
        pass
