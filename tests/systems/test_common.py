"""Parameter checks and the answer to what a system does not do."""

import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import UsageError
from floorbench.systems.common import choice, in_parts, number, refusal, user_audio
from sounds import voice

SPEC = SystemSpec(name="x", version="1", states=("SystemIdle",), languages=("en", "zh"))
AUDIO = ArrayAudio(voice(0.1), rate=16_000)


def seen(**kw):
    return Observation(**{"language": "en", "channels": {Role.USER: AUDIO}, **kw})


def test_numbers_in_range():
    assert number("tail", 1, low=0, high=4) == 1.0
    assert isinstance(number("tail", 1, low=0, high=4), float)


@pytest.mark.parametrize("bad", [-0.1, 4.1, float("nan"), float("inf"), "1", True, None])
def test_numbers_outside(bad):
    with pytest.raises(UsageError, match=r"tail=.* is not a number from 0 to 4") as caught:
        number("tail", bad, low=0, high=4)
    assert caught.value.code == "FB513"


def test_choices():
    assert choice("gate", "off", ("off", "silero")) == "off"
    with pytest.raises(UsageError, match="did you mean 'silero'"):
        choice("gate", "silerro", ("off", "silero"))
    with pytest.raises(UsageError, match="known: off, silero"):
        choice("gate", 3, ("off", "silero"))


@pytest.mark.parametrize(
    ("observation", "reason"),
    [
        (seen(state="SystemSpeaking"), "state SystemSpeaking is outside SystemIdle"),
        (seen(language="cy"), "language cy is not declared"),
        (seen(channels={}), "no audio of the user"),
        (seen(channels={Role.SYSTEM: AUDIO}), "no audio of the user"),
    ],
)
def test_undeclared_cells_are_unsupported(observation, reason):
    decision = refusal(SPEC, observation)
    assert decision.outcome is Outcome.UNSUPPORTED
    assert decision.reason == reason
    assert decision.label is None


def test_declared_cells_are_answered():
    assert refusal(SPEC, seen(state="SystemIdle")) is None
    assert refusal(SPEC, seen(state=None)) is None
    assert refusal(SystemSpec(name="x", version="1"), seen(language="cy", state="any")) is None
    assert user_audio(seen()) is AUDIO


def test_parts_hold_what_is_not_refused_in_its_order():
    parts = []

    def answer(asked):
        parts.append([o.text for o in asked])
        return [Decision(label=o.text) for o in asked]

    given = [seen(text=str(n), language="fr" if n in (1, 4) else "en") for n in range(7)]
    said = in_parts(given, spec=SPEC, size=2, answer=answer)
    assert parts == [["0", "2"], ["3", "5"], ["6"]]
    assert [d.label for d in said] == ["0", None, "2", "3", None, "5", "6"]
    assert in_parts([], spec=SPEC, size=2, answer=answer) == []
    with pytest.raises(ValueError, match="zip"):
        in_parts(given[:1], spec=SPEC, size=2, answer=lambda asked: [])
