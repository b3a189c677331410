from pathlib import Path

import pytest

from floorbench.core.vocab import Role
from floorbench.datasets.open import open_dataset
from floorbench.datasets.two_channel import pair_roles
from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.errors import DataError, Place
from support import two_channel_tiny


@pytest.fixture
def source(tmp_path: Path) -> SwitchboardSource:
    folder = two_channel_tiny.build(tmp_path / "calls", two_channel_tiny.CALLS[:6])
    return SwitchboardSource(folder, splits=str(folder / "splits.json"))


def test_samples_name_split_and_cluster_and_hide_the_id(source: SwitchboardSource) -> None:
    samples = list(source.samples())
    assert [s.tags["split"] for s in samples] == ["train"] * 4 + ["validation"] * 2
    assert all(s.cluster == s.id for s in samples)
    assert all(not s.target for s in samples)


def test_locator_opens_the_same_data(source: SwitchboardSource) -> None:
    again = open_dataset(source.locator())
    assert again.digest() == source.digest()
    assert again.describe() == source.describe()


def test_the_digest_depends_on_words_and_splits(source: SwitchboardSource, tmp_path: Path) -> None:
    other = two_channel_tiny.build(tmp_path / "other", two_channel_tiny.CALLS[:6])
    unsplit = SwitchboardSource(other, splits="none")
    assert unsplit.digest() != source.digest()
    file = other / "sw9001A-ms98-a-word.text"
    file.write_text(file.read_text().replace(" we\n", " he\n", 1))
    assert SwitchboardSource(other, splits="none").digest() != unsplit.digest()


def test_an_unknown_session_gets_a_suggestion(source: SwitchboardSource) -> None:
    with pytest.raises(DataError, match=r"FB204 .*(?s:.)*sw9001"):
        source.session("sw9O01")


def test_a_folder_without_sessions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"FB211"):
        SwitchboardSource(tmp_path)


def test_two_sides_are_needed_and_one_of_them_is_the_users() -> None:
    with pytest.raises(DataError, match=r"FB251 .*two sides"):
        pair_roles(["A"], None, where=Place("here"))
    with pytest.raises(DataError, match=r"FB251 .*'C'"):
        pair_roles(["A", "B"], "C", where=Place("here"))


@pytest.mark.parametrize(
    ("sides", "user"),
    [
        (["agent", "caller"], "caller"),
        (["Assistant", "ann"], "ann"),
        (["ann", "Customer "], "Customer "),
        (["caller", "operator"], "caller"),
        (["A", "B"], "A"),
        (["agent", "system"], "agent"),
        (["human", "user"], "human"),
    ],
)
def test_a_name_that_says_whose_side_it_is_decides(sides: list[str], user: str) -> None:
    assert pair_roles(sides, None, where=Place("x"))[Role.USER] == user
    assert pair_roles(sides, sides[0], where=Place("x"))[Role.USER] == sides[0]
