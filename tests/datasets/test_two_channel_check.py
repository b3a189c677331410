from pathlib import Path

import pytest

from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.datasets.two_channel_check import check_channels
from support import two_channel_tiny as tiny


@pytest.mark.parametrize("swapped", [False, True])
def test_swapped_channels_are_found_by_their_levels(tmp_path: Path, swapped: bool) -> None:
    folder = tiny.build(tmp_path, ("sw9001",))
    tiny.stereo(folder / "sw9001.wav", tiny.call(0), seconds=60.0, swapped=swapped)
    found = check_channels(SwitchboardSource(folder).session("sw9001"))
    assert found.verdict == ("swapped" if swapped else "straight")
    assert found.difference is not None
    assert (found.difference < -20) is swapped


def test_without_audio_nothing_is_decided(tmp_path: Path) -> None:
    folder = tiny.build(tmp_path, ("sw9001",))
    found = check_channels(SwitchboardSource(folder).session("sw9001"))
    assert (found.verdict, found.difference) == ("undecided", None)


def test_equal_levels_are_undecided(tmp_path: Path) -> None:
    folder = tiny.build(tmp_path, ("sw9001",))
    both = sorted(tiny.call(0)["A"] + tiny.call(0)["B"])
    tiny.stereo(folder / "sw9001.wav", {"A": both, "B": both}, seconds=60.0)
    found = check_channels(SwitchboardSource(folder).session("sw9001"))
    assert found.verdict == "undecided"
