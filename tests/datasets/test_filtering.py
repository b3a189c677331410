from pathlib import Path

import pytest

from floorbench.datasets.filtering import FilteredSource, conditions
from floorbench.datasets.open import open_dataset
from floorbench.errors import UsageError
from support import packs


def test_conditions_choose_samples(tmp_path: Path) -> None:
    whole = open_dataset(packs.codett(tmp_path / "set"))
    everything = list(whole.samples())
    for only, keeps in (
        (["action=Takeover"], lambda s: s.tags["action"] == "Takeover"),
        (["action!=Takeover,Dismiss"], lambda s: s.tags["action"] not in ("Takeover", "Dismiss")),
        (["state=SystemIdle", "action=Dismiss"],
         lambda s: (s.tags["state"], s.tags["action"]) == ("SystemIdle", "Dismiss")),
        ([f"id={everything[3].id}"], lambda s: s is everything[3] or s.id == everything[3].id),
        (["nothing="], lambda s: True),
        (["nothing=x"], lambda s: False),
    ):  # fmt: skip
        part = FilteredSource(whole, only)
        assert [s.id for s in part.samples()] == [s.id for s in everything if keeps(s)]


def test_a_part_is_told_from_the_whole(tmp_path: Path) -> None:
    whole = open_dataset(packs.clips(tmp_path / "set"))
    one, other = (FilteredSource(whole, [f"label={x}"]) for x in ("complete", "incomplete"))
    assert len({whole.digest(), one.digest(), other.digest()}) == 3
    assert one.name == "set (label=complete)"
    assert "samples" not in one.describe()
    again = open_dataset(one.locator())
    assert again.digest() == one.digest()
    assert again.name == one.name
    turned = [FilteredSource(whole, o).digest() for o in (["a=1", "b=2"], ["b=2", "a=1"])]
    assert turned[0] == turned[1]


@pytest.mark.parametrize("text", ["language", "=en", "!=en"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="FB103"):
        conditions([text])
