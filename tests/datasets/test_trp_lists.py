import json
from pathlib import Path

import pytest

from floorbench.datasets.trp_lists import read_lists
from floorbench.errors import DataError
from support.listening import make_set


def test_what_was_written_is_read(tmp_path: Path) -> None:
    made = make_set(tmp_path / "set")
    assert read_lists(tmp_path / "set") == made


def test_no_lists_says_how_to_make_them(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="FB275") as caught:
        read_lists(tmp_path)
    assert "floorbench stimuli lists" in caught.value.hint


def test_items_must_follow_each_other(tmp_path: Path) -> None:
    make_set(tmp_path / "set")
    path = tmp_path / "set" / "lists.json"
    plain = json.loads(path.read_text())
    plain["lists"][0]["items"].reverse()
    path.write_text(json.dumps(plain))
    with pytest.raises(DataError, match=r"FB275.*does not lie inside"):
        read_lists(tmp_path / "set")
