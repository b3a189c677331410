import dataclasses

import pytest

from floorbench.core.sample import Observation, Sample


def test_an_observation_has_no_room_for_identity_or_target() -> None:
    names = {f.name for f in dataclasses.fields(Observation)}
    assert not names & {"id", "sample_id", "target", "label", "path", "tags", "cluster"}


def test_values_cannot_be_changed() -> None:
    sample = Sample(id="a", cluster="c", observation=Observation(language="en"), target={})
    with pytest.raises(dataclasses.FrozenInstanceError):
        sample.id = "b"  # type: ignore[misc]
