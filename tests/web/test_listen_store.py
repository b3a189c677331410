import errno
import os
from pathlib import Path

import pytest

from floorbench.errors import DataError, EnvironmentProblem, UsageError
from floorbench.web.listen_person import (
    Calibration,
    Device,
    Finished,
    ItemDone,
    KeyPress,
)
from floorbench.web.listen_store import Session

LISTS = [("A", False), ("A", True), ("B", False), ("B", True)]
AT = "2030-01-01T00:00:00+00:00"


def start(folder: Path, *, data: str = "d", seed: int = 1) -> Session:
    return Session.open(folder, stimuli="tiny", data=data, lists="l", seed=seed)


def joined(session: Session, name: str) -> tuple[str, bool]:
    person = session.join(name, lists=LISTS, mode="key", consent="c")
    return person.joined.list, person.joined.reversed


def press(time: float) -> KeyPress:
    return KeyPress(item=0, visit=1, time=time, at=AT)


def done(item: int = 0) -> ItemDone:
    return ItemDone(
        item=item, stimulus="s", visit=1, started=1.0, latency=0.1, rate=None, frames=None,
        facts={}, at=AT,
    )  # fmt: skip


def test_everything_is_read_again(tmp_path: Path) -> None:
    session = start(tmp_path)
    joined(session, "p01")
    test = Calibration(
        kind="tap", beats=(1.0,), responses=(1.1,), latency=0.1, spread=0.0, used=8, steady=True,
        at=AT,
    )  # fmt: skip
    for event in (Device(facts={"rate": 1}, at=AT), test, press(0.5), done(), Finished(at=AT)):
        session.add("p01", event)
    again = start(tmp_path).person("p01")
    assert again == session.person("p01")
    assert (again.calibration, again.presses, again.finished) == (test, [press(0.5)], True)


def test_every_line_is_on_the_disk_before_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start(tmp_path)
    joined(session, "p01")
    synced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda f: (synced.append(os.fstat(f).st_size), real(f))[1])
    session.add("p01", press(0.5))
    session.append_sound("p01", "turn-0000", first=0, pcm=b"\0\0")
    log = (session.home("p01") / "log.jsonl").stat().st_size
    assert synced[0] == log
    assert 2 in synced


def test_lists_are_given_evenly_and_by_lot(tmp_path: Path) -> None:
    session = start(tmp_path / "a")
    given = [joined(session, f"p{i}") for i in range(8)]
    assert sorted(given[:4]) == sorted(given[4:]) == sorted(LISTS)
    other = start(tmp_path / "b", seed=2)
    assert [joined(other, f"p{i}") for i in range(8)] != given
    session.forget("p2")
    assert joined(session, "p9") == given[2]


def test_a_torn_line_is_cut_off_and_the_journal_goes_on(tmp_path: Path) -> None:
    session = start(tmp_path)
    joined(session, "p01")
    log = session.home("p01") / "log.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"event":"key","it')
    again = start(tmp_path)
    again.add("p01", press(0.7))
    assert start(tmp_path).person("p01").presses == [press(0.7)]
    assert log.read_bytes().startswith(whole)


def test_sound_comes_once_and_without_holes(tmp_path: Path) -> None:
    session = start(tmp_path)
    joined(session, "p01")
    assert session.append_sound("p01", "turn-0000", first=0, pcm=b"aabb") == 2
    assert session.append_sound("p01", "turn-0000", first=0, pcm=b"aabb") == 2
    assert session.append_sound("p01", "turn-0000", first=1, pcm=b"bbcc") == 3
    with pytest.raises(DataError, match="FB845"):
        session.append_sound("p01", "turn-0000", first=4, pcm=b"dd")
    assert session.close_sound("p01", "turn-0000", rate=8000) == 3
    assert session.wav("p01", "turn-0000").read_bytes()[44:] == b"aabbcc"
    assert session.sound("p01", "turn-0000") == b"aabbcc"


def test_what_is_asked_again_after_a_lost_answer_changes_nothing(tmp_path: Path) -> None:
    session = start(tmp_path)
    joined(session, "p01")
    session.append_sound("p01", "turn-0000", first=0, pcm=b"aabb")
    wav = session.wav("p01", "turn-0000")
    for _ in range(2):
        assert session.close_sound("p01", "turn-0000", rate=8000) == 2
        assert session.append_sound("p01", "turn-0000", first=1, pcm=b"bb") == 2
        assert wav.read_bytes()[44:] == b"aabb"
    with pytest.raises(DataError, match="FB845"):
        session.append_sound("p01", "turn-0000", first=1, pcm=b"bbcc")
    session.add("p01", press(1.0))
    session.add("p01", press(1.0))
    assert len(session.person("p01").presses) == 1


def test_a_full_disk_loses_nothing_that_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start(tmp_path)
    joined(session, "p01")
    session.append_sound("p01", "turn-0000", first=0, pcm=b"aabb")
    log = session.home("p01") / "log.jsonl"
    before = log.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        for act in (
            lambda: session.add("p01", press(1.0)),
            lambda: session.append_sound("p01", "turn-0000", first=2, pcm=b"cc"),
            lambda: session.close_sound("p01", "turn-0000", rate=8000),
        ):
            with pytest.raises(EnvironmentProblem, match="FB402"):
                act()
    assert log.read_bytes() == before
    assert session.person("p01").presses == []
    assert not list(log.parent.rglob("*.new"))
    assert session.append_sound("p01", "turn-0000", first=2, pcm=b"cc") == 3
    assert session.close_sound("p01", "turn-0000", rate=8000) == 3
    assert session.wav("p01", "turn-0000").read_bytes()[44:] == b"aabbcc"


@pytest.mark.parametrize("part", ["../x", "a/b", "", ".pcm", "x" * 200])
def test_no_part_leads_out_of_the_folder(tmp_path: Path, part: str) -> None:
    session = start(tmp_path)
    joined(session, "p01")
    with pytest.raises(UsageError, match="FB805"):
        session.append_sound("p01", part, first=0, pcm=b"aa")


def test_who_has_finished_does_not_begin_again(tmp_path: Path) -> None:
    session = start(tmp_path)
    joined(session, "p01")
    assert session.join("p01", lists=LISTS, mode="key", consent="c").visits == 2
    session.add("p01", Finished(at=AT))
    with pytest.raises(UsageError, match="FB844"):
        joined(session, "p01")
    with pytest.raises(UsageError, match="FB103"):
        session.join("p02", lists=LISTS, mode="dance", consent="c")


def test_a_session_stays_with_its_stimuli(tmp_path: Path) -> None:
    start(tmp_path)
    with pytest.raises(UsageError, match="FB842"):
        start(tmp_path, data="other")
    with pytest.raises(DataError, match="FB841"):
        Session(tmp_path / "nowhere")


def test_forgetting_one_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    session = start(tmp_path)
    for name in ("p01", "p02", "p11"):
        joined(session, name)
        session.append_sound(name, "turn-0000", first=0, pcm=name.encode() + b"-")
        session.close_sound(name, "turn-0000", rate=8000)
    before = {p: p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()}
    assert session.forget("p01")
    after = {p: p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()}
    assert after == {p: data for p, data in before.items() if "p01" not in p.parts}
    assert len(after) < len(before)
    assert not session.forget("p01")
    with pytest.raises(DataError, match="FB843"):
        session.add("p01", press(1.0))
