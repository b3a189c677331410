"""The listening session in a real browser: from consent to labels, by voice and by key."""

from __future__ import annotations

import errno
import os
import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from floorbench.audio.decode import decode, probe
from floorbench.audio.vad import WebRtcVad
from floorbench.core.sample import Sample
from floorbench.datasets.trp import TrpSource
from floorbench.datasets.trp_files import read_stimuli
from floorbench.tasks.trp import TrpTask
from floorbench.web.listen import ListeningRoom
from floorbench.web.listen_export import export
from floorbench.web.listen_latency import bursts
from floorbench.web.listen_onsets import find, recorded
from floorbench.web.serving import Serving
from support.listening import make_set, speaking_metronome

ALLOWED = 0.020
"""Seconds that a click may be off after calibration."""
WATCH_CLOCK = """
window.clocks = [];
window.AudioContext = class extends AudioContext {
  constructor(...given) { super(...given); window.clocks.push(this); }
};
"""
CRAWLING_CLOCK = """
const real = Object.getOwnPropertyDescriptor(BaseAudioContext.prototype, "currentTime").get;
let from = null;
window.crawl = () => { from = real.call(window.clocks.at(-1)); };
Object.defineProperty(BaseAudioContext.prototype, "currentTime", {
  get() {
    const now = real.call(this);
    return from === null ? now : from + (now - from) * 0.4;
  },
});
"""
WAY_ON = re.compile("^(Try again|Start|Go on|It works|Start the clicks)$")
Chromium = Callable[..., Any]
Serve = Callable[..., tuple[ListeningRoom, str]]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve the tiny set's session; gives room and address."""
    running: list[Serving] = []

    def served(mode: str) -> tuple[ListeningRoom, str]:
        room = ListeningRoom(tmp_path / "set", tmp_path / "session", mode=mode)
        serving = Serving(room.app())
        serving.__enter__()
        running.append(serving)
        return room, f"{serving.address}?token={room.token}"

    make_set(tmp_path / "set")
    yield served
    for serving in running:
        serving.stop()


def opened(browser: Any, address: str, *, crawling: bool = False, **more: Any) -> Any:
    """Open a page that fails the test at the first error."""
    context = browser.new_context(**{"viewport": {"width": 900, "height": 900}, **more})
    context.set_default_timeout(40_000)
    context.add_init_script(WATCH_CLOCK + CRAWLING_CLOCK * crawling)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda e: wrong.append(str(e)))
    page.goto(address)
    page.wrong = wrong
    return page


def accessible(page: Any) -> None:
    """Check a sheet with axe-core; every violation is named."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    assert not [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in found]


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def sent_back(page: Any, name: str) -> None:
    """Wait until the browser has refused to send a form and stands at the field it refuses."""
    page.wait_for_function(
        """(name) => document.activeElement.name === name
                    && document.activeElement.matches(":invalid")""",
        arg=name,
    )


def title(page: Any, text: str) -> None:
    heading = page.get_by_role("heading", name=text, exact=True)
    try:
        heading.wait_for()
    except Exception as error:
        raise AssertionError(f"instead of '{text}': {page.inner_text('body')}") from error


def begin(page: Any, name: str) -> None:
    """Go as far as the clicks of the latency test."""
    title(page, "Before you begin")
    page.get_by_label("Participant id").fill(name)
    page.get_by_role("checkbox").check()
    press(page, "Begin")
    title(page, "Sound")
    accessible(page)
    press(page, "It works")
    press(page, "Start the clicks")


def hear_the_list(page: Any) -> None:
    """Hear everything to the last sheet, by the way on that each sheet offers.

    A busy machine cannot keep sound going; the page then says so, and has it heard again.
    """
    said = []
    for _ in range(40):
        way = page.get_by_role("button", name=WAY_ON).or_(
            page.get_by_role("heading", name="Thank you")
        )
        way.first.wait_for()
        if way.first.inner_text() == "Thank you":
            return
        said.append(page.inner_text("main"))
        way.first.click()
    raise AssertionError("the last sheet did not come: " + " / ".join(said))


def tap_along(page: Any) -> None:
    """Press the space bar 50 ms after every click, on the page's own clock."""
    page.evaluate(
        """async () => {
          const press = () =>
            document.dispatchEvent(new KeyboardEvent("keydown", {code: "Space", bubbles: true}));
          const wait = (ms) => new Promise((r) => setTimeout(r, ms));
          while (!document.querySelector(".pad-key")) await wait(10);
          const start = performance.now() + 650;
          for (let i = 0; i < 12; i += 1) {
            await wait(start + 1000 * i - performance.now());
            press();
          }
        }"""
    )


