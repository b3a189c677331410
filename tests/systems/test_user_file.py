import json
import sys
from pathlib import Path

import pytest

from floorbench.systems.user_file import line_of, run_file


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    one = run_file(written(tmp_path / "a.py", "X = 1"), prefix="toy")
    other = run_file(written(tmp_path / "other" / "a.py", "X = 2"), prefix="toy")
    assert (one.X, other.X) == (1, 2)
    assert one.__name__.startswith("toy_")
    assert sys.modules[one.__name__] is one


@pytest.mark.parametrize(
    ("text", "line"),
    [("x = 1\nraise SystemExit", 2), ("x = (", 1), ("import json\njson.loads('{')", 2)],
)
def test_what_it_raises_has_a_line_and_leaves_no_module(
    text: str, line: int, tmp_path: Path
) -> None:
    path, before = written(tmp_path / "a.py", text), set(sys.modules)
    with pytest.raises((SystemExit, SyntaxError, json.JSONDecodeError)) as error:
        run_file(path, prefix="toy")
    assert line_of(error.value, path) == line
    assert not [name for name in set(sys.modules) - before if name.startswith("toy_")]


def test_an_error_from_elsewhere_has_no_line(tmp_path: Path) -> None:
    assert line_of(ValueError("x"), tmp_path / "a.py") is None
