import pytest

from floorbench.catalog import TASKS
from floorbench.tasks.marks import Marked


@pytest.mark.parametrize(("name", "given"), [("dualturn-4s", {"min_gap": 0}), ("vap-1s", {})])
def test_frame_protocols_say_where_their_units_lie(name: str, given: dict[str, int]) -> None:
    assert isinstance(TASKS.load(name)(**given), Marked)


def test_tasks_of_single_decisions_do_not() -> None:
    assert not isinstance(TASKS.load("codett")(), Marked)
