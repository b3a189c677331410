from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from floorbench import formats
from floorbench.audio.vad import RATE
from floorbench.errors import DataError
from floorbench.web.listen import ListeningRoom
from floorbench.web.listen_onsets import corrected, find, recorded, voice_spans
from support.listening import LoudVad, make_set, spoken
from support.listening_wire import Page, room, serving


@pytest.fixture
def heard(tmp_path: Path) -> Iterator[ListeningRoom]:
    """Two turns answered by voice, latency 0.2 s."""
    make_set(tmp_path / "set")
    made = room(tmp_path, mode="voice")
    with serving(made) as served:
        Page(served.port).hear_by_voice("p01", {0: spoken(0.733, 2.101), 1: spoken(1.2)})
        yield made


def test_a_start_is_where_the_sound_begins_not_where_the_frame_does() -> None:
    starts = [0.407, 1.333, 2.9]
    found = voice_spans(spoken(*starts), rate=RATE, detector=LoudVad())
    assert [s.start for s in found] == pytest.approx(starts, abs=0.006)
    assert voice_spans(np.zeros(RATE, dtype=np.float32), rate=RATE, detector=LoudVad()) == []


def test_responses_and_words_are_written_once(heard: ListeningRoom, tmp_path: Path) -> None:
    stimuli = heard.session.stimuli(tmp_path / "set")
    found = find(heard.session, stimuli, detector=LoudVad())
    assert (found.written, found.kept, found.responses) == (2, 0, 3)
    first, second = recorded(heard.session)
    assert corrected(first.grid, exclude=()) == (pytest.approx([0.733, 2.101], abs=0.006), 0)
    document = formats.read(first.grid)
    words = document.tier("words").entries
    assert words[0].text == "w0"
    assert words[0].start == Decimal("0.3")  # 0.1 s in the turn, heard 0.2 s later
    first.grid.write_text(first.grid.read_text().replace('"response"', '"Breath"', 1))
    kept = first.grid.read_bytes()
    again = find(heard.session, stimuli, detector=LoudVad())
    assert (again.written, again.kept) == (0, 2)
    assert first.grid.read_bytes() == kept
    onsets, out = corrected(first.grid, exclude=("breath", "laughter"))
    assert (onsets, out) == (pytest.approx([2.101], abs=0.006), 1)
    assert find(heard.session, stimuli, detector=LoudVad(), again=True).written == 2
    assert second.grid.is_file()


def test_corrections_of_a_grid_are_read(heard: ListeningRoom, tmp_path: Path) -> None:
    find(heard.session, heard.session.stimuli(tmp_path / "set"), detector=LoudVad())
    first, _ = recorded(heard.session)
    document = formats.read(first.grid)
    tier = document.tier("responses")
    moved = (
        formats.Entry(start=Decimal("0.5"), end=Decimal("0.9"), text="mhm"),
        formats.Entry(start=Decimal("1.5"), end=Decimal("1.6"), text="laughter"),
        formats.Entry(start=Decimal("3.0"), end=Decimal("3.1"), text="yes"),
    )
    other = [t for t in document.tiers if t.name != "responses"]
    formats.write(replace(document, tiers=(replace(tier, entries=moved), *other)), first.grid)
    assert corrected(first.grid, exclude=("laughter",)) == ([0.5, 3.0], 1)


def test_a_grid_needs_its_tier_once(heard: ListeningRoom, tmp_path: Path) -> None:
    find(heard.session, heard.session.stimuli(tmp_path / "set"), detector=LoudVad())
    first, _ = recorded(heard.session)
    text = first.grid.read_text()
    first.grid.write_text(text.replace('"responses"', '"answers"'))
    with pytest.raises(DataError, match=r"FB847 .*0 tiers"):
        corrected(first.grid, exclude=())
    first.grid.write_text(text.replace('"words"', '"responses"'))
    with pytest.raises(DataError, match=r"FB847 .*2 tiers"):
        corrected(first.grid, exclude=())
