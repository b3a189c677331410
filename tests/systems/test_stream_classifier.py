"""Any classifier as a stream: asked after each pause, about what was said since the last one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.sample import Observation, Turn
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import UsageError
from floorbench.systems import build_system
from floorbench.systems.stream import StreamDriver
from floorbench.systems.stream_classifier import ClassifierStream
from sounds import RATE, silence, utterance

CLASSIFIER = """
from floorbench.core.prediction import Decision
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome, Role

ASKED = []


class Judge:
    def __init__(self, *, label="complete"):
        self.label = label
        self.spec = SystemSpec(name="judge", version="1", licence="none")

    def load(self):
        pass

    def decide(self, observation):
        ASKED.append(observation)
        if self.label is None:
            return Decision(outcome=Outcome.ABSTAINED, reason="no idea")
        seconds = observation.channels[Role.USER].frames / 16000
        return Decision(label=self.label, scores={"seconds": seconds})
"""


@pytest.fixture
def judge(tmp_path: Path) -> str:
    (tmp_path / "judge.py").write_text(CLASSIFIER)
    return f"{tmp_path / 'judge.py'}:Judge"


def stream(judge: str, samples: np.ndarray, **kw: object) -> tuple[StreamDriver, object]:
    driver = StreamDriver(ClassifierStream(classifier=judge, yields=("complete",), **kw))
    driver.load()
    observation = Observation(
        language="en",
        turns=(Turn(role=Role.USER, text="hello"),),
        channels={Role.USER: ArrayAudio(samples, rate=RATE)},
    )
    return driver, driver.decide(observation)


def test_it_is_asked_after_the_pause_about_the_speech(judge: str) -> None:
    sound = np.concatenate([silence(1.0), utterance(), silence(1.0)])
    _, decision = stream(judge, sound, pause=0.3)
    said = [e for e in decision.events if e.kind == "action"]
    assert [e.label for e in said] == ["yield"]
    assert 0.9 < said[0].commit - said[0].score < 1.6  # silence before the speech was left out
    assert said[0].commit <= sound.size / RATE


def test_two_utterances_are_judged_apart(judge: str) -> None:
    sound = np.concatenate([utterance(), silence(0.8), utterance(), silence(0.8)])
    _, decision = stream(judge, sound)
    scores = [e.score for e in decision.events if e.kind == "action"]
    assert len(scores) == 2
    assert scores[1] < sound.size / RATE / 2 + 0.3


def test_other_labels_keep_and_no_answer_fails(judge: str) -> None:
    sound = np.concatenate([utterance(), silence(0.8)])
    _, kept = stream(judge, sound, parameters={"label": "incomplete"})
    assert [e.label for e in kept.events if e.kind == "action"] == ["keep"]
    _, failed = stream(judge, sound, parameters={"label": None})
    assert failed.outcome is Outcome.FAILED
    assert "no idea" in failed.reason


def test_silence_is_not_judged(judge: str) -> None:
    _, decision = stream(judge, silence(1.0))
    assert [e.kind for e in decision.events] == ["observed"]


def test_the_spec_names_the_classifier_and_what_yields(judge: str) -> None:
    driver, _ = stream(judge, silence(0.5))
    assert driver.spec.name == "stream(judge)"
    assert driver.spec.parameters["yields"] == ["complete"]
    with pytest.raises(UsageError, match="yields"):
        ClassifierStream(classifier=judge, yields="complete")


def test_smart_turn_behind_a_vad_takes_its_threshold() -> None:
    spec = build_system("vad-smart-turn", threshold=0.7).spec
    assert spec.parameters["classifier_parameters"]["threshold"] == 0.7
    assert set(spec.weights) == {"smart-turn-v3.2", "silero-vad"}


def test_a_whole_turn_is_heard_until_it_has_yielded(judge: str) -> None:
    speech = np.concatenate([utterance(), silence(0.6), utterance(), silence(0.6)])
    _, once = stream(judge, speech, parameters={"label": "incomplete"})
    first, second = [e.score for e in once.events if e.kind == "action"]
    _, whole = stream(judge, speech, parameters={"label": "incomplete"}, whole_turn=True)
    kept = [e.score for e in whole.events if e.kind == "action"]
    assert kept[0] == first
    assert kept[1] > first + second
    _, taken = stream(judge, speech, whole_turn=True)
    assert [e.score for e in taken.events if e.kind == "action"] == [first, second]


def test_any_detector_is_a_stream_with_a_name_of_its_own(judge: str) -> None:
    spec = build_system("vad-detector", detector=judge, pause=0.7, name="mine").spec
    assert (spec.name, spec.streaming_step is not None) == ("mine", True)
    assert spec.parameters["whole_turn"] is True
    assert spec.parameters["pause"] == 0.7


def test_parameters_are_an_object() -> None:
    for wrong in ("{", []):
        with pytest.raises(UsageError, match=r"FB513 parameters=.* is no JSON object"):
            ClassifierStream(classifier="constant", yields=("complete",), parameters=wrong)  # type: ignore[arg-type]


def test_labels_that_never_yield_are_refused(judge: str) -> None:
    """A stream that can never take the floor would have no false cut-in."""
    stream = ClassifierStream(classifier="silence-webrtc", yields=("Complete",))
    with pytest.raises(UsageError, match=r"FB513 .*'Complete'.* complete, incomplete"):
        stream.load()
    ClassifierStream(classifier=judge, yields=("Complete",)).load()  # declares no labels