def labels(folder: Path) -> dict[str, list[str]]:
    """Return the consensus label of every slot, by stimulus."""
    task, out = TrpTask(), {}
    for sample in TrpSource(folder).samples():
        name = _stimulus(sample)
        out.setdefault(name, []).append(str(task.gold(sample).label))
    return out


def _stimulus(sample: Sample) -> str:
    return str(sample.target["slot"][0])


def speaking(chromium: Chromium, folder: Path) -> Any:
    """Start a browser whose microphone hears the metronome."""
    microphone = folder / "microphone.wav"
    speaking_metronome(microphone)
    return chromium(
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={microphone}",
    )


def test_voice_ends_in_labels_and_clicks_return_in_time(
    chromium: Chromium, serve: Serve, tmp_path: Path
) -> None:
    browser = speaking(chromium, tmp_path)
    room, address = serve("voice")
    page = opened(browser, address)
    begin(page, "p01")
    hear_the_list(page)
    assert not page.wrong

    person = room.session.person("p01")
    assert person.finished
    assert person.calibration is not None
    assert person.calibration.steady
    beats, latency = person.calibration.beats, person.calibration.latency
    assert latency is not None
    offsets = []
    for one in recorded(room.session):
        info = probe(one.wav)
        assert info.frames == one.done.frames
        if one.done.visit != person.visits:
            continue  # of a clock that stopped
        heard = bursts(decode(one.wav, start=0, stop=info.frames), rate=info.rate)
        for t in heard:
            since = one.done.started + t - latency - beats[0]
            offsets.append(since - round(since))
    assert len(offsets) >= 3
    assert max(map(abs, offsets)) <= ALLOWED

    stimuli = read_stimuli(tmp_path / "set" / "stimuli.jsonl")
    found = find(room.session, stimuli, detector=WebRtcVad(mode=3))
    assert found.written == 2
    made = export(room.session, tmp_path / "set")
    assert (made.participants, made.turns) == (1, 2)
    assert made.responses >= 6
    source = TrpSource(made.path)
    assert source.panels is not None
    for stimulus in source.stimuli:
        onsets = np.array(source.panels[stimulus.id].onsets["p01"]) / 1e6
        # A sound that runs already when the recording starts has no beginning of its own.
        gaps = np.diff(onsets[onsets + latency > 0.05])
        assert np.all(np.abs(gaps - np.round(gaps)) <= 2 * ALLOWED)
    assert all("yes" in label and "no" in label for label in labels(made.path).values())


def test_key_session_survives_a_closed_tab_and_ends_in_labels(
    chromium: Chromium, serve: Serve, tmp_path: Path
) -> None:
    browser = chromium()
    room, address = serve("key")
    page = opened(browser, address)
    begin(page, "p01")
    tap_along(page)
    title(page, "Listen")
    press(page, "Start")
    page.get_by_text("Turn 1 of 2").wait_for()
    page.keyboard.press("Space")
    page.get_by_text("Turn 2 of 2").wait_for()
    page.keyboard.press("Space")
    while {p.item for p in room.session.person("p01").presses} != {0, 1}:
        page.wait_for_timeout(20)
    page.context.close()

    person = room.session.person("p01")
    assert len(person.items) == 1
    assert {p.item for p in person.presses} == {0, 1}
    first = (room.session.home("p01") / "log.jsonl").read_bytes()

    page = opened(browser, address)
    begin(page, "p01")
    tap_along(page)
    title(page, "Listen")
    assert "1 turn," in page.inner_text("main")
    press(page, "Go on")
    page.get_by_text("Turn 2 of 2").wait_for()
    title(page, "Thank you")
    assert (room.session.home("p01") / "log.jsonl").read_bytes().startswith(first)

    press(page, "Next participant")
    begin(page, "p02")
    tap_along(page)
    title(page, "Listen")
    press(page, "Start")
    for turn in ("Turn 1 of 2", "Turn 2 of 2"):
        page.get_by_text(turn).wait_for()
        page.wait_for_timeout(1700)
        page.keyboard.press("Space")
    title(page, "Thank you")
    assert not page.wrong

    people = room.session.people()
    assert people["p01"].joined.reversed != people["p02"].joined.reversed
    taps = people["p02"].calibration
    assert taps is not None
    assert taps.latency is not None
    assert statistics.pstdev(taps.responses[i] - b for i, b in enumerate(taps.beats)) < 0.1
    made = export(room.session, tmp_path / "set")
    assert (made.participants, made.turns) == (2, 4)
    found = labels(made.path)
    assert set(found) == {"bread", "train"}
    assert sum(label == "yes" for slots in found.values() for label in slots) >= 2


