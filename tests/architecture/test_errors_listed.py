"""Error codes: the table, the code that raises them and the page say the same."""

import re
from pathlib import Path

from floorbench.errors import CODES

ROOT = Path(__file__).parents[2]
CODE = re.compile(r'"(FB\d{3})"')


def raised() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name == "errors.py":
            text = text[text.index("class FloorbenchError") :]
        for code in CODE.findall(text):
            found.setdefault(code, []).append(path.name)
    return found


def test_every_raised_code_is_in_the_table() -> None:
    unknown = {code: where for code, where in raised().items() if code not in CODES}
    assert not unknown


def test_every_code_of_the_table_is_raised() -> None:
    assert not set(CODES) - set(raised())


def test_table_is_sorted() -> None:
    assert list(CODES) == sorted(CODES)


def test_page_is_generated_from_the_table() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (FB\d{3})", page, re.M) == list(CODES)
    for code, row in CODES.items():
        assert row.meaning in page, code
        assert row.way_out in page, code
