"""A review in a real browser: two people label by keyboard alone, a third decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.recordings.mine import read_verdicts
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.codett_labels import INTENTS, LABELS
from floorbench.datasets.open import open_dataset
from floorbench.web.review import ReviewRoom
from floorbench.web.review_agreement import export
from floorbench.web.review_plan import gold_label, possible_labels
from floorbench.web.serving import Serving
from floorbench.web.sound import WaveCache
from support import codett_tiny, echo_tiny
from support.viewing import HOSTILE

WATCH_SOUND = """
window.sounds = [];
window.Audio = class extends Audio {
  constructor(...given) { super(...given); window.sounds.push(this); }
};
"""
Opener = Callable[..., Any]
Serve = Callable[[ReviewRoom], str]
ITEM = """n => document.querySelector('h1')?.textContent.startsWith(`Item ${n} of`)
  && document.getElementById('main').dataset.waves === 'drawn'"""
PLAYED = """() => window.sounds.some(s =>
  s.src.includes('part=target') && s.webkitAudioDecodedByteCount > 0 && s.currentTime > 0.05)"""


def dataset(root: Path) -> CodettSource:
    """Return fourteen items, one of each label; the first has hostile words in its context."""
    codett_tiny.build(root, languages=("EN",), history=1)
    for number, intent in enumerate(INTENTS):
        path = root / f"jsonls/EN/syn/{intent.label}.jsonl"
        line = json.loads(path.read_text("utf-8"))
        if number == 0:
            line["messages"][2]["content"] = HOSTILE
        path.write_text(json.dumps(line) + "\n", "utf-8")
    return CodettSource(root)


@pytest.fixture
def serve() -> Iterator[Serve]:
    running: list[Serving] = []

    def served(room: ReviewRoom) -> str:
        serving = Serving(room.app())
        serving.__enter__()
        running.append(serving)
        return f"{serving.address}?token={room.token}"

    yield served
    for serving in running:
        serving.stop()


def room(tmp_path: Path) -> ReviewRoom:
    source = dataset(tmp_path / "data")
    return ReviewRoom(source, tmp_path / "review", waves=WaveCache(tmp_path / "waves"))


def sheet(page: Any, title: str) -> None:
    page.get_by_role("heading", name=title, exact=True).wait_for()


def enter(page: Any, name: str, tabs: int = 0) -> None:
    """Type an id and press Enter, or first go on to another button."""
    page.get_by_label("Reviewer id").wait_for()
    page.keyboard.type(name)
    for _ in range(tabs):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")


def label_on(page: Any, review: ReviewRoom, first: int, last: int, wrong: set[int]) -> None:
    """Label items by number keys; at places in ``wrong`` with the label after the right one."""
    for place in range(first, last):
        page.wait_for_function(ITEM, arg=place + 1)
        page.wait_for_function(PLAYED)
        sample = review.samples[review.review.plan.items[place]]
        labels = possible_labels(sample)
        key = labels.index(gold_label(sample)) + (place in wrong)
        page.keyboard.press(str(key % len(labels) + 1))


def test_two_reviewers_a_closed_tab_a_decision_and_a_kappa(
    open_page: Opener,
    serve: Serve,
    tmp_path: Path,
    shots: Path,
    accessible: Callable[[Any], None],
) -> None:
    made = room(tmp_path)
    address = serve(made)
    answered: list[str] = []

    def opened(**more: Any) -> Any:
        page = open_page(address, **more)
        page.on("response", lambda r: answered.append(r.text()) if "/api/" in r.url else None)
        return page

    page = opened()
    accessible(page)
    enter(page, "r1")
    label_on(page, made, 0, 5, set())
    page.wait_for_function(ITEM, arg=6)
    accessible(page)
    page.screenshot(path=shots / "review-item.png", full_page=True)
    page.context.close()  # in the middle
    assert len(made.review.answers("r1")) == 5

    page = opened()
    enter(page, "r1")
    label_on(page, made, 5, 14, set())
    sheet(page, "All items are labelled")
    assert len(made.review.answers("r1")) == 14
    assert all(answer.heard for answer in made.review.answers("r1").values())
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # next reviewer

    enter(page, "r2")
    page.wait_for_function(ITEM, arg=1)
    page.keyboard.press("j")
    page.wait_for_function(ITEM, arg=2)
    page.keyboard.press("k")
    label_on(page, made, 0, 14, {3, 8})
    sheet(page, "All items are labelled")
    assert len(answered) > 2 * 14
    assert not [text for text in answered if "gold" in text]
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # back to the items
    page.wait_for_function(ITEM, arg=1)
    chosen = page.locator(".choices [aria-pressed=true]")
    assert chosen.get_attribute("data-label") == gold_label(made.samples[made.review.plan.items[0]])
    page.context.close()

    page = opened(scheme="dark")
    enter(page, "r3", tabs=2)
    sheet(page, "Disagreement 1 of 2")
    said = page.get_by_label("labels", exact=True).inner_text()
    assert "r1" in said
    assert "r2" in said
    assert page.locator(".revealed").count() == 0
    assert "shown after the decision" in page.inner_text("main")
    accessible(page)
    sample = made.samples[made.review.plan.items[3]]
    page.keyboard.press(str(possible_labels(sample).index(gold_label(sample)) + 1))
    page.locator(".revealed", has_text="accept").wait_for()
    page.screenshot(path=shots / "review-decided-dark.png", full_page=True)
    page.keyboard.press("j")
    sheet(page, "Disagreement 2 of 2")
    page.keyboard.press("x")
    page.locator(".revealed", has_text="reject").first.wait_for()
    page.keyboard.press("j")
    sheet(page, "Agreement")
    accessible(page)
    free = (12 / 14 - 1 / 8) / (1 - 1 / 8)
    assert f"{free:.3f}" in page.locator("tr", has_text="free-marginal").first.inner_text()
    assert "2 disagreements, 0 of them open" in page.inner_text("main")
    page.screenshot(path=shots / "review-agreement-dark.png", full_page=True)

    written = export(made.review, made.samples, tmp_path / "out" / "verdicts.jsonl")
    assert (written.accepted, written.rejected, written.open) == (13, 1, 0)
    verdicts = read_verdicts(written.verdicts)
    items = made.review.plan.items
    assert [item for item in items if verdicts[item] == "reject"] == [items[8]]
    kept = json.loads(written.agreement.read_text())["agreement"][0]
    assert kept["value"] == pytest.approx(free)
    assert kept["interval"]["low"] < free < kept["interval"]["high"]


def test_labels_of_the_page_tell_nothing_and_hostile_words_stay_words(
    open_page: Opener, serve: Serve, tmp_path: Path, shots: Path
) -> None:
    made = room(tmp_path)
    page = open_page(serve(made), width=390, height=800)
    enter(page, "r1")
    hostile = next(
        i for i, item in enumerate(made.review.plan.items)
        if gold_label(made.samples[item]) == LABELS[0]
    )  # fmt: skip
    for place in range(hostile):
        page.wait_for_function(ITEM, arg=place + 1)
        page.keyboard.press("ArrowRight")
    page.wait_for_function(ITEM, arg=hostile + 1)
    assert HOSTILE in page.locator(".turns").inner_text()
    assert page.title() == "Review of data"
    assert page.locator("main img").count() == 0
    page.screenshot(path=shots / "review-item-narrow.png", full_page=True)
    width = page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= 390


def test_an_answer_is_sent_again_until_it_is_kept(
    browser: Any, serve: Serve, tmp_path: Path
) -> None:
    made = room(tmp_path)
    context = browser.new_context()
    context.add_init_script(WATCH_SOUND)
    page = context.new_page()
    page.goto(serve(made))
    enter(page, "r1")
    page.wait_for_function(ITEM, arg=1)
    page.wait_for_function(PLAYED)
    page.route("**/api/answer*", lambda route: route.abort())
    page.keyboard.press("u")
    page.get_by_text("is not kept yet").wait_for()
    assert made.review.answers("r1") == {}
    page.unroute("**/api/answer*")
    page.wait_for_function(ITEM, arg=2)
    assert len(made.review.answers("r1")) == 1
    context.close()


def test_two_channels_with_their_events(
    open_page: Opener, serve: Serve, tmp_path: Path, shots: Path
) -> None:
    echo_tiny.build(tmp_path / "echo", languages=("en",))
    source = open_dataset(tmp_path / "echo")
    made = ReviewRoom(source, tmp_path / "review", waves=WaveCache(tmp_path / "waves"))
    page = open_page(serve(made))
    enter(page, "r1")
    page.wait_for_function(ITEM, arg=1)
    page.wait_for_function(PLAYED)
    names = page.locator(".choices button").all_inner_texts()
    assert [name.split()[-1] for name in names] == ["yield", "keep", "Reject", "Unsure"]
    assert "sound of user and system" in page.locator("canvas.line").get_attribute("aria-label")
    page.screenshot(path=shots / "review-two-channels.png", full_page=True)
    page.keyboard.press("2")
    page.wait_for_function(ITEM, arg=2)
    assert [a.label for a in made.review.answers("r1").values()] == ["keep"]
