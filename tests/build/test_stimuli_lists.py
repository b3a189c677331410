from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.build.stimuli_lists import beep, make_lists
from floorbench.datasets.trp import TrpSource
from floorbench.datasets.trp_lists import read_lists
from floorbench.errors import DataError, UsageError
from support.listening import RATE, make_set

TURNS = {"one": 2.0, "two": 2.5, "three": 3.0, "four": 3.5, "five": 4.0}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_set(tmp_path / "set", count=2, turns=TURNS)
    return tmp_path / "set"


def test_every_turn_is_in_one_list_and_twins_are_reversed(root: Path) -> None:
    lists = read_lists(root)
    order = {(one.name, one.reversed): [i.stimulus for i in one.items] for one in lists.lists}
    assert set(order) == {("A", False), ("A", True), ("B", False), ("B", True)}
    assert order["A", True] == order["A", False][::-1]
    assert sorted(order["A", False] + order["B", False]) == sorted(TURNS)
    listed = {s.id: s.list for s in TrpSource(root).stimuli}
    assert {listed[s] for s in order["B", False]} == {"B"}
    lengths = [sum(TURNS[s] for s in order[name, False]) for name in "AB"]
    assert abs(lengths[0] - lengths[1]) <= max(TURNS.values())


def test_the_lists_say_where_beeps_and_turns_lie(root: Path) -> None:
    for one in read_lists(root).lists:
        sound, rate = soundfile.read(root / one.audio, dtype="float32")
        assert len(sound) == one.frames
        for item in one.items:
            turn, _ = soundfile.read(root / "audio" / f"{item.stimulus}.wav", dtype="float32")
            assert np.array_equal(sound[item.start : item.end], turn)
            assert np.abs(sound[item.beep : item.start]).max() == pytest.approx(0.25, abs=0.01)
            assert not sound[item.end : item.stop].any()
            assert item.stop - item.end == rate


def test_the_seed_decides_the_order(root: Path) -> None:
    first = make_lists(root, count=1, seed=1, gap=1.0)
    assert make_lists(root, count=1, seed=1, gap=1.0) == first
    orders = {
        tuple(i.stimulus for i in make_lists(root, count=1, seed=s, gap=1.0).lists[0].items)
        for s in range(6)
    }
    assert len(orders) > 1


def test_rates_are_brought_together(root: Path) -> None:
    soundfile.write(root / "audio" / "one.wav", np.zeros(2 * 2 * RATE), 2 * RATE)
    assert {one.rate for one in make_lists(root, count=1, seed=1, gap=1.0).lists} == {2 * RATE}


@pytest.mark.parametrize("change", [{"count": 0}, {"count": 6}, {"gap": 0.9}, {"after_beep": -0.1}])
def test_values_out_of_range(root: Path, change: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="FB271"):
        make_lists(root, **{"count": 2, "seed": 1, "gap": 1.0, **change})


def test_missing_and_short_audio_is_named(root: Path) -> None:
    soundfile.write(root / "audio" / "one.wav", np.zeros(RATE), RATE)
    with pytest.raises(DataError, match=r"FB275.*one\].*1\.000 s"):
        make_lists(root, count=1, seed=1, gap=1.0)
    (root / "audio" / "one.wav").unlink()
    with pytest.raises(DataError, match=r"FB275.*audio/one.wav"):
        make_lists(root, count=1, seed=1, gap=1.0)


def test_the_beep_starts_and_ends_softly() -> None:
    tone = beep(48_000)
    assert len(tone) == 7200
    assert abs(tone[0]) < 1e-6
    assert np.abs(tone[-10:]).max() < 0.01
