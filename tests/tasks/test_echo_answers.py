"""What a prediction means: windows, early and missing yields, native labels, roles."""

from __future__ import annotations

from typing import Any

import pytest

from floorbench.core.prediction import Decision, Event, Prediction
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome
from floorbench.errors import UsageError
from floorbench.metrics.base import FAILED, INVALID, OK, OUTCOMES, TIMEOUT
from floorbench.tasks.echo_answers import (
    KEEP,
    NOT_HOLDING,
    PREMATURE,
    YIELD,
    Times,
    action_of,
    as_mapping,
    check_declared,
    meaning,
    problem_of,
    role_said,
    three_way,
    unread,
)
from support import scoring

TIMES = Times(insertion_start=2.0, insertion_end=3.0, system_start=0.5, system_end=6.0)
PLAIN = scoring.system("toy")
ROLES = ("interruption", "backchannel", "off_talk")


def said(*events: tuple[float, str], heard: float | None = 4.0, **kw: Any) -> Decision:
    """A stream: (commit time, label), heard up to a time."""
    made = [Event(kind="action", label=label, time=at, commit=at) for at, label in events]
    if heard is not None:
        made.append(Event(kind="observed", time=heard, commit=heard))
    return Decision(events=tuple(made), **kw)


def read(
    decision: Decision, *, tail: float = 0.0, system: Any = PLAIN, times: Times = TIMES
) -> Any:
    prediction = Prediction(sample_id="a", decision=decision)
    return meaning(prediction, times=times, system=system, tail=tail, declared={})


@pytest.mark.parametrize(
    ("at", "tail", "action"),
    [
        (2.0, 0.0, YIELD),  # the onset belongs to the window
        (1.999999, 0.0, PREMATURE),
        (2.999999, 0.0, YIELD),
        (3.0, 0.0, KEEP),  # its end does not
        (3.0, 1.0, YIELD),
        (4.0, 1.0, KEEP),
    ],
)
def test_the_window_is_half_open(at: float, tail: float, action: str) -> None:
    assert read(said((at, "yield")), tail=tail).action == action


def test_the_planned_end_bounds_the_window() -> None:
    short = Times(insertion_start=2.0, insertion_end=3.0, system_start=0.5, system_end=2.5)
    assert read(said((2.6, "yield"), heard=2.6), times=short, tail=1.0).action == KEEP
    assert read(said(heard=2.5), times=short, tail=1.0).action == KEEP


def test_the_first_yield_counts_and_a_resumption_does_not_undo_it() -> None:
    found = read(said((2.4, "yield"), (2.6, "resume"), (2.8, "yield")))
    assert (found.action, found.latency) == (YIELD, pytest.approx(0.4))


def test_an_early_stop_is_premature_for_good_and_keeps_its_negative_latency() -> None:
    found = read(said((1.5, "stop"), (1.8, "resume"), (2.5, "yield")))
    assert (found.action, found.latency) == (PREMATURE, pytest.approx(-0.5))


def test_a_keep_needs_the_whole_window() -> None:
    assert read(said(heard=3.0)).action == KEEP
    assert read(said(heard=2.9)).outcome == FAILED
    assert read(said(heard=3.0), tail=1.0).outcome == FAILED
    assert read(said((2.5, "keep"), heard=None)).outcome == FAILED
    assert read(said((2.5, "yield"), heard=2.5)).action == YIELD  # nothing undoes it


def test_a_crashed_or_late_stream_is_neither() -> None:
    for outcome, code in ((Outcome.FAILED, FAILED), (Outcome.TIMEOUT, TIMEOUT)):
        found = read(said((2.5, "yield"), heard=4.0, outcome=outcome))
        assert (found.outcome, found.action) == (code, None)
    absent = meaning(None, times=TIMES, system=PLAIN, tail=0.0, declared={})
    assert OUTCOMES[absent.outcome] == "absent"


def test_a_system_that_speaks_for_itself_must_hold_the_floor() -> None:
    own = scoring.system("own", parameters={"floor": "own"})
    assert read(said((2.5, "yield")), system=own).action == NOT_HOLDING
    assert read(said((2.1, "speak")), system=own).action == NOT_HOLDING
    assert read(said((1.0, "speak"), (2.5, "yield")), system=own).action == YIELD
    assert read(said((1.0, "speak")), system=own).action == KEEP


NATIVE = {
    "easy-turn": {"<COMPLETE>": YIELD, "incomplete": YIELD, "backchannel": KEEP, "offtalk": KEEP,
                  "<wait>": None},
    "soulx-duplug": {"nonidle": YIELD, "speak": YIELD, "idle": KEEP, "blank": KEEP},
    "lychee-fd": {"<|S-L|>": YIELD, "<|K-S|>": KEEP, "<|BackChannel|>": KEEP},
}  # fmt: skip


@pytest.mark.parametrize("name", NATIVE)
def test_native_labels_are_mapped_when_scoring(name: str) -> None:
    system = scoring.system("s", label_map=name)
    for label, action in NATIVE[name].items():
        assert action_of(label, system, {}) == action
        found = read(Decision(label=label), system=system)
        assert found.action == action
        assert found.outcome == (OK if action else INVALID)


