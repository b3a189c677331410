"""The report of a build in a browser: offline, accessible, its numbers one key away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.pipeline.engine import build
from floorbench.build.pipeline.report import build_tables, page
from floorbench.build.sound.figures import AFTER, BEFORE, figures_of
from support.build_toy import ToyRecipe

Opener = Callable[..., Any]
ORDER = ("Completion, idle", "Dismissal, speaking")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    settings: dict[str, Any] = {"attempts": 1, "items": 8, "threshold": 0.2}
    built = build(ToyRecipe(), out=tmp_path / "a", cache=tmp_path / "c", settings=settings)
    records = [
        {"item": f"{g}-{n}", "group": g, "language": "zh", "measure": m, "stage": s, "value": n}
        for g in ORDER
        for m in ("Duration (s)", "Active level (dBFS)", "Loudness (LUFS)", "Peak (dBFS)")
        for s in (BEFORE, AFTER)
        for n in range(3)
    ]
    drawn = figures_of(records, order=ORDER, of="Sound of the targets", between="the soundscape")
    out = tmp_path / "build-report.html"
    out.write_text(page(built.record, build_tables(built.record, built.lost), drawn), "utf-8")
    return out


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 420)])
def test_the_page_is_offline_and_accessible_and_opens_its_numbers(
    open_page: Opener,
    written: Path,
    accessible: Callable[[Any], None],
    shots: Path,
    scheme: str,
    width: int,
) -> None:
    page = open_page(written.as_uri(), scheme=scheme, width=width)
    accessible(page)
    page.locator("summary").focus()
    page.keyboard.press("Enter")
    numbers = page.locator("details table")
    assert numbers.is_visible()
    assert numbers.locator("tbody tr").count() == 4
    assert numbers.get_by_text("1.00 (0.00 to 2.00)").count() == 16
    accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.screenshot(path=shots / f"build-{scheme}-{width}.png", full_page=True)
