"""Error codes: the table, the code that raises them and the page say the same."""

import importlib
import re
from pathlib import Path

import pytest

from floorbench.errors import CODES, Code, codes

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "src" / "floorbench" / "errors" / "codes"
# Which block of a hundred a module of the table holds.
BLOCKS = {
    "usage": "FB1",
    "data": "FB2",
    "audio": "FB3",
    "environment": "FB4",
    "runs": "FB5",
    "measures": "FB6",
    "formats": "FB7",
    "reports": "FB8",
    "construction": "FB9",
}
CODE = re.compile(r'"(FB\d{3})"')


def raised() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in (ROOT / "src").rglob("*.py"):
        if TABLE in path.parents:
            continue
        text = path.read_text(encoding="utf-8")
        for code in CODE.findall(text):
            found.setdefault(code, []).append(path.name)
    return found


def test_every_raised_code_is_in_the_table() -> None:
    unknown = {code: where for code, where in raised().items() if code not in CODES}
    assert not unknown


def test_every_code_of_the_table_is_raised() -> None:
    assert not set(CODES) - set(raised())


def block(name: str) -> dict[str, Code]:
    return importlib.import_module(f"{codes.__name__}.{name}").CODES


def test_every_module_of_the_table_is_a_block() -> None:
    assert {p.stem for p in TABLE.glob("*.py")} - {"__init__", "row"} == set(BLOCKS)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_sorted_and_keeps_to_its_hundred(name: str) -> None:
    assert list(block(name)) == sorted(block(name))
    assert {code[:3] for code in block(name)} == {BLOCKS[name]}


def test_the_table_joins_its_blocks_in_order_and_no_code_stands_twice() -> None:
    assert list(CODES) == [code for name in BLOCKS for code in block(name)]
    assert list(CODES) == sorted(set(CODES))


@pytest.mark.parametrize("name", BLOCKS)
def test_a_code_stands_once_in_its_file(name: str) -> None:
    written = re.findall(r'^    "(FB\d{3})": Code', (TABLE / f"{name}.py").read_text("utf-8"), re.M)
    assert written == list(block(name))


def test_page_is_generated_from_the_table() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (FB\d{3})", page, re.M) == list(CODES)
    for code, row in CODES.items():
        assert row.meaning in page, code
        assert row.way_out in page, code
