from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import UsageError
from floorbench.events.traces import trace_values
from floorbench.systems.frames import (
    NEVER,
    ConstantFrames,
    PersistenceFrames,
    SilenceFrames,
    hear,
    last_speaker,
    recent_share,
    since,
)
from support.frame_talk import TALK, cut


def columns(decision: Decision) -> dict[str, list[float]]:
    assert decision.trace is not None
    values = trace_values(decision.trace)
    return {name: values[:, k].tolist() for k, name in enumerate(decision.trace.columns)}


SYSTEMS = [SilenceFrames(timeout=0.24), PersistenceFrames(window=0.4), ConstantFrames(signal="eot")]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.spec.name)
def test_the_future_changes_nothing(system) -> None:
    whole = columns(system.decide(TALK))
    for frames in (10, 31, 45, 60):
        part = columns(system.decide(cut(TALK, frames * 0.08)))
        for name, values in part.items():
            assert len(values) == frames
            assert values == whole[name][:frames], name


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.spec.name)
def test_without_activity_a_system_says_so(system) -> None:
    assert system.decide(Observation(language="en")).outcome is Outcome.UNSUPPORTED
    assert system.decide(replace(TALK, cutoff=0.0, activity={Role.USER: (), Role.SYSTEM: ()})
                         ).outcome is Outcome.UNSUPPORTED  # fmt: skip


def test_the_timeout_runs_from_the_end_of_speech() -> None:
    said = columns(SilenceFrames(timeout=0.24).decide(TALK))
    eot = np.array(said["eot:user"])
    assert np.flatnonzero(eot).tolist() == [*range(32, 50), *range(62, 80)]
    assert np.flatnonzero(said["hold:user"]).tolist() == [30, 31, 60, 61]
    assert said["p_now:system"][31:33] == [0.0, 1.0]
    assert said["p_now:system"][0] == 0.5


def test_the_timeout_is_rounded_up_to_frames() -> None:
    assert SilenceFrames(timeout=0.25).spec.parameters["timeout_frames"] == 4
    assert SilenceFrames(timeout=0.24).spec.parameters["timeout_frames"] == 3
    with pytest.raises(UsageError, match=r"FB513"):
        SilenceFrames(timeout=0.0)


def test_persistence_expects_the_recent_past() -> None:
    said = columns(PersistenceFrames(window=0.4).decide(TALK))
    assert said["fvad1:user"][29] == 1.0
    assert said["fvad1:user"][32] == pytest.approx(0.4)
    assert said["eot:user"][44] == 1.0
    assert said["hold:user"][29] == 1.0


def test_a_constant_knows_three_signals() -> None:
    assert set(columns(ConstantFrames(signal="bc").decide(TALK))) == {"bc:user", "bc:system"}
    with pytest.raises(UsageError, match=r"FB513"):
        ConstantFrames(signal="bot")


def test_helpers_by_hand() -> None:
    on = np.array([0, 1, 1, 0, 0], dtype=bool)
    assert since(on).tolist() == [NEVER, 0, 0, 1, 2]
    assert recent_share(on, 2).tolist() == [0, 0.5, 1, 0.5, 0]
    assert last_speaker({Role.USER: on, Role.SYSTEM: on[::-1]}).tolist() == [-1, 0, 0, 1, 1]


def test_what_is_heard_has_the_frames_of_the_session() -> None:
    heard = hear(TALK)
    assert heard is not None
    assert heard.frames == 80
    assert hear(replace(TALK, cutoff=None)) is None


def test_real_calls_are_heard_whole(real_data: Path) -> None:
    from floorbench.datasets.two_channel_calls import SwitchboardSource

    session = SwitchboardSource(real_data / "swb_ms98").session("sw2001")
    heard = hear(session.observation())
    assert heard is not None
    assert heard.frames == 3154
