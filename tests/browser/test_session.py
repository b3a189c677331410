"""Sessions of minutes on the time line: stepping, panning, sound, and none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support import session_runs
from support.viewing import HOSTILE

Opener = Callable[..., Any]
Serve = Callable[..., str]
INK = """names => {
  const canvas = document.querySelector('canvas.line');
  const style = getComputedStyle(canvas);
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const seen = {};
  for (let i = 0; i < data.length; i += 4) {
    const hex = '#' + [0, 1, 2].map(k => data[i + k].toString(16).padStart(2, '0')).join('');
    seen[hex] = (seen[hex] ?? 0) + 1;
  }
  return names.map(n => seen[style.getPropertyValue('--' + n).trim()] ?? 0);
}"""
VIEW = """() => document.querySelector('details.inview summary').textContent"""


@pytest.fixture
def quiet(tmp_path: Path, serve: Serve) -> str:
    """Two runs on calls without sound."""
    return serve(*session_runs.runs(tmp_path / "runs", session_runs.calls(tmp_path / "data")))


def opened(open_page: Opener, address: str, **dress: Any) -> Any:
    page = open_page(address, **dress)
    page.evaluate("() => { location.hash = '#/item?sample=sw9009&at=2'; }")
    page.locator("main[data-waves=drawn]").wait_for()
    return page


def test_a_session_shows_events_answers_and_scores(
    open_page: Opener, quiet: str, shots: Path
) -> None:
    page = opened(open_page, quiet)
    page.get_by_text("No sound here: the time line shows what is annotated").wait_for()
    drawn = page.evaluate(INK, ["user", "system", "gold", "good", "bad"])
    assert all(n > 20 for n in drawn), drawn
    assert page.locator("canvas.map").is_visible()
    assert page.evaluate(VIEW).endswith("from 0:00.00 to 0:20.00)")
    page.locator("details.inview summary").click()
    table = page.get_by_role("region", name="events in time").inner_text()
    assert "within 4 s" in table
    assert "✓" in table
    page.screenshot(path=shots / "session.png", full_page=True)


def test_keys_step_through_errors_and_move_the_picture(open_page: Opener, quiet: str) -> None:
    page = opened(open_page, quiet)
    page.keyboard.press("x")
    page.locator(".told .verdict.wrong").first.wait_for()
    first = page.locator(".told strong").inner_text()
    page.keyboard.press("x")
    page.wait_for_function(
        "t => document.querySelector('.told strong')?.textContent !== t", arg=first
    )
    page.keyboard.press("Shift+X")
    page.wait_for_function(
        "t => document.querySelector('.told strong')?.textContent === t", arg=first
    )
    page.keyboard.press("0")
    page.wait_for_function(f"() => ({VIEW})().endsWith('to 2:00.00)')")
    page.keyboard.press("+")
    page.wait_for_function(f"() => !({VIEW})().endsWith('to 2:00.00)')")
    before = page.evaluate(VIEW)
    page.keyboard.press("]")
    page.wait_for_function(f"t => ({VIEW})() !== t", arg=before)
    for _ in range(200):
        page.keyboard.press("n")
        page.wait_for_timeout(10)
        if page.get_by_text("There is no later event").is_visible():
            break
    page.get_by_text("There is no later event").wait_for()


def test_kinds_readings_and_scores_are_chosen(open_page: Opener, quiet: str) -> None:
    page = opened(open_page, quiet)
    page.locator(".tools select").first.select_option("end")
    page.get_by_text("turn ends right (+0 ms, threshold of best F1)").wait_for()
    page.locator(".tools select").nth(1).select_option("-240 ms, threshold of best F1")
    page.get_by_text("turn ends right (-240 ms, threshold of best F1)").wait_for()
    height = page.locator("canvas.line").bounding_box()["height"]
    page.get_by_role("button", name="hold", exact=True).click()
    page.wait_for_function(
        "h => document.querySelector('canvas.line').clientHeight > h + 40", arg=height
    )
    assert page.evaluate("document.activeElement.textContent") == "hold"


def test_a_drag_pans_and_the_map_jumps(open_page: Opener, quiet: str) -> None:
    page = opened(open_page, quiet)
    box = page.locator("canvas.line").bounding_box()
    page.mouse.move(box["x"] + 500, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 30, steps=4)
    page.mouse.up()
    page.wait_for_function(f"() => !({VIEW})().includes('from 0:00.00')")
    little = page.locator("canvas.map").bounding_box()
    page.mouse.click(little["x"] + little["width"] - 12, little["y"] + 20)
    page.wait_for_function(f"() => ({VIEW})().endsWith('to 2:00.00)')")


def test_a_click_seeks_the_sound_of_a_session(
    open_page: Opener, serve: Serve, tmp_path: Path, shots: Path
) -> None:
    source = session_runs.calls(tmp_path / "data", audio=True)
    page = opened(open_page, serve(*session_runs.runs(tmp_path / "runs", source)))
    drawn = page.evaluate(INK, ["user", "system"])
    assert all(n > 200 for n in drawn), drawn
    page.screenshot(path=shots / "session-sound.png", full_page=True)
    page.keyboard.press("x")
    page.wait_for_function("() => window.sounds.some(s => s.src && s.currentTime > 1)")
    box = page.locator("canvas.line").bounding_box()
    page.mouse.click(box["x"] + 64 + (box["width"] - 72) / 2, box["y"] + 30)
    page.wait_for_function("() => window.sounds.some(s => s.src && !s.seeking)")
    view = page.evaluate(VIEW)
    start, end = (
        60 * float(t.split(":")[0]) + float(t.split(":")[1])
        for t in view.removesuffix(")").split(" from ")[1].split(" to ")
    )
    at = page.evaluate("() => window.sounds.find(s => s.src).currentTime")
    assert abs(at - (start + end) / 2) < 0.1


def test_sound_that_went_missing_leaves_the_time_line(
    open_page: Opener, serve: Serve, tmp_path: Path
) -> None:
    source = session_runs.calls(tmp_path / "data", audio=True)
    paths, read = session_runs.runs(tmp_path / "runs", source)
    address = serve(paths, read)
    (tmp_path / "data" / "sw9009.wav").unlink()
    page = opened(open_page, address)
    page.get_by_text("No sound: FB301").first.wait_for()
    page.keyboard.press("n")
    page.locator(".told strong").wait_for()
    assert page.evaluate(INK, ["gold"])[0] > 20


def test_hostile_words_stay_words(open_page: Opener, serve: Serve, tmp_path: Path) -> None:
    source = session_runs.calls(tmp_path / "data")
    session_runs.relabel(tmp_path / "data", HOSTILE.replace(" ", "_"))
    page = opened(open_page, serve(*session_runs.runs(tmp_path / "runs", source)))
    assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0
    assert "owned" not in page.title()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 420)])
def test_a_session_is_accessible(
    open_page: Opener, quiet: str, accessible: Callable[[Any], None], shots: Path,
    scheme: str, width: int,
) -> None:  # fmt: skip
    page = opened(open_page, quiet, scheme=scheme, width=width)
    page.locator("details.inview summary").click()
    page.keyboard.press("n")
    page.locator(".told strong").wait_for()
    accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.screenshot(path=shots / f"session-{scheme}-{width}.png", full_page=True)
