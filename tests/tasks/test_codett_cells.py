"""Hand-computed results on tiny sets of gold and predicted labels."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation, Sample, Turn
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome, Role
from floorbench.datasets.codett_labels import ACTIONS, BY_LABEL, INTENTS, LABELS
from floorbench.metrics.base import Measure, Scored
from floorbench.tasks.codett import CodettTask
from oracles import codett_scores as oracle
from support.scoring import cell, score, system, value

ZH = {"language": "zh", "condition": "h0"}
SHORT = {
    "bc": "SystemSpeaking_Maintain_Backchannel",
    "m.side": "SystemSpeaking_Maintain_SideTalk",
    "int": "SystemSpeaking_StopandListen_Interruption",
    "s.dism": "SystemSpeaking_StopandListen_Dismissal",
    "cmp": "SystemIdle_Takeover_Completion",
    "cop": "SystemIdle_Takeover_Cooperation",
    "inc": "SystemIdle_Dismiss_Incomplete",
    "d.dism": "SystemIdle_Dismiss_Dismissal",
    "d.side": "SystemIdle_Dismiss_SideTalk",
}


def items(*labels: str, language: str = "zh", turns: tuple[Turn, ...] = ()) -> list[Sample]:
    return [
        Sample(
            id=f"{language}{i}",
            cluster=f"{language}{i}",
            stratum=label,
            observation=Observation(
                language=language, state=BY_LABEL[SHORT[label]].state, turns=turns
            ),
            target={"label": SHORT[label]},
        )
        for i, label in enumerate(labels)
    ]


def run(
    samples: list[Sample],
    said: list[str | Decision],
    *,
    spec: SystemSpec | None = None,
    **parameters: object,
) -> tuple[Scored, list[Measure]]:
    answers = {
        s.id: a if isinstance(a, Decision) else Decision(label=SHORT.get(a, a))
        for s, a in zip(samples, said, strict=True)
    }
    scored, measures = score(
        CodettTask(**parameters), samples, spec or system(), lambda s, c: answers[s.id]
    )
    return scored["sample"], measures


GOLD = ("bc", "bc", "m.side", "int", "s.dism", "cmp", "cmp", "cop", "inc", "d.dism")
SAID = ("bc", "m.side", "int", "int", "int", "cmp", "cop", "cmp", "inc", "cmp")
# action right:  y      y        n     y      y      y      y      y      y       n
# intent right:  y      n        n     y      n      y      n      n      y       n


def test_action_accuracy_is_micro_over_items() -> None:
    _, m = run(items(*GOLD), [*SAID])
    got = {a: value(m, "class_accuracy", **ZH, action=a).value for a in ACTIONS}
    assert got == {"Maintain": 2 / 3, "StopandListen": 1, "Takeover": 1, "Dismiss": 1 / 2}
    mean = (2 / 3 + 1 + 1 + 1 / 2) / 4
    assert value(m, "macro_accuracy", **ZH, actions="+".join(ACTIONS)).value == pytest.approx(mean)
    assert value(m, "average_all4", **ZH).value == pytest.approx(mean)
    assert value(m, "accuracy", **ZH).value == 8 / 10
    assert value(m, "accuracy", **ZH, state="SystemSpeaking").value == 4 / 5
    assert value(m, "accuracy", **ZH, state="SystemIdle").value == 4 / 5


def test_stage_two_by_hand() -> None:
    _, m = run(items(*GOLD), [*SAID])
    assert (
        value(m, "scenario_accuracy", **ZH, action="Maintain", scenario="Backchannel").value == 0.5
    )
    assert value(m, "smr", **ZH, action="Maintain").value == 1 / 2
    assert cell(m, "smr", **ZH, action="Maintain").note == "2 items with the right action"
    assert value(m, "smr", **ZH, action="StopandListen").value == 1 / 2
    assert value(m, "smr", **ZH, action="Takeover").value == 2 / 3
    assert value(m, "smr", **ZH, action="Dismiss").value == 0
    assert value(m, "accuracy", **ZH, stage="intent").value == 4 / 10
    takeover = value(m, "action_average", **ZH, action="Takeover")
    assert takeover.value == (1 / 2 + 0) / 2
    maintain = value(m, "action_average", **ZH, action="Maintain")
    assert maintain.value is None
    assert "Invalidation" in (maintain.reason or "")


def test_smr_falls_to_undefined_when_recall_collapses() -> None:
    _, m = run(items("inc", "d.dism"), ["cmp", "cmp"])
    assert value(m, "class_accuracy", **ZH, action="Dismiss").value == 0
    assert value(m, "smr", **ZH, action="Dismiss") == (
        None, "no unit of action 'Dismiss' was answered with it",
    )  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.integers(0, 7)), min_size=1, max_size=40))
def test_micro_intent_accuracy_is_action_accuracy_times_one_minus_smr(
    pairs: list[tuple[str, int]],
) -> None:
    samples, said = [], []
    for i, (gold, pick) in enumerate(pairs):
        state = BY_LABEL[gold].state
        own = [x.label for x in INTENTS if x.state == state]
        samples.append(
            Sample(
                id=str(i),
                cluster=str(i),
                observation=Observation(language="zh", state=state),
                target={"label": gold},
            )
        )
        said.append(Decision(label=own[pick]) if pick < 7 else Decision(outcome=Outcome.FAILED))
    units, m = run(samples, said)
    for action in ACTIONS:
        rows = units.column("gold") == ACTIONS.index(action)
        if not rows.any():
            continue
        hits = units.column("predicted_intent")[rows] == units.column("gold_intent")[rows]
        accuracy = value(m, "class_accuracy", **ZH, action=action).value
        smr = value(m, "smr", **ZH, action=action).value
        assert hits.mean() == pytest.approx(accuracy * (1 - smr) if smr is not None else 0.0)


def test_unsupported_cells_are_not_applicable_and_count_as_wrong_in_the_ranked_average() -> None:
    spec = system("turn", label_map="smart-turn", states=("SystemIdle",))
    said = ["complete"] * 8 + ["incomplete", "incomplete"]
    _, m = run(items(*GOLD), said, spec=spec)
    maintain = cell(m, "class_accuracy", **ZH, action="Maintain")
    assert maintain.undeclared == "turn does not declare SystemSpeaking"
    assert maintain.coverage.expected == 0
    assert cell(m, "accuracy", **ZH, state="SystemSpeaking").undeclared is not None
    assert value(m, "macro_accuracy", **ZH, actions="Takeover+Dismiss").value == 1
    assert value(m, "average_all4", **ZH).value == 0.5
    assert (
        cell(m, "average_all4", **ZH).metric.spec
        == cell(run(items(*GOLD), [*SAID])[1], "average_all4", **ZH).metric.spec
    )


def test_one_missing_action_is_named_by_action() -> None:
    _, m = run(items(*GOLD), ["wait"] * 10, spec=system("ten", label_map="ten"))
    assert cell(m, "class_accuracy", **ZH, action="Maintain").undeclared == (
        "ten does not declare Maintain"
    )
    assert value(m, "class_accuracy", **ZH, action="StopandListen").value == 1


def test_an_undeclared_language_is_not_applicable() -> None:
    samples = items("cmp", "inc") + items("cmp", "inc", language="en")
    spec = system("easy", label_map="easy-turn", languages=("zh",))
    _, m = run(samples, ["complete"] * 4, spec=spec)
    english = [x for x in m if x.slice["language"] == "en"]
    assert english
    assert {x.undeclared for x in english} == {"easy does not declare en"}
    assert value(m, "class_accuracy", **ZH, action="Takeover").value == 1


def test_languages_are_never_pooled() -> None:
    _, m = run(items("cmp") + items("cmp", language="en"), ["cmp", "inc"])
    assert {x.slice["language"] for x in m} == {"zh", "en"}
    assert value(m, "class_accuracy", **ZH, action="Takeover").value == 1


def test_an_answer_that_ignores_the_state_is_a_wrong_action() -> None:
    _, m = run(items("bc", "cmp"), ["complete", "complete"], spec=system(label_map="easy-turn"))
    assert value(m, "class_accuracy", **ZH, action="Maintain").value == 0
    assert cell(m, "accuracy", **ZH, state="SystemSpeaking").coverage.ok == 1


@pytest.mark.parametrize(("policy", "expected"), [("wrong", 1 / 3), ("drop", 1 / 2)])
def test_missing_policy(policy: str, expected: float) -> None:
    said = ["cmp", "inc", Decision(outcome=Outcome.TIMEOUT)]
    _, m = run(items("cmp", "cmp", "cmp"), said, missing=policy)
    takeover = cell(m, "class_accuracy", **ZH, action="Takeover")
    assert value(m, "class_accuracy", **ZH, action="Takeover").value == expected
    assert (takeover.coverage.expected, takeover.coverage.ok, takeover.coverage.timeout) == (
        3,
        2,
        1,
    )


def test_unsupported_inside_a_declared_cell_is_wrong_even_when_dropping() -> None:
    said = ["cmp", Decision(outcome=Outcome.UNSUPPORTED)]
    _, m = run(items("cmp", "cmp"), said, missing="drop")
    assert value(m, "class_accuracy", **ZH, action="Takeover").value == 1 / 2


def scored_system() -> SystemSpec:
    return system(label_map="smart-turn", states=("SystemIdle",), score="complete", threshold=0.5)


def heard(p: float) -> Decision:
    return Decision(label="complete" if p > 0.5 else "incomplete", scores={"complete": p})


def test_scored_systems_get_an_auc_over_idle_items() -> None:
    samples = items("cmp", "cop", "inc", "d.dism")
    _, m = run(samples, [heard(p) for p in (0.9, 0.4, 0.4, 0.1)], spec=scored_system())
    where = {**ZH, "state": "SystemIdle", "positive": "Takeover"}
    assert value(m, "auc", **where).value == (1 + 1 + 0.5 + 1) / 4
    assert not [x for x in m if x.metric.spec.name == "auc_answered"]
    _, again = run(
        samples, [heard(p) for p in (0.9, 0.4, 0.4, 0.1)], spec=scored_system(), threshold=0.3
    )
    assert value(m, "class_accuracy", **ZH, action="Takeover").value == 1 / 2
    assert value(again, "class_accuracy", **ZH, action="Takeover").value == 1


def test_auc_is_undefined_without_full_coverage_and_then_said_for_answered_items() -> None:
    said = [heard(0.9), Decision(outcome=Outcome.FAILED), heard(0.2), Decision(label="complete")]
    _, m = run(items("cmp", "cmp", "inc", "inc"), said, spec=scored_system())
    where = {**ZH, "state": "SystemIdle", "positive": "Takeover"}
    why = "2 of 4 units have no score; coverage must be 100 %"
    assert value(m, "auc", **where) == (None, why)
    answered = cell(m, "auc_answered", **where, items="answered")
    assert answered.note == "answered items only"
    assert answered.coverage.share == 0.5
    assert value(m, "auc_answered", **where, items="answered").value == 1
    assert value(m, "class_accuracy", **ZH, action="Dismiss").value == 1 / 2


def test_baselines_are_computed_on_the_data_at_hand() -> None:
    _, m = run(items(*GOLD), [*SAID])
    every = "+".join(ACTIONS)
    per_state = cell(m, "macro_accuracy", **ZH, baseline="best constant per state", actions=every)
    assert value(
        m, "macro_accuracy", **ZH, baseline="best constant per state", actions=every
    ).value == 0.5  # fmt: skip
    assert value(
        m, "macro_accuracy", **ZH, baseline="state-blind constant", actions=every
    ).value == 0.25  # fmt: skip
    assert per_state.note == "50.00 over all four actions, by arithmetic"
    assert per_state.coverage.share == 1


def test_actions_alone_leave_stage_two_not_applicable() -> None:
    _, m = run(items("cmp", "inc"), ["Takeover", "Dismiss"])
    assert value(m, "average_all4", **ZH).value is None
    assert value(m, "accuracy", **ZH).value == 1
    assert cell(m, "smr", **ZH, action="Takeover").undeclared == "no answer names a scenario"


def test_an_action_alone_among_full_labels_is_no_intent() -> None:
    _, m = run(items("cmp", "cmp"), ["cmp", "Takeover"])
    assert value(m, "class_accuracy", **ZH, action="Takeover").value == 1
    assert value(m, "accuracy", **ZH, stage="intent").value == 1 / 2
    assert cell(m, "accuracy", **ZH, stage="intent").coverage.invalid == 1


def test_short_history_and_absent_audio_are_noted() -> None:
    turns = (Turn(role=Role.USER, text="u"), Turn(role=Role.SYSTEM, text="a"))
    spec = system(context="dialogue")
    _, m = run(items("cmp", "inc", turns=turns), ["cmp", "inc"], spec=spec)
    notes: Mapping[str, str | None] = {
        x.slice["condition"]: x.note
        for x in m
        if x.metric.spec.name == "macro_accuracy" and "baseline" not in x.slice
    }
    assert notes == {
        "h0": None,
        "h1": "2 history turns without audio",
        "h3": "2 of 2 items have fewer than 3 user turns; 2 history turns without audio",
        "h5": "2 of 2 items have fewer than 5 user turns; 2 history turns without audio",
    }


OUTCOMES = ("abstained", "unsupported", "invalid", "failed", "timeout", "absent")


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(LABELS),
            st.one_of(st.integers(0, 6), st.integers(0, 6), st.sampled_from(OUTCOMES)),
        ),
        min_size=1,
        max_size=60,
    ),
    missing=st.sampled_from(["wrong", "drop"]),
)
def test_every_cell_equals_plain_counting(rows: list[tuple[str, int | str]], missing: str) -> None:
    samples: list[Sample] = []
    answers: dict[str, Decision | None] = {}
    counted: list[oracle.Row] = []
    for i, (gold, pick) in enumerate(rows):
        state = BY_LABEL[gold].state
        said = None
        if isinstance(pick, int):
            said = [x.label for x in INTENTS if x.state == state][pick]
            answers[str(i)] = Decision(label=said)
        elif pick == "absent":
            answers[str(i)] = None
        else:
            answers[str(i)] = Decision(outcome=Outcome(pick))
        counted.append(oracle.Row(gold, said, "ok" if said else str(pick)))
        samples.append(
            Sample(
                id=str(i),
                cluster=str(i),
                observation=Observation(language="zh", state=state),
                target={"label": gold},
            )
        )
    _, m = score(CodettTask(missing=missing), samples, system(), lambda s, c: answers[s.id])

    def same(metric: str, expected: float | None, **where: str) -> None:
        found = cell(m, metric, **ZH, **where)
        if found.undeclared is None:
            assert value(m, metric, **ZH, **where).value == pytest.approx(expected)

    for action in ACTIONS:
        same("class_accuracy", oracle.action_accuracy(counted, action, missing), action=action)
        same("smr", oracle.smr(counted, action), action=action)
    same("macro_accuracy", oracle.average(counted, missing), actions="+".join(ACTIONS))
    same("average_all4", oracle.average(counted, missing))
    for intent in INTENTS:
        same(
            "scenario_accuracy",
            oracle.scenario_accuracy(counted, intent.label, missing),
            action=intent.action,
            scenario=intent.scenario,
        )
