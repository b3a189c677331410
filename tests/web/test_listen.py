import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.datasets.trp_lists import read_lists
from floorbench.errors import DataError, UsageError
from floorbench.web.listen import ListeningRoom
from support.listening import make_set
from support.listening_wire import RATE, Page, room, serving


@pytest.fixture
def by_key(tmp_path: Path) -> Iterator[tuple[Page, ListeningRoom]]:
    make_set(tmp_path / "set")
    made = room(tmp_path, mode="key")
    with serving(made) as served:
        yield Page(served.port), made


@pytest.fixture
def by_voice(tmp_path: Path) -> Iterator[tuple[Page, ListeningRoom]]:
    make_set(tmp_path / "set")
    made = room(tmp_path, mode="voice")
    with serving(made) as served:
        yield Page(served.port), made


def test_the_page_and_its_files_are_behind_the_token(by_key: tuple[Page, ListeningRoom]) -> None:
    page, _ = by_key
    status, body = page.ask("/")
    assert status == 200
    assert b"listen.js" in body
    assert page.ask("/static/listen-worklet.js")[0] == 200
    assert page.ask("/", cookie="")[0] == 403
    assert page.ask("/api/room", cookie="")[0] == 403
    data = json.dumps({"id": "p1", "agreed": True}).encode()
    assert page.ask("/api/join", method="POST", body=data)[0] == 403


def test_nothing_is_kept_without_consent(
    by_key: tuple[Page, ListeningRoom], tmp_path: Path
) -> None:
    page, made = by_key
    assert "voluntary" in page.ask("/api/room")[1]["consent"]
    for agreed in (False, None, "yes"):
        assert page.post("join", id="p1", agreed=agreed)[1]["code"] == "FB844"
    assert page.post("key", id="p1", item=0, visit=1, time=1.0)[1]["code"] == "FB843"
    assert list((tmp_path / "session" / "participants").iterdir()) == []
    page.done("join", id="p1", agreed=True)
    consent = made.session.person("p1").joined.consent
    assert (tmp_path / "session" / f"consent-{consent[:12]}.txt").is_file()


def test_own_consent_text(tmp_path: Path) -> None:
    make_set(tmp_path / "set")
    ListeningRoom(tmp_path / "set", tmp_path / "session", mode="key", consent="Agree?")
    (text,) = (tmp_path / "session").glob("consent-*.txt")
    assert text.read_text() == "Agree?"


def test_the_page_does_not_learn_which_turns_it_plays(
    by_key: tuple[Page, ListeningRoom], tmp_path: Path
) -> None:
    page, made = by_key
    answer = page.done("join", id="p1", agreed=True)
    assert "bread" not in json.dumps(answer)
    joined = made.session.person("p1").joined
    (heard,) = (x for x in read_lists(tmp_path / "set").lists if x.reversed == joined.reversed)
    whole, _ = soundfile.read(tmp_path / "set" / heard.audio, dtype="int16")
    for number, item in enumerate(heard.items):
        status, body = page.ask(f"/api/turn?id=p1&item={number}")
        assert status == 200
        assert body[44:] == whole[item.beep : item.stop].tobytes()
        assert answer["items"][number]["start"] == (item.start - item.beep) / heard.rate
    assert page.ask("/api/turn?id=p1&item=2")[1]["code"] == "FB805"
    assert page.ask("/api/turn?id=p2&item=0")[1]["code"] == "FB843"


def test_a_key_session(by_key: tuple[Page, ListeningRoom]) -> None:
    page, made = by_key
    page.hear_by_key("p1", {0: [0.5, 1.5]})
    assert page.post("finish", id="p1")[1]["code"] == "FB805"
    back = page.done("join", id="p1", agreed=True)
    assert (back["heard"], back["visit"]) == ([0], 2)
    page.done("item", id="p1", item=1, visit=2, started=5.0, facts={"hidden": True})
    page.done("finish", id="p1")
    person = made.session.person("p1")
    assert person.finished
    assert person.calibration is not None
    assert person.calibration.latency == pytest.approx(0.1)
    assert [p.time for p in person.presses] == [0.5, 1.5]
    assert person.items[0].latency == person.calibration.latency
    assert person.items[1].facts == {"hidden": True}


