import pytest

from floorbench.errors import UsageError
from floorbench.web.ids import checked_id


@pytest.mark.parametrize(
    "name", ["maria", "Maria1", "p 1", "a@b1", "../p1", "", "-1", "p" * 40 + "1"]
)
def test_names_are_no_ids(name: str) -> None:
    with pytest.raises(UsageError, match="FB844"):
        checked_id(name)


@pytest.mark.parametrize("name", ["p01", "1", "group-2_a", "p" * 31 + "1"])
def test_codes_are_ids(name: str) -> None:
    assert checked_id(name) == name