def test_declining_keeps_nothing_and_deleting_deletes(
    chromium: Chromium, serve: Serve, tmp_path: Path
) -> None:
    browser = chromium()
    room, address = serve("key")
    page = opened(browser, address)
    title(page, "Before you begin")
    accessible(page)
    page.get_by_label("Participant id").fill("p01")
    press(page, "Begin")  # the box is not ticked
    sent_back(page, "agreed")
    assert room.session.people() == {}
    page.get_by_label("Participant id").fill("Maria")
    page.get_by_role("checkbox").check()
    press(page, "Begin")  # a name is not an id
    sent_back(page, "id")
    assert room.session.people() == {}

    begin(page, "p01")
    tap_along(page)
    title(page, "Listen")
    accessible(page)
    page.on("dialog", lambda d: d.accept())
    press(page, "Stop and delete my answers")
    title(page, "Deleted")
    assert list((tmp_path / "session" / "participants").iterdir()) == []
    assert not page.wrong


def test_a_clock_that_stands_still_is_noticed_and_the_turn_comes_again(
    chromium: Chromium, serve: Serve
) -> None:
    browser = chromium()
    room, address = serve("key")
    page = opened(browser, address)
    begin(page, "p01")
    tap_along(page)
    title(page, "Listen")
    press(page, "Start")
    page.get_by_text("Turn 1 of 2").wait_for()
    page.evaluate("() => window.clocks.at(-1).suspend()")
    title(page, "Interrupted")
    accessible(page)
    press(page, "Go on")
    title(page, "Sound")
    assert room.session.person("p01").items == {}
    assert room.session.person("p01").visits == 2
    assert not page.wrong


def test_a_clock_that_crawls_is_noticed_and_the_turn_comes_again(
    chromium: Chromium, serve: Serve
) -> None:
    browser = chromium()
    room, address = serve("key")
    page = opened(browser, address, crawling=True)
    begin(page, "p01")
    tap_along(page)
    title(page, "Listen")
    press(page, "Start")
    page.get_by_text("Turn 1 of 2").wait_for()
    page.evaluate("() => window.crawl()")
    title(page, "Interrupted")
    assert "too busy" in page.inner_text("main") or "stopped" in page.inner_text("main")
    assert room.session.person("p01").items == {}
    assert not page.wrong


def test_every_answer_may_be_lost_once_and_nothing_is(
    chromium: Chromium, serve: Serve, tmp_path: Path
) -> None:
    browser = speaking(chromium, tmp_path)
    room, address = serve("voice")
    page = opened(browser, address)
    lost: set[str] = set()

    def lose_the_answer(route: Any) -> None:
        asked = route.request.url
        route.fetch()  # the server has it
        if asked in lost or "/api/room" in asked:
            route.fallback()
            return
        lost.add(asked)
        route.abort()

    page.route("**/api/**", lose_the_answer)
    begin(page, "p01")
    hear_the_list(page)
    assert not page.wrong
    assert {urlsplit(a).path for a in lost} >= {"/api/join", "/api/sound", "/api/item", "/api/turn"}
    person = room.session.person("p01")
    assert person.finished
    assert person.calibration is not None
    assert person.calibration.latency is not None
    found = {one.done.item: one for one in recorded(room.session)}
    assert set(found) == {0, 1}
    for one in found.values():
        info = probe(one.wav)
        assert info.frames == one.done.frames
        assert np.abs(decode(one.wav, start=0, stop=info.frames)).max() > 0.1


def test_a_room_that_cannot_write_is_waited_for(
    chromium: Chromium, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = chromium()
    room, address = serve("key")
    page = opened(browser, address)
    begin(page, "p01")
    tap_along(page)
    title(page, "Listen")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        press(page, "Start")
        page.get_by_text("The answers cannot be written").wait_for()
    title(page, "Thank you")
    assert set(room.session.person("p01").items) == {0, 1}
    assert not page.wrong
