from pathlib import Path

import pytest

from floorbench.errors import DataError, EnvironmentProblem, UsageError
from floorbench.web.notes import NOTE_LIMIT, Notes


def test_notes_are_kept_in_the_run_folder(tmp_path: Path) -> None:
    Notes(tmp_path).put("s1", text=" breath before the word ", tags="breath, early breath")
    found = Notes(tmp_path).get("s1")
    assert (found.text, found.tags) == ("breath before the word", ("breath", "early"))
    assert found.changed
    assert Notes(tmp_path).get("s2").text == ""


def test_an_empty_note_is_taken_away(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.put("s1", text="x", tags="")
    notes.put("s1", text=" ", tags=" ,")
    assert Notes(tmp_path).all() == {}


def test_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="FB805"):
        Notes(tmp_path).put("s1", text="x" * (NOTE_LIMIT + 1), tags="")
    with pytest.raises(UsageError, match="FB805"):
        Notes(tmp_path).put("s1", text="", tags="x" * 41)


def test_a_broken_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('{"schema": 1, "notes": ')
    with pytest.raises(DataError, match="FB201"):
        Notes(tmp_path)
    assert (tmp_path / "notes.json").read_text().endswith('"notes": ')


def test_a_folder_that_cannot_be_written_keeps_the_old_note(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "gone")
    with pytest.raises(EnvironmentProblem, match="FB504"):
        notes.put("s1", text="x", tags="")
    assert notes.get("s1").text == ""


def test_two_viewers_of_one_run_keep_the_notes_of_both(tmp_path: Path) -> None:
    first, second = Notes(tmp_path), Notes(tmp_path)
    first.put("a", text="one", tags="")
    second.put("b", text="two", tags="")
    first.put("c", text="three", tags="")
    assert {k: n.text for k, n in Notes(tmp_path).all().items()} == {
        "a": "one", "b": "two", "c": "three",
    }  # fmt: skip
