"""Each rule refuses what it is there for, and nothing else of a good dialogue."""

from __future__ import annotations

import pytest

from floorbench.build.text.dialogue import Dialogue, Round, Target
from floorbench.build.text.rules import foreign, loops, problem_of

LONG = (
    "First you pour the water in slowly, then you wait until it has settled, "
    "and after about ten minutes you"
)
ROUNDS = (("Can you help me with a cake?", "Of course I can."), ("What comes first?", LONG))
HEARD = {
    "SystemSpeaking_Maintain_Backchannel": ("user", "Oh, right.", None),
    "SystemSpeaking_Maintain_Invalidation": ("noise", "", None),
    "SystemSpeaking_Maintain_Distraction": ("background", "It's a corner for the visitors.", None),
    "SystemSpeaking_StopandListen_Interruption": ("user", "Hang on, how much flour?", None),
    "SystemIdle_Takeover_Cooperation": ("third_party", "We only have brown sugar left.", None),
    "SystemIdle_Dismiss_Incomplete": ("user", "I think that we should take the big tin.", 6),
    "SystemIdle_Dismiss_Exclusion": ("third_party", "Mum, where is my scarf?", None),
}


def dialogue(
    label="SystemSpeaking_StopandListen_Interruption", rounds=ROUNDS, language="en", **new
):
    role, text, cut = HEARD[label]
    target = {"role": role, "text": text, "cut_after": cut, "label": label, **new}
    return Dialogue(
        id="d", language=language, topic="cooking", family="f",
        history=tuple(Round(user=u, assistant=a) for u, a in rounds), target=Target(**target),
    )  # fmt: skip


@pytest.mark.parametrize("label", HEARD)
def test_a_good_dialogue_passes(label):
    assert problem_of(dialogue(label)) is None


INCOMPLETE = "SystemIdle_Dismiss_Incomplete"
BACKCHANNEL = "SystemSpeaking_Maintain_Backchannel"
NOISE = "SystemSpeaking_Maintain_Invalidation"
DISTRACTION = "SystemSpeaking_Maintain_Distraction"
BAD = [
    ("empty", {"text": "..."}),
    ("empty", {"rounds": (("", "Yes."), ROUNDS[1])}),
    ("empty", {"label": NOISE, "text": "Bang."}),
    ("role", {"role": "third_party"}),
    ("role", {"label": NOISE, "role": "user", "text": "Hello there."}),
    ("history", {"rounds": ()}),
    ("history", {"rounds": tuple((f"Number {i}?", f"It is {i} now.") for i in range(6))}),
    ("history", {"rounds": (ROUNDS[0], ("Can you help me, with a cake", LONG))}),
    ("state", {"rounds": (ROUNDS[0], ("What comes first?", "The water."))}),
    ("length", {"text": "word " * 31 + "end."}),
    ("length", {"text": "Stop."}),
    ("length", {"rounds": (("Go " * 81 + "on.", "Yes."), ROUNDS[1])}),
    ("length", {"label": BACKCHANNEL, "text": "One two three four five six seven."}),
    ("length", {"label": INCOMPLETE, "text": "Well " + "very " * 41 + "good."}),
    ("language", {"text": "Hang on, 多少 flour?"}),
    ("markup", {"text": "Hang on, *how much* flour?"}),
    ("markup", {"text": "Hang on (laughs), how much flour?"}),
    ("markup", {"text": "User: how much flour?"}),
    ("leak", {"text": "Is this a side talk, or what?"}),
    ("leak", {"rounds": (("The state is SystemIdle.", "Yes."), ROUNDS[1])}),
    ("form", {"text": "Hang on, how much flour"}),
    ("form", {"label": BACKCHANNEL, "text": "Oh, right?"}),
    ("cut", {"cut_after": 2}),
    ("cut", {"label": INCOMPLETE, "cut_after": None}),
    ("cut", {"label": INCOMPLETE, "cut_after": 8}),
    ("cut", {"label": INCOMPLETE, "cut_after": 12}),
    ("cut", {"label": INCOMPLETE, "text": "I think so, but we should take more.", "cut_after": 3}),
    ("cut", {"label": BACKCHANNEL, "cut_after": 1}),
    ("repetition", {"text": "Can you, help me, with a cake!"}),
    ("repetition", {"text": "I want a cake I want a cake I want a cake."}),
    ("related", {"label": DISTRACTION, "text": "The water is cold at this time of year."}),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "change"), BAD)
def test_each_rule_refuses(reason, change):
    assert problem_of(dialogue(**change)).reason == reason


def test_a_backchannel_may_be_heard_whole():
    assert problem_of(dialogue(BACKCHANNEL, text="Mm-hm, right.", cut_after=None)) is None


ZH = (("帮我看看怎么做蛋糕吧。", "好的，没问题。"),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("那要放多少面粉呢？", None),
        ("那要放多少flour呢？", "language"),
        ("那要放多少面粉", "form"),
        ("帮我，看看怎么做蛋糕吧！", "repetition"),
        ("要要要要要要面粉。", "repetition"),
    ],
)
def test_chinese(text, reason):
    label = "SystemIdle_Takeover_Completion"
    made = Dialogue(
        id="d", language="zh", topic="cooking", family="f",
        history=tuple(Round(user=u, assistant=a) for u, a in ZH),
        target=Target(role="user", text=text, cut_after=None, label=label),
    )  # fmt: skip
    problem = problem_of(made)
    assert (problem.reason if problem else None) == reason


def test_scripts():
    assert foreign("Café, naïve!", "en") is None
    assert foreign("привет", "en") == "п"
    assert foreign("坐A座的Wi-Fi", "zh") is None
    assert foreign("さくら", "zh") == "さ"


def test_loops_start_at_the_third_time():
    assert loops("a b c a b c", "en") is None
    assert loops("a b c a b c a b c", "en") == "a b c"
