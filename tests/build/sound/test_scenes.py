from dataclasses import replace

import numpy as np
import pytest

from floorbench.build.sound import scenes
from floorbench.datasets.codett_labels import SCENARIOS
from floorbench.errors import UsageError


def test_every_scenario_has_a_sound_and_only_invalidation_is_a_burst():
    assert set(scenes.DEFAULT) == set(SCENARIOS)
    assert [name for name, scene in scenes.DEFAULT.items() if scene.burst] == ["Invalidation"]
    for name in ("Distraction", "Exclusion"):
        assert scenes.DEFAULT[name].babble_db is not None


def test_drawn_values_lie_in_their_ranges_and_fill_them():
    ranges = scenes.SceneRanges(
        level_db=(-30.0, -20.0), distance_m=(1.0, 2.0), room_share=0.5, noise_db=(5.0, 15.0),
        noise_share=0.25,
    )  # fmt: skip
    drawn = [scenes.draw(ranges, np.random.default_rng(i)) for i in range(400)]
    levels = [d.level_db for d in drawn]
    assert -30 <= min(levels) < -29
    assert -21 < max(levels) <= -20
    rooms = [d.distance_m for d in drawn if d.distance_m is not None]
    assert 0.4 < len(rooms) / 400 < 0.6
    assert min(rooms) >= 1.0
    assert max(rooms) <= 2.0
    noisy = [d.noise_db for d in drawn if d.noise_db is not None]
    assert 0.17 < len(noisy) / 400 < 0.33
    assert all(d.babble_db is None for d in drawn)


def test_changing_one_range_leaves_the_other_draws():
    before = scenes.DEFAULT["Distraction"]
    after = replace(before, babble_db=None)
    rng = [np.random.default_rng(3) for _ in range(2)]
    first, second = scenes.draw(before, rng[0]), scenes.draw(after, rng[1])
    assert first.babble_db is not None
    assert replace(first, babble_db=None) == second
    assert rng[0].random() == rng[1].random()


def test_changes_replace_what_they_name():
    changed = scenes.with_changes({"SideTalk": {"room_share": 0, "noise_db": None}})
    assert changed["SideTalk"].room_share == 0.0
    assert changed["SideTalk"].noise_db is None
    assert changed["SideTalk"].level_db == scenes.DEFAULT["SideTalk"].level_db
    assert changed["Completion"] == scenes.DEFAULT["Completion"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"Sidetalk": {}}, "SideTalk"),
        ({"SideTalk": {"level": [0, 1]}}, "level_db"),
        ({"SideTalk": {"level_db": [3, 1]}}, "level_db"),
        ({"SideTalk": {"level_db": [1]}}, "level_db"),
        ({"SideTalk": {"level_db": [float("nan"), 1]}}, "level_db"),
        ({"SideTalk": {"level_db": None}}, "level_db"),
        ({"SideTalk": {"distance_m": [0, 1]}}, "distance_m"),
        ({"SideTalk": {"room_share": 1.5}}, "room_share"),
        ({"SideTalk": {"burst": 1}}, "burst"),
    ],
)
def test_a_wrong_change_is_one_error(changes, said):
    with pytest.raises(UsageError, match="FB884") as caught:
        scenes.with_changes(changes)
    assert said in f"{caught.value} {caught.value.hint}"
