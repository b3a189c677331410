"""The within-turn TRP protocol: what is shown, what is asked, how answers become units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from floorbench.core.prediction import Decision
from floorbench.core.vocab import Level, Outcome
from floorbench.datasets.trp import TrpSource
from floorbench.errors import DataError, UsageError
from floorbench.metrics import thresholds
from floorbench.metrics.base import INVALID, OK, point
from floorbench.run.checking import ELSEWHERE
from floorbench.tasks.trp import PROMPTED, TrpTask, instruction, instruction_hashes
from floorbench.tasks.trp_gold import slot_of
from support import scoring, trp_tiny
from support.scoring import cell

BOUNDARY = scoring.system("b", modalities=("text",), score="boundary", level=Level.MEASURED)
PROMPT = scoring.system("p", modalities=("text", "question"), score="p_yes")
NEVER = Decision(label="no")


@pytest.fixture
def samples(tmp_path):
    return tuple(TrpSource(trp_tiny.build(tmp_path)).samples())


def test_gold_is_the_consensus(samples):
    task = TrpTask()
    assert [s.id for s in samples if task.gold(s).label == "yes"] == [
        "one#002", "one#004", "three#001", "three#004",
    ]  # fmt: skip
    shares = {s.id: task.gold(s).scores["proportion"] for s in samples}
    assert (shares["one#002"], shares["two#003"], shares["three#004"]) == (0.75, 0.25, 2 / 3)


def test_the_rules_are_parameters(samples):
    def positive(**rules):
        task = TrpTask(**rules)
        return [s.id for s in samples if task.due(s, PROMPT) and task.gold(s).label == "yes"]

    assert positive(tau="0.5") == ["one#002", "three#001", "three#004"]
    assert positive(tau=0.2) == ["one#002", "one#004", "two#003", "three#001", "three#004"]
    assert "two#004" in positive(final_slot="always")
    assert positive(final_slot="drop") == ["one#002", "one#004", "three#001"]
    assert positive(rule="adaptive") == ["one#002", "three#001"]


def test_a_dropped_last_slot_is_left_out_when_scored(samples):
    """It is asked for all the same, so that one run can be scored in all three ways."""
    task = TrpTask(final_slot="drop")
    assert all(task.due(s, PROMPT) for s in samples)
    last = ["one#005", "two#004", "three#004"]
    assert [s.id for s in samples if task.gold(s).label is None] == last
    units, _ = scoring.score(task, samples, BOUNDARY, lambda s, c: NEVER)
    assert list(units["slot"].units) == [s.id for s in samples if s.id not in last]


def test_conditions_are_for_systems_that_read_them():
    task = TrpTask()
    assert task.conditions(PROMPT) == ("expert", "participant")
    assert task.conditions(BOUNDARY) == ("none",)
    assert task.conditions(ELSEWHERE) == ("none", "expert", "participant")


def test_what_each_condition_shows(samples):
    task, sample = TrpTask(), samples[2]
    assert task.observe(sample, "none").question is None
    asked = {c: task.observe(sample, c) for c in PROMPTED}
    assert asked["expert"].question.text != asked["participant"].question.text
    assert all(o.question.answers == ("yes", "no") for o in asked.values())
    assert all(o.text == "w0 w1 w2" for o in asked.values())
    with pytest.raises(DataError, match="FB222"):
        task.observe(sample, "novice")


def test_instructions_are_hashed_into_the_protocol():
    hashes = instruction_hashes("v1")
    assert set(hashes) == {"expert.txt", "participant.txt"}
    assert TrpTask().spec.parameters["prompts"] == hashes
    assert "transition relevance place" in instruction("expert", "v1")
    assert "transition" not in instruction("participant", "v1")
    with pytest.raises(UsageError, match="FB103"):
        TrpTask(prompt="v0")


@pytest.mark.parametrize(
    "bad",
    [
        {"tau": 1.5}, {"rule": "median"}, {"final_slot": "keep"}, {"missing": "skip"}, {"h": -1},
        {"h": 1.5}, {"h": "two"}, {"tau": "30%"}, {"k": "x"}, {"tail": "x"}, {"pause": -1},
        {"pause": "x"}, {"threshold": "high"}, {"threshold": float("nan")},
    ],
)  # fmt: skip
def test_parameters_out_of_range(bad):
    with pytest.raises(UsageError):
        TrpTask(**bad)


def test_a_language_that_is_not_declared_is_not_due(samples):
    english = replace(PROMPT, languages=("en",))
    chinese = replace(PROMPT, languages=("zh",))
    task = TrpTask()
    assert task.due(samples[0], english)
    assert not task.due(samples[0], chinese)


def test_problems_of_predictions_made_elsewhere(samples):
    task, s = TrpTask(), samples[0]
    assert task.problem(s, Decision(label="maybe")) == "label 'maybe' is neither yes nor no"
    assert task.problem(s, Decision()) == "neither a label nor a score"
    assert task.problem(s, Decision(scores={"boundary": 0.2})) is None
    assert task.problem(s, Decision(outcome=Outcome.INVALID)) is None
    assert task.problem(s, Decision(raw="Yes.")) is None
    assert task.problem(s, Decision(raw="yes and no")) == "neither a label nor a score"


def test_an_answer_in_words_is_read_when_it_is_one_of_the_two(samples):
    """A chat model that is held to the allowed answers leaves its word in ``raw``."""
    said = {1: " YES. ", 2: "no", 3: "Yes, because", 4: ""}

    def answer(sample, condition):
        return Decision(raw=said.get(slot_of(sample)[1], "no"))

    units, _ = scoring.score(TrpTask(), samples[:4], PROMPT, answer)
    slots = units["slot"].where(units["slot"].column("condition") == 1)
    assert slots.column("predicted").tolist() == [1, 0, -1, -1]
    assert slots.column("outcome").tolist() == [OK, OK, INVALID, INVALID]


def test_the_score_of_predictions_made_elsewhere_is_ranked_and_read_at_a_threshold(samples):
    """They declare no score; one that stands alone in a decision is meant."""

    def answer(sample, condition):
        return Decision(scores={"p": 0.9 if slot_of(sample)[1] == 2 else 0.1})

    task = TrpTask(threshold=0.5)
    units, measures = scoring.score(task, samples, ELSEWHERE, answer)
    assert set(units["slot"].column("predicted").tolist()) == {0, 1}
    assert (units["slot"].column("outcome") == OK).all()
    found = cell(measures, "auc", condition="expert")
    # 4 of 13 slots are TRPs; one of them scores high, and so do two of the other nine
    area = (7 * 1 + 2 * 0.5 + 3 * 7 * 0.5) / 36
    assert point(found.metric, found.scored).value == pytest.approx(area)

    def answer_twice(sample, condition):
        return Decision(label="no", scores={"p": 0.9, "q": 0.1})

    units, measures = scoring.score(TrpTask(), samples, ELSEWHERE, answer_twice)
    assert np.isnan(units["slot"].column("score")).all()
    assert not [m for m in measures if m.metric.spec.name == "auc"]


def test_a_score_without_a_label_is_read_at_the_systems_own_threshold(samples):
    own = replace(BOUNDARY, threshold=0.3)

    def answer(sample, condition):
        return Decision(scores={"boundary": 0.3 if slot_of(sample)[1] == 2 else 0.2})

    units, _ = scoring.score(TrpTask(), samples, own, answer)
    said = units["slot"].column("predicted").tolist()
    assert said == [int(slot_of(s)[1] == 2) for s in samples]


def test_the_oracle_is_perfect(samples):
    task = TrpTask()
    _, measures = scoring.score(task, samples, PROMPT, lambda s, c: task.gold(s))
    for condition in PROMPTED:
        for name, value in {"slot_f": 1, "kappa_all": 1, "kappa_hit": 1, "mae_slots": 0}.items():
            assert point(*_of(measures, name, condition)).value == value


def _of(measures, name, condition):
    found = cell(measures, name, condition=condition)
    return found.metric, found.scored


def test_a_missing_answer_costs_a_positive_and_earns_nothing_on_a_negative(samples):
    task = TrpTask()

    def answer(sample, condition):
        if sample.id in ("one#002", "one#003"):
            return Decision(outcome=Outcome.INVALID)
        return task.gold(sample)

    _, measures = scoring.score(task, samples, BOUNDARY, answer)
    assert point(*_of(measures, "slot_recall", "none")).value == 3 / 4
    assert point(*_of(measures, "slot_precision", "none")).value == 1
    assert point(*_of(measures, "slot_specificity", "none")).value == 1
    assert point(*_of(measures, "kappa_all", "none")).value == pytest.approx(2 * 11 / 13 - 1)
    found = cell(measures, "slot_recall", condition="none").coverage
    assert (found.expected, found.invalid, found.ok) == (13, 2, 11)


def scored_by_length(sample, condition):
    """Score a slot by its number, so that a threshold is easy to read."""
    return Decision(label="no", scores={"boundary": sample.target["slot"][1] / 10})


def test_a_threshold_turns_scores_into_answers_when_scoring(samples):
    scored, _ = scoring.score(TrpTask(threshold=0.4), samples, BOUNDARY, scored_by_length)
    said = scored["slot"].column("predicted") == 1
    assert [s.id for s, yes in zip(samples, said, strict=True) if yes] == [
        "one#004", "one#005", "two#004", "three#004",
    ]  # fmt: skip
    as_given, _ = scoring.score(TrpTask(), samples, BOUNDARY, scored_by_length)
    assert not as_given["slot"].column("predicted").any()


def test_a_threshold_without_a_score_is_no_answer(samples):
    scored, _ = scoring.score(
        TrpTask(threshold=0.4), samples, BOUNDARY, lambda s, c: Decision(label="yes")
    )
    assert (scored["slot"].column("outcome") == 2 + 1).all()
    assert (scored["slot"].column("predicted") == -1).all()


def test_a_threshold_is_set_on_one_split_and_frozen_for_another(tmp_path):
    folder = trp_tiny.build(tmp_path)
    dev, test = (tuple(TrpSource(folder, split=s).samples()) for s in ("dev", "test"))
    units, _ = scoring.score(TrpTask(), dev, BOUNDARY, scored_by_length)
    chosen = thresholds.choose(units["slot"], positive="yes", objective="f_score")
    frozen = TrpTask(threshold=chosen.threshold)
    _, measures = scoring.score(frozen, test, BOUNDARY, scored_by_length)
    assert frozen.spec.parameters["threshold"] == chosen.threshold == 0.2
    assert point(*_of(measures, "slot_recall", "none")).value == 0.5


def test_auc_needs_every_score(samples):
    def some(sample, condition):
        return NEVER if sample.id == "two#001" else scored_by_length(sample, condition)

    _, measures = scoring.score(TrpTask(), samples, BOUNDARY, some)
    full = cell(measures, "auc", condition="none")
    assert point(full.metric, full.scored).value is None
    part = cell(measures, "auc_answered", condition="none", items="answered")
    assert part.note == "answered items only"
    assert point(part.metric, part.scored).value is not None


def test_an_unprompted_run_stands_under_every_condition(samples):
    _, measures = scoring.score(TrpTask(), samples, BOUNDARY, scored_by_length)
    own = cell(measures, "auc", condition="none")
    for condition in PROMPTED:
        shown = cell(measures, "auc", condition=condition)
        assert not shown.headline
        assert "reads no instruction" in shown.note
        assert point(shown.metric, shown.scored) == point(own.metric, own.scored)


def test_stimuli_without_listeners_can_be_run_and_not_scored(tmp_path):
    folder = trp_tiny.write(tmp_path, [trp_tiny.stimulus("one", 3)])
    samples = tuple(TrpSource(folder).samples())
    assert TrpTask().observe(samples[0], "expert").question is not None
    with pytest.raises(DataError, match="FB235"):
        scoring.score(TrpTask(), samples, BOUNDARY, scored_by_length)


def test_trials_are_averaged_within_a_prefix(samples):
    task = TrpTask()
    once, _ = scoring.score(task, samples, BOUNDARY, scored_by_length)
    thrice, measures = scoring.score(task, samples, BOUNDARY, scored_by_length, trials=3)
    assert np.allclose(thrice["slot"].weight, 1 / 3)
    assert len(thrice["slot"]) == 3 * len(once["slot"])
    again = cell(measures, "kappa_self", condition="none")
    assert point(again.metric, again.scored).value == 1