def test_a_voice_session(by_voice: tuple[Page, ListeningRoom]) -> None:
    page, made = by_voice
    tone = np.linspace(0, 0.5, 3 * RATE)
    page.hear_by_voice("p1", {0: tone})
    person = made.session.person("p1")
    assert person.calibration is not None
    assert person.calibration.latency == pytest.approx(0.2, abs=0.006)
    kept, rate = soundfile.read(made.session.wav("p1", "turn-0000"))
    assert (rate, len(kept)) == (RATE, len(tone))
    assert np.allclose(kept, tone, atol=1e-4)
    calibrated = person.calibration
    page.hear_by_voice("p1", {0: tone}, joins=False)  # all of it again: no answer had arrived
    again = made.session.person("p1")
    assert again.calibration is not None
    assert again.calibration.latency == calibrated.latency
    assert len(soundfile.read(made.session.wav("p1", "turn-0000"))[0]) == len(tone)


def test_missing_frames_are_said_and_the_turn_is_not_done(
    by_voice: tuple[Page, ListeningRoom],
) -> None:
    page, made = by_voice
    page.done("join", id="p1", agreed=True)
    page.sound(np.zeros(100), id="p1", kind="turn", item=0, visit=1, first=0)
    late = page.sound(np.zeros(100), id="p1", kind="turn", item=0, visit=1, first=150)
    assert late[1]["code"] == "FB845"
    answer = page.post(
        "item", id="p1", item=0, visit=1, started=1.0, rate=RATE, frames=250, facts={}
    )
    assert answer[1]["code"] == "FB845"
    assert made.session.person("p1").items == {}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("key", {"id": "p1", "item": 9, "visit": 1, "time": 1.0}),
        ("key", {"id": "p1", "item": 0, "visit": 1, "time": "now"}),
        ("key", {"id": "p1", "item": 0, "visit": 1}),
        ("latency", {"id": "p1", "kind": "tap", "beats": 3, "taps": []}),
        ("device", {"id": "p1", "facts": 3}),
        ("item", {"id": 3}),
    ],
)
def test_requests_that_make_no_sense(
    by_key: tuple[Page, ListeningRoom], name: str, body: dict[str, object]
) -> None:
    page, _ = by_key
    page.done("join", id="p1", agreed=True)
    status, answer = page.post(name, **body)
    assert (status, answer["code"]) == (404, "FB805")


def test_withdrawing_deletes(by_key: tuple[Page, ListeningRoom], tmp_path: Path) -> None:
    page, made = by_key
    page.hear_by_key("p1", {0: [0.5]})
    assert page.done("withdraw", id="p1") == {"forgotten": True}
    assert page.done("withdraw", id="p1") == {"forgotten": False}  # the first answer was lost
    assert made.session.people() == {}
    assert list((tmp_path / "session" / "participants").iterdir()) == []


def test_what_the_room_refuses(tmp_path: Path) -> None:
    make_set(tmp_path / "set")
    with pytest.raises(UsageError, match="FB103"):
        ListeningRoom(tmp_path / "set", tmp_path / "session", mode="both")
    (audio,) = (tmp_path / "set" / "lists").glob("A.wav")
    sound, rate = soundfile.read(audio)
    soundfile.write(audio, sound * 0.5, rate, subtype="PCM_16")
    with pytest.raises(DataError, match="FB275"):
        ListeningRoom(tmp_path / "set", tmp_path / "session", mode="key")
    (tmp_path / "set" / "lists.json").unlink()
    with pytest.raises(DataError, match="FB275"):
        ListeningRoom(tmp_path / "set", tmp_path / "session", mode="key")
