"""The report page in a browser: offline, live figures, accessible."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floorbench.report import html
from floorbench.report.tables import Cell, Row, Table
from floorbench.run.scoring import open_predictions, score
from support import session_runs
from support.viewing import DuoSource, DuoTask, duo_reader, duo_runs

Opener = Callable[..., Any]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    paths = duo_runs(tmp_path / "runs", 40)
    task, source = DuoTask(), DuoSource(40)
    for path in paths:
        score(open_predictions(path, task=task, source=source), draws=200)
    parts = html.sections([duo_reader(40)(p) for p in paths], draws=100)
    out = tmp_path / "report.html"
    out.write_text(html.page(parts, title="Two systems <script>alert(1)</script>"))
    return out


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 420)])
def test_the_page_is_offline_live_and_accessible(
    open_page: Opener,
    written: Path,
    accessible: Callable[[Any], None],
    shots: Path,
    scheme: str,
    width: int,
) -> None:
    page = open_page("about:blank", scheme=scheme, width=width)
    asked: list[str] = []
    page.on("request", lambda r: asked.append(r.url))
    page.goto(written.as_uri())
    page.locator("html[data-figures=live]").wait_for()
    figures = page.locator("[data-figure]").count()
    assert figures == page.locator("[data-live]").count() > 2
    assert asked == [written.as_uri()]
    assert page.locator("h1").inner_text() == "Two systems <script>alert(1)</script>"
    accessible(page)
    page.screenshot(path=shots / f"report-{scheme}-{width}.png", full_page=True)


def test_without_scripts_the_drawings_stand(browser: Any, written: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written.as_uri())
    assert page.locator("[data-figure] svg").count() == page.locator("[data-figure]").count() > 2
    assert page.locator("table tbody tr").count() > 4
    context.close()


def test_a_report_of_sessions_has_its_curve(
    open_page: Opener, tmp_path: Path, accessible: Callable[[Any], None], shots: Path
) -> None:
    paths, read = session_runs.runs(tmp_path / "runs", session_runs.calls(tmp_path / "data"))
    out = tmp_path / "report.html"
    out.write_text(html.page(html.sections([read(p) for p in paths], draws=50), title="Sessions"))
    page = open_page(out.as_uri())
    page.locator("html[data-figures=live]").wait_for()
    assert page.get_by_text("seconds from the end of the segment").count() > 0
    accessible(page)
    page.screenshot(path=shots / "report-sessions.png", full_page=True)


def test_wide_tables_scroll_by_themselves_and_print_whole(
    open_page: Opener, tmp_path: Path
) -> None:
    names = [f"column {n}" for n in range(14)]
    row = Row(name="a", cells={n: Cell(value=None, reason="no item came here") for n in names})
    table = Table(title="wide", head="h", columns={n: n for n in names}, rows=[row], notes=["told"])
    part = html.Section("s", (), [table], (), (), (), ())
    out = tmp_path / "report.html"
    out.write_text(html.page([part], title="Wide"))
    page = open_page(out.as_uri(), width=420)
    wider = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(wider) <= 0
    note = page.get_by_text("told")
    assert not note.is_visible()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1040, "height": 700})
    assert note.is_visible()
    assert page.evaluate(wider) <= 0
