import pytest

from floorbench.core.spec import SystemSpec
from floorbench.errors import UsageError
from floorbench.run.due import Plan, due_items, due_samples, make_plan
from support.engine_toys import Source, System, Task

SPEC = System().spec
NO_HISTORY = System(context="none").spec
ENGLISH = SystemSpec(name="e", version="1", languages=("en",), context="text")


def test_order_is_samples_conditions_trials() -> None:
    found = [d.key for d in due_items(Task(), Source(2), SPEC, Plan(("h0", "h1"), trials=2))]
    assert found == [(s, c, t) for s in ("s0", "s1") for c in ("h0", "h1") for t in (0, 1)]


def test_the_limit_counts_what_is_due() -> None:
    found = [s.id for s in due_samples(Task(), Source(10), ENGLISH, 3)]
    assert found == ["s1", "s2", "s4"]


def test_conditions_come_from_the_task_and_the_system() -> None:
    assert make_plan(Task(), SPEC).conditions == ("h0", "h1")
    assert make_plan(Task(), NO_HISTORY).conditions == ("h0",)
    assert make_plan(Task(), SPEC, conditions=["h1"]).conditions == ("h1",)
    assert make_plan(Task(), SPEC, conditions=["h1", "h0"]).conditions == ("h0", "h1")


def test_bad_plans_are_refused() -> None:
    with pytest.raises(UsageError, match=r"FB205 'toy' has no condition 'h9'.*\n.*'h0', 'h1'"):
        make_plan(Task(), SPEC, conditions=["h9"])
    for bad in ({"trials": 0}, {"limit": 0}):
        with pytest.raises(UsageError, match="FB103"):
            make_plan(Task(), SPEC, **bad)
