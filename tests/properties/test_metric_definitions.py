"""Every registered metric against its definition, written out over single units."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.metrics_instances import INSTANCES, Instance, agrees

SIZES = {"slot": (1, 2, 8), "rater": (1, 2, 12)}


@pytest.mark.parametrize("instance", INSTANCES, ids=str)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), missing=st.booleans(), data=st.data())
def test_agrees_with_the_definition(
    instance: Instance, seed: int, missing: bool, data: st.DataObject
) -> None:
    size = data.draw(st.sampled_from(SIZES.get(instance.kind, (0, 1, 2, 3, 40))))
    agrees(instance, seed, missing=missing, size=size)
