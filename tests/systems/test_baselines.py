"""Constants say what they are told to and claim every cell."""

import pytest

from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome
from floorbench.errors import UsageError
from floorbench.systems import baselines, build_system

SPEAKING = Observation(language="en", state="SystemSpeaking")
IDLE = Observation(language="zh", state="SystemIdle")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("always-maintain", "Maintain"),
        ("always-stop", "StopandListen"),
        ("always-takeover", "Takeover"),
        ("always-dismiss", "Dismiss"),
        ("always-yield", "Yield"),
        ("always-keep", "Keep"),
    ],
)
def test_always(name, label):
    system = build_system(name)
    assert system.spec.name == name
    assert (system.spec.labels, system.spec.states, system.spec.languages) == (None, None, None)
    for observation in (SPEAKING, IDLE):
        assert system.decide(observation).label == label


def test_any_constant():
    system = build_system("constant", label="<S-L>")
    assert system.spec.name == "constant(<S-L>)"
    assert system.spec.parameters == {"label": "<S-L>"}
    assert system.decide(IDLE).label == "<S-L>"


def test_constant_per_state():
    system = build_system("constant-per-state")
    assert system.decide(SPEAKING).label == "Maintain"
    assert system.decide(IDLE).label == "Dismiss"
    other = baselines.ConstantPerState(speaking="StopandListen", idle="Takeover")
    assert other.decide(IDLE).label == "Takeover"
    assert system.decide(Observation(language="en")).outcome is Outcome.UNSUPPORTED


@pytest.mark.parametrize("label", ["", "  ", None, 3])
def test_labels_must_be_words(label):
    with pytest.raises(UsageError, match="FB513"):
        baselines.Constant(label=label)