def test_easy_turns_wait_must_be_declared() -> None:
    system = scoring.system("s", label_map="easy-turn")
    assert action_of("wait", system, {"wait": "keep"}) == KEEP
    assert as_mapping({"wait": "keep"}) == {"wait": "keep"}
    with pytest.raises(UsageError, match="FB103"):
        as_mapping({"wait": "maybe"})


def test_speak_means_what_its_table_says() -> None:
    assert action_of("speak", PLAIN, {}) == KEEP
    assert action_of("speak", scoring.system("s", label_map="soulx-duplug"), {}) == YIELD


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("off-talk", "off_talk"),
        ("The answer is: Backchannel.", "backchannel"),
        ("【interruption】", "interruption"),
        ("interruption, not off-talk", None),
        ("yield", None),
        ("", None),
    ],
)
def test_a_role_is_read_from_text_when_exactly_one_is_named(text: str, role: str | None) -> None:
    assert role_said(text) == role


def test_three_way_systems_give_role_and_action() -> None:
    system = scoring.system("llm", labels=ROLES)
    assert three_way(system)
    assert not three_way(PLAIN)
    found = read(Decision(label="off_talk"), system=system)
    assert (found.action, found.role) == (KEEP, "off_talk")
    found = read(Decision(raw="Interruption."), system=system)
    assert (found.action, found.role) == (YIELD, "interruption")
    assert read(Decision(raw="hm"), system=system).outcome == INVALID


def test_problems_of_predictions_made_elsewhere() -> None:
    for fine in (said(), Decision(label="Yield"), Decision(label="<|S-L|>"),
                 Decision(raw="Interruption."),
                 Decision(outcome=Outcome.FAILED)):  # fmt: skip
        assert problem_of(fine, declared={}) is None
    for words in ("?", "Yield"):
        assert problem_of(Decision(raw=words), declared={}) == "the raw answer names no role"
    assert problem_of(Decision(label="perhaps"), declared={}) == "unknown label 'perhaps'"
    assert problem_of(Decision(label="perhaps"), declared={"perhaps": "keep"}) is None
    assert problem_of(Decision(scores={"p": 1.0}), declared={})


@pytest.mark.parametrize(
    ("label", "table", "problem"),
    [
        ("yield", None, None),
        ("off-talk", None, None),
        ("complete", None, "own word, and the system declares no label map (known from easy-turn)"),
        ("complete", "easy-turn", None),
        ("complete", "lychee-fd", "'complete' is neither yield nor keep for 'mine'"),
    ],
)
def test_a_word_without_a_meaning(label: str, table: str | None, problem: str | None) -> None:
    system = SystemSpec(name="mine", version="1", label_map=table)
    found = unread(Decision(label=label), system, {})
    assert found is None if problem is None else problem in str(found)
    assert unread(Decision(label=label), system, {label: "keep"}) is None
    assert unread(said((1.0, label)), system, {}) is None  # streams are read event by event


def test_what_means_nothing_is_no_keep() -> None:
    assert read(said((2.5, "wait"))).outcome == INVALID
    assert read(said((2.1, "yield"), (2.5, "wait"))).outcome == INVALID
    assert read(said((9.0, "wait"))).action == KEEP  # after the window
    system = scoring.system("s", label_map="easy-turn", labels=("complete", "wait"))
    with pytest.raises(UsageError, match="'wait', which is neither yield nor keep"):
        check_declared(system, {})
    check_declared(system, {"wait": "keep"})


def test_only_commit_times_count() -> None:
    """Neither the order of a list nor what an event says of itself moves an answer."""
    heard = Event(kind="observed", time=9.0)
    early, late = (Event(kind="action", label="yield", time=t) for t in (2.1, 2.5))
    there = read(Decision(events=(early, late, heard)))
    assert read(Decision(events=(late, early, heard))) == there
    own = scoring.system("own", parameters={"floor": "own"})
    claimed = Event(kind="action", label="speak", time=0.0, commit=2.4)
    assert read(Decision(events=(claimed, late, heard)), system=own).action == NOT_HOLDING


@pytest.mark.parametrize(
    "labels",
    [
        ("interruption", "backchannel", "off_talk"),
        ("interruption", "backchannel", "off-talk"),  # as the paper spells it
        ("Interruption", "<Backchannel>", "offtalk"),
    ],
)
def test_roles_count_however_a_system_spells_them(labels: tuple[str, ...]) -> None:
    system = scoring.system("s", labels=labels)
    assert three_way(system)
    found = [read(Decision(label=label), system=system) for label in labels]
    assert [f.role for f in found] == list(ROLES)
    assert [f.action for f in found] == [YIELD, KEEP, KEEP]


def test_a_system_without_all_roles_is_not_three_way() -> None:
    assert not three_way(scoring.system("s", labels=("yield", "keep")))
    assert not three_way(scoring.system("s", labels=("interruption", "backchannel")))
    assert not three_way(scoring.system("s", labels=None))
