from dataclasses import replace

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.prediction import Decision, Prediction
from floorbench.core.sample import Observation, Sample, Word
from floorbench.core.spec import SystemSpec
from floorbench.core.time import Span
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import DataError
from floorbench.events.dualturn import RATE
from floorbench.metrics.base import ABSENT, FAILED, INVALID, OK
from floorbench.systems.frames import ConstantFrames
from floorbench.tasks.dualturn import DualTurnTask
from floorbench.tasks.frame_units import (
    EventUnits,
    activity,
    around,
    frame_problem,
    outcome_of,
    shown_to,
    split_of,
    timed_words,
)
from floorbench.tasks.vap import VapTask
from support.frame_talk import TALK, TALK_WITH_WORDS


def sample(name: str = "s", split: str = "test", observation: Observation = TALK) -> Sample:
    return Sample(id=name, cluster=name, observation=observation, target={}, tags={"split": split})


@pytest.mark.parametrize("task", [DualTurnTask(min_gap=0), VapTask()])
@pytest.mark.parametrize(
    ("modalities", "kept"),
    [
        (("audio",), {"channels"}),
        (("activity",), {"activity"}),
        (("activity", "text"), {"activity", "words"}),
        (("audio", "words"), {"channels", "words"}),
        ((), set()),
    ],
)
def test_a_system_is_shown_what_it_declares_and_never_the_annotation_beside_it(
    task: DualTurnTask | VapTask, modalities: tuple[str, ...], kept: set[str]
) -> None:
    sound = {Role.USER: ArrayAudio(np.zeros(160, dtype=np.float32), rate=16_000)}
    whole = replace(TALK_WITH_WORDS, channels=sound)
    system = SystemSpec(name="s", version="1", modalities=modalities)
    shown = task.observe(sample(observation=whole), "", system=system)
    assert shown == shown_to(whole, system)
    parts = ("channels", "activity", "words")
    assert {name for name in parts if getattr(shown, name)} == kept
    assert all(getattr(shown, name) == getattr(whole, name) for name in kept)
    assert shown.cutoff == whole.cutoff
    assert task.observe(sample(observation=whole), "") == whole


def test_trials_of_a_session_weigh_one_together() -> None:
    units = EventUnits(vocab={"gold": ("a", "b")}, columns={"x": 0, "f": 2})
    for trial in range(2):
        units.add(
            sample(), "", trial, outcome=OK, size=3,
            values={"gold": np.zeros(3), "x": np.ones(3)},
        )  # fmt: skip
    units.add(sample("t", "validation"), "", 0, outcome=FAILED, size=1, values={"gold": np.ones(1)})
    units.add(sample("quiet"), "", 0, outcome=OK, size=0, values={})
    found = units.scored()
    assert found.weight.tolist() == [0.5] * 6 + [1.0]
    assert found.clusters == ("s", "t")
    assert found.column("outcome").tolist() == [OK] * 6 + [FAILED]
    assert np.isnan(found.column("x")[-1])
    assert found.column("f").shape == (7, 2)
    assert split_of(found, ("validation",)).tolist() == [False] * 6 + [True]
    assert found.units == ("s",) * 6 + ("t",)


def test_sessions_that_share_a_speaker_are_one_cluster() -> None:
    units = EventUnits(vocab={"gold": ("a", "b")}, columns={}, cluster="speaker")
    talks = {"s": "ab", "t": "cd", "u": "ef", "v": "bg", "quiet": "ge", "w": "hi", "x": "ih"}
    for name, (one, two) in talks.items():
        tags = {"split": "test", "speaker.user": one, "speaker.system": two}
        of = replace(sample(name), tags=tags)
        size = 0 if name == "quiet" else 2
        units.add(of, "", 0, outcome=OK, size=size, values={"gold": np.zeros(size)})
    found = units.scored()
    # a-b, b-g, g-e (in a session without events) and e-f hang together; c-d and h-i stand alone.
    assert found.cluster.tolist() == [0, 0, 1, 1, 0, 0, 0, 0, 2, 2, 2, 2]
    assert len(found.clusters) == len(found.strata) == 3
    assert found.units == tuple(n for n in "stuvwx" for _ in range(2))


def test_clusters_of_speakers_need_speakers() -> None:
    units = EventUnits(vocab={"gold": ("a", "b")}, columns={}, cluster="speaker")
    with pytest.raises(DataError, match=r"FB259 session 's' names 0 speakers"):
        units.add(sample(), "", 0, outcome=OK, size=1, values={"gold": np.zeros(1)})


def test_no_unit_at_all() -> None:
    found = EventUnits(vocab={"gold": ("a", "b")}, columns={"f": 2}).scored()
    assert len(found) == 0
    assert found.column("f").shape == (0, 2)


def test_outcomes_of_predictions() -> None:
    good = ConstantFrames(signal="eot").decide(TALK)

    def code(decision: Decision) -> int:
        return outcome_of(Prediction(sample_id="s", decision=decision), sample())

    assert outcome_of(None, sample()) == ABSENT
    assert code(good) == OK
    assert code(Decision(label="EOT")) == INVALID
    assert code(Decision(outcome=Outcome.FAILED)) == FAILED


def test_another_length_is_told_as_a_frame_rate_that_does_not_match() -> None:
    short = Observation(language="en", activity=TALK.activity, cutoff=9.6)
    made = ConstantFrames(signal="eot").decide(TALK)
    assert "frame rate does not match" in str(frame_problem(sample(observation=short), made))
    assert frame_problem(sample(), made) is None


def test_activity_needs_two_channels() -> None:
    assert activity(TALK, rate=RATE)[Role.USER].sum() == 30
    with pytest.raises(DataError, match=r"FB251"):
        activity(Observation(language="en", cutoff=1.0), rate=RATE)


def test_words_in_ticks() -> None:
    found = timed_words(TALK_WITH_WORDS)
    assert found[Role.SYSTEM] == [("home", 2_800_000, 3_600_000)]
    assert timed_words(TALK) == {}
    third = Observation(
        language="en", words=(Word(text="x", span=Span(0, 1), role=Role.THIRD_PARTY),)
    )
    with pytest.raises(DataError, match=r"FB251"):
        timed_words(third)


def test_frames_around_an_anchor_stay_inside() -> None:
    assert around(np.array([1, 9]), margin=2, frames=10).tolist() == [
        [0, 0, 1, 2, 3],
        [7, 8, 9, 9, 9],
    ]
