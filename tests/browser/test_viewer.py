"""The viewer's flows, with real clicks, keys and sound."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floorbench.core.prediction import Decision
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.codett_labels import BY_LABEL
from floorbench.report.stored import Sources, load
from floorbench.run.scoring import open_predictions, score
from floorbench.tasks.codett import CodettTask
from support.codett_tiny import build
from support.viewing import (
    HOSTILE,
    DuoSource,
    DuoTask,
    answers,
    duo_reader,
    duo_runs,
    system,
    write_run,
)

Opener = Callable[..., Any]
Serve = Callable[..., str]
COLOURS_SEEN = """names => {
  const canvas = document.querySelector('canvas.line');
  const style = getComputedStyle(canvas);
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const hex = i => '#' + [0, 1, 2].map(k => data[i + k].toString(16).padStart(2, '0')).join('');
  const seen = {};
  for (let i = 0; i < data.length; i += 4) seen[hex(i)] = (seen[hex(i)] ?? 0) + 1;
  return names.map(n => seen[style.getPropertyValue('--' + n).trim()] ?? 0);
}"""
SCROLL = """share => {
  const view = document.querySelector('.viewport');
  view.scrollTop = share * view.scrollHeight;
}"""
SECOND = """() => [...document.querySelectorAll('.playlist li')]
  .findIndex(line => line.classList.contains('now')) === 1"""


def go(page: Any, where: str) -> None:
    page.evaluate("where => { location.hash = where; }", where)


def count(page: Any) -> str:
    return str(page.locator("h1.small").inner_text())


def wait_count(page: Any, text: str) -> None:
    page.wait_for_function(
        "t => document.querySelector('h1.small')?.textContent === t", arg=f"{text} items"
    )


@pytest.fixture
def duo(tmp_path: Path, serve: Serve) -> tuple[str, list[Path]]:
    paths = duo_runs(tmp_path / "runs")
    task, source = DuoTask(), DuoSource()
    score(open_predictions(paths[0], task=task, source=source), draws=200)
    return serve(paths, duo_reader()), paths


@pytest.fixture
def codett(tmp_path: Path, serve: Serve) -> str:
    """Two systems on a tiny CoDeTT: one knows all, one always takes over."""
    source = CodettSource(build(tmp_path / "data", per_scenario=2, history=2))
    task = CodettTask()
    paths = []
    for name, says in (("knower", None), ("eager", "Takeover")):
        labels = tuple(BY_LABEL) if says is None else ("Takeover", "Dismiss")
        path = write_run(
            tmp_path / "runs",
            task=task,
            source=source,
            spec=system(name, labels=labels, score=None, threshold=None),
            answer=lambda sample, _, says=says: Decision(label=says or sample.target["label"]),
        )
        score(open_predictions(path, task=task, source=source), draws=50)
        paths.append(path)
    sources = Sources()
    return serve(paths, lambda path: load(path, sources))


def test_from_a_cell_of_a_table_to_an_item(open_page: Opener, codett: str, shots: Path) -> None:
    page = open_page(codett)
    row = page.locator("figure.table tr", has=page.locator("th", has_text="eager")).first
    assert row.locator("td").nth(3).inner_text().startswith("0.0")
    row.locator("td").nth(3).get_by_role("link").click()
    wait_count(page, "10")
    assert "cell class_accuracy" in page.locator(".active").inner_text()
    first = page.locator("a.row").first
    assert "Dismiss" in first.inner_text()
    first.click()
    page.locator("main[data-waves=drawn]").wait_for()
    assert "Takeover" in page.locator(".answer.focus .verdict").first.inner_text()
    assert "wrong" in page.locator(".answer.focus .rule").inner_text()
    page.screenshot(path=shots / "item-codett.png")


def test_from_a_cell_of_a_matrix_to_its_items(open_page: Opener, codett: str, shots: Path) -> None:
    page = open_page(codett)
    go(page, "#/tables?run=1")
    name = "items of gold Dismiss answered Takeover"
    cell = page.locator("table.matrix").get_by_label(name)
    wanted = cell.inner_text()
    page.screenshot(path=shots / "tables.png", full_page=True)
    cell.click()
    wait_count(page, wanted)
    assert page.locator(".filters .option.on").count() == 4


def test_filters_sorting_and_disagreement(open_page: Opener, duo: tuple[str, list[Path]]) -> None:
    page = open_page(duo[0])
    page.get_by_role("link", name="Items", exact=True).click()
    wait_count(page, "24")
    page.get_by_role("button", name="wrong").click()
    wait_count(page, "6")
    page.locator(".filters").get_by_role("button", name="h1", exact=False).click()
    wait_count(page, "3")
    page.locator(".active button").first.click()
    wait_count(page, "12")  # the list is drawn anew, its buttons too
    page.locator(".active button").first.click()
    wait_count(page, "24")
    page.get_by_label("against").select_option("1")
    page.get_by_label("where").select_option("second-only")
    wait_count(page, "4")
    page.get_by_label("against").select_option("")
    wait_count(page, "24")
    page.get_by_label("order").select_option("score.1")
    page.wait_for_function("() => document.querySelector('a.row .score')?.textContent === '0.900'")
    page.get_by_role("searchbox").fill("number 11")
    page.get_by_role("searchbox").press("Enter")
    wait_count(page, "2")


def sounds(page: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(
        """() => window.sounds.filter(s => s.src).map(s => ({
          src: s.src, at: s.currentTime, paused: s.paused, decoded: s.webkitAudioDecodedByteCount,
          error: s.error && s.error.message }))"""
    )
    return found


def test_sound_plays_and_seeks(open_page: Opener, duo: tuple[str, list[Path]], shots: Path) -> None:
    page = open_page(duo[0])
    statuses: list[int] = []
    page.on("response", lambda r: statuses.append(r.status) if "/audio" in r.url else None)
    go(page, "#/item?at=3&sample=s1&condition=h1")
    page.locator("main[data-waves=drawn]").wait_for()
    page.get_by_role("button", name="play the turn").click()
    page.wait_for_function("() => window.sounds.some(s => s.currentTime > 0.3)")
    playing = sounds(page)[0]
    assert playing["error"] is None
    assert playing["decoded"] > 0
    assert "part=target" in playing["src"]
    page.screenshot(path=shots / "item-playing.png")
    page.get_by_role("button", name="pause the turn").click()
    assert sounds(page)[0]["paused"]
    page.get_by_label("position in the turn").fill("1.5")
    page.wait_for_function("() => window.sounds.some(s => Math.abs(s.currentTime - 1.5) < 0.02)")
    page.get_by_role("button", name="play the turn").click()
    page.wait_for_function("() => window.sounds.every(s => !s.src || s.ended)")
    assert set(statuses) <= {200, 206}
    assert 206 in statuses
    page.get_by_role("button", name="play turn 0").click()
    page.wait_for_function(
        "() => window.sounds.some(s => s.src.includes('part=turn-0') && s.currentTime > 0.2)"
    )


def test_a_two_channel_time_line_is_drawn(open_page: Opener, duo: tuple[str, list[Path]]) -> None:
    page = open_page(duo[0])
    go(page, "#/item?at=3&sample=s1&condition=h1")
    page.locator("main[data-waves=drawn]").wait_for()
    drawn = page.evaluate(COLOURS_SEEN, ["user", "system", "gold", "accent"])
    assert all(n > 20 for n in drawn), drawn
    page.get_by_text("events and decisions in time").click()
    table = page.get_by_role("region", name="events in time").inner_text()
    assert "shift" in table
    assert "1.250 s" in table
    assert "1, 2 commit" in table or "1 2 commit" in table


def test_the_keyboard_alone_is_enough(open_page: Opener, duo: tuple[str, list[Path]]) -> None:
    page = open_page(duo[0])
    page.locator("table a").first.wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Items":
            break
    page.keyboard.press("Enter")
    page.locator("a.row").first.wait_for()
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.dataset.at") == "1"
    page.keyboard.press("Enter")
    page.locator("main[data-waves=drawn]").wait_for()
    assert "2 of 24" in page.locator(".where").inner_text()
    page.keyboard.press(" ")
    page.wait_for_function("() => window.sounds.some(s => s.currentTime > 0.1 && !s.paused)")
    page.keyboard.press(" ")
    page.wait_for_function("() => window.sounds.every(s => s.paused)")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("j")
    page.wait_for_function("() => document.querySelector('.where')?.textContent === '3 of 24'")
    page.keyboard.press("k")
    page.wait_for_function("() => document.querySelector('.where')?.textContent === '2 of 24'")
    page.keyboard.press("?")
    page.locator("dialog[open]").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")
    page.keyboard.press("Escape")
    page.locator("a.row").first.wait_for()
    page.wait_for_function("() => document.activeElement.dataset?.at === '1'")


def test_notes_are_kept(open_page: Opener, duo: tuple[str, list[Path]]) -> None:
    address, paths = duo
    page = open_page(address)
    go(page, "#/item?at=2&sample=s1&condition=h0")
    page.locator("#note").fill("breath before the word")
    page.locator("#tags").fill("breath early")
    with page.expect_response(lambda r: "breath early" in (r.request.post_data or "")):
        page.get_by_role("button", name="Keep").click()
    page.get_by_text("kept 20").wait_for()
    kept = json.loads((paths[0] / "notes.json").read_text())["notes"]["s1"]
    assert kept["text"] == "breath before the word"
    assert kept["tags"] == ["breath", "early"]
    page.reload()
    page.locator("#note").wait_for()
    assert page.locator("#note").input_value() == "breath before the word"
    go(page, "#/items?mark=early")
    wait_count(page, "2")


def test_hostile_text_stays_text(open_page: Opener, duo: tuple[str, list[Path]]) -> None:
    page = open_page(duo[0])
    go(page, "#/items?run=1")
    page.locator("a.row").first.wait_for()
    assert page.get_by_text("<img src=x").count() > 0
    row = page.locator("a.row", has_text="<img").first
    row.click()
    page.locator("main[data-waves=drawn]").wait_for()
    assert HOSTILE in page.locator(".top h1").inner_text()
    go(page, "#/item?run=1&at=14&sample=s7&condition=h0")
    page.locator(".rule", has_text="no luck <img").wait_for()
    assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0
    assert "owned" not in page.title().replace(HOSTILE, "")


def test_eighteen_thousand_items_stay_light(
    open_page: Opener, serve: Serve, tmp_path: Path, shots: Path
) -> None:
    paths = duo_runs(tmp_path / "runs", 9000, audio=False)
    page = open_page(serve(paths, duo_reader(9000, audio=False)))
    go(page, "#/items")
    wait_count(page, "18,000")
    for share in (0, 0.1, 0.5, 0.93, 1):
        page.evaluate(SCROLL, share)
        first = int(share * 18_000) if share < 1 else 17_999
        near = f"a.row[data-at='{min(first, 17_999)}']"
        page.locator(near).wait_for()
        assert page.evaluate("document.querySelectorAll('*').length") < 3000
    assert "s8999" in page.locator("a.row").last.inner_text()
    page.screenshot(path=shots / "items-18000.png")


def test_two_runs_side_by_side_and_the_playlist(
    open_page: Opener, duo: tuple[str, list[Path]], shots: Path
) -> None:
    page = open_page(duo[0])
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("region", name="paired test").wait_for()
    assert "A - B" in page.get_by_role("region", name="paired test").inner_text()
    items = page.locator(".playlist li")
    items.first.wait_for()
    assert items.count() == 8
    page.get_by_role("button", name="Play all").click()
    page.wait_for_function("() => window.sounds.some(s => s.currentTime > 0.2)")
    page.locator(".playlist li.now").wait_for()
    page.wait_for_function(SECOND)
    page.get_by_role("button", name="Pause").click()
    page.screenshot(path=shots / "compare.png")
    page.locator(".playlist li a").first.click()
    page.locator("main[data-waves=drawn]").wait_for()
    assert "1 of 8" in page.locator(".where").inner_text()


def test_a_run_being_written_is_followed(open_page: Opener, serve: Serve, tmp_path: Path) -> None:
    task, source = DuoTask(), DuoSource()
    full = write_run(tmp_path / "a", task=task, source=source, spec=system(), answer=answers())
    path = write_run(
        tmp_path / "b", task=task, source=source, spec=system(), answer=answers(),
        status="running", only=4,
    )  # fmt: skip
    page = open_page(serve([path], duo_reader()))
    page.get_by_text("run being written").wait_for()
    page.get_by_text("4 of 24 predictions are there so far").wait_for()
    (path / "predictions.jsonl").write_bytes((full / "predictions.jsonl").read_bytes())
    (path / "run.json").write_bytes((full / "run.json").read_bytes())
    page.get_by_text("4 of 24 predictions are there so far").wait_for(state="detached")
    page.get_by_text("run being written").wait_for(state="detached")


def test_missing_sound_is_said_and_the_item_shown(
    open_page: Opener, serve: Serve, tmp_path: Path
) -> None:
    data = build(tmp_path / "data", history=1, languages=("EN",))
    source = CodettSource(data)
    path = write_run(
        tmp_path / "runs", task=CodettTask(), source=source,
        spec=system("quiet", labels=("Takeover", "Dismiss"), score=None, threshold=None),
        answer=lambda sample, _: Decision(label="Takeover"),
    )  # fmt: skip
    for wav in (data / "audios").rglob("*.wav"):
        wav.unlink()
    sources = Sources()
    page = open_page(serve([path], lambda p: load(p, sources)))
    page.get_by_text("the data could not be checked").wait_for()
    go(page, "#/items?verdict=wrong")
    page.locator("a.row").first.click()
    page.get_by_text("No sound: FB301").first.wait_for()
    assert "Takeover" in page.locator(".answer.focus").inner_text()


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 420), ("dark", 420)]
)
def test_pages_are_accessible_in_every_dress(
    open_page: Opener,
    duo: tuple[str, list[Path]],
    accessible: Callable[[Any], None],
    shots: Path,
    scheme: str,
    width: int,
) -> None:
    page = open_page(duo[0], scheme=scheme, width=width)
    for name, where, ready in (
        ("tables", "#/tables", "table.matrix"),
        ("items", "#/items?verdict=wrong", "a.row"),
        ("item", "#/item?at=3&sample=s1&condition=h1", "main[data-waves=drawn]"),
        ("compare", "#/compare", "[aria-label='paired test'] table"),
    ):
        go(page, where)
        page.locator(ready).first.wait_for()
        page.screenshot(path=shots / f"{name}-{scheme}-{width}.png")
        accessible(page)
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{name} is {wide} pixels too wide"
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(20, 23, 26)") == (scheme == "dark")
    page.get_by_label("theme").select_option("light" if scheme == "dark" else "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != background


def test_without_the_token_there_is_nothing(browser: Any, duo: tuple[str, list[Path]]) -> None:
    page = browser.new_page()
    answer = page.goto(duo[0].partition("?")[0])
    assert answer.status == 403
    assert "floorbench view" in page.inner_text("body")
    page.close()
