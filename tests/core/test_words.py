import pytest

from floorbench.core.words import counted


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 cells"), (1, "1 cell"), (2, "2 cells"), (1.0, "1.0 cell"), (0.5, "0.5 cells")],
)
def test_one_is_one(number: float, said: str) -> None:
    assert counted(number, "cell") == said


def test_nouns_of_their_own_kind_long_numbers_and_none() -> None:
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(3, "entry", "entries") == "3 entries"
    assert counted(12345, "item is", "items are", form=",") == "12,345 items are"
    assert counted(0, "fault", zero="no") == "no faults"
    assert counted(1, "fault", zero="no") == "1 fault"
