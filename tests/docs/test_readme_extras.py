"""The README names every extra of the package."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_row_of_extras_names_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    readme = (ROOT / "README.md").read_text("utf-8")
    row = next(p for p in readme.split("\n\n") if p.startswith("Some rows need an extra"))
    assert set(project["optional-dependencies"]) <= set(re.findall(r"`([a-z]+)`", row))
