import json
from pathlib import Path
from typing import Any

import pytest

from floorbench.errors import DataError
from floorbench.web.listen_person import (
    Calibration,
    Device,
    Event,
    Finished,
    ItemDone,
    Joined,
    KeyPress,
    Visit,
    line_of,
    read_person,
)

AT = "2026-01-01T10:00:00+00:00"
JOINED = Joined(id="p01", list="a", reversed=True, mode="key", consent="c", at=AT)
CALIBRATION = Calibration(
    kind="tap", beats=(1.0,), responses=(1.1,), latency=0.1, spread=0.0, used=1, steady=True, at=AT
)
ITEM = ItemDone(
    item=0, stimulus="s", visit=2, started=3.0, latency=0.1, rate=None, frames=None, facts={}, at=AT
)


def press(time: float) -> KeyPress:
    return KeyPress(item=0, visit=2, time=time, at=AT)


def journal(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def test_what_the_lines_tell_is_read(tmp_path: Path) -> None:
    told: tuple[Event, ...] = (
        JOINED, Device(facts={"rate": 48_000}, at=AT), Visit(number=2, at=AT), CALIBRATION,
        press(1.0), press(1.0), press(1.5), ITEM, Finished(at=AT),
    )  # fmt: skip
    person = read_person(journal(tmp_path / "log.jsonl", *map(line_of, told)))
    assert person is not None
    assert (person.joined, person.visits, person.finished) == (JOINED, 2, True)
    assert (person.calibration, person.items) == (CALIBRATION, {0: ITEM})
    assert person.presses == [press(1.0), press(1.5)]  # a press sent twice is one


def test_without_a_whole_first_line_nobody_is_there(tmp_path: Path) -> None:
    assert read_person(journal(tmp_path / "log.jsonl")) is None
    assert read_person(journal(tmp_path / "log.jsonl", line_of(JOINED)[:-5])) is None


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ((line_of(press(1.0)),), 1),
        ((line_of(JOINED), line_of(JOINED)), 2),
        ((line_of(JOINED), b'{"event": "party"}\n'), 2),
        ((line_of(JOINED), b"[1]\n"), 2),
    ],
)
def test_a_damaged_journal_is_refused_with_the_line(
    lines: tuple[bytes, ...], number: int, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="FB846") as error:
        read_person(journal(tmp_path / "log.jsonl", *lines))
    assert error.value.where is not None
    assert error.value.where.line == number


def test_every_line_names_its_event() -> None:
    found: list[dict[str, Any]] = [json.loads(line_of(e)) for e in (JOINED, press(1.0), ITEM)]
    assert [line["event"] for line in found] == ["joined", "key", "item"]
