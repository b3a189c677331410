from typing import Any

import pytest

from floorbench.core.prediction import Decision, Prediction
from floorbench.core.sample import Observation, Sample
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import ABSENT, INVALID, OK, OUTCOMES, Scored, concat
from floorbench.tasks.units import (
    Units,
    coverage,
    language_of,
    names,
    no_cover,
    number_or_none,
    outcome_code,
    stratum_code,
    without_unscored,
)


def sample(name: str, cluster: str = "c", stratum: str = "s") -> Sample:
    return Sample(
        id=name, cluster=cluster, stratum=stratum, observation=Observation(language="en"), target={}
    )


def units(*rows: tuple[Sample, str, int, str | None, float]) -> Scored:
    built = Units(vocab={"gold": ("x", "y")}, numbers=("score",))
    for who, condition, outcome, label, score in rows:
        built.add(who, condition, outcome=outcome, labels={"gold": label}, numbers={"score": score})
    return built.scored()


def test_trials_share_the_weight_of_their_sample_per_condition() -> None:
    a, b = sample("a"), sample("b")
    scored = units(
        (a, "h0", OK, "x", 0.0), (a, "h0", OK, "y", 0.0), (a, "h1", OK, "x", 0.0),
        (b, "h0", OK, "x", 0.0),
    )  # fmt: skip
    assert scored.weight.tolist() == [0.5, 0.5, 1.0, 1.0]
    assert scored.units == ("a", "a", "a", "b")


def test_labels_are_coded_and_missing_ones_are_minus_one() -> None:
    scored = units((sample("a"), "", OK, "y", 1.5), (sample("b"), "", INVALID, None, 0.0))
    assert scored.column("gold").tolist() == [1, -1]
    assert scored.column("score").tolist() == [1.5, 0.0]
    assert scored.column("outcome").tolist() == [OK, INVALID]


def test_shards_agree_on_strata_without_knowing_each_other() -> None:
    one = units((sample("a", "c1", "s1"), "", OK, "x", 0.0))
    two = units(
        (sample("b", "c2", "s2"), "", OK, "x", 0.0), (sample("c", "c3", "s1"), "", OK, "x", 0.0)
    )
    merged = concat([one, two])
    assert merged.strata[0] == merged.strata[2] != merged.strata[1]
    assert stratum_code("s1") == merged.strata[0]


def test_no_units_at_all() -> None:
    scored = units()
    assert len(scored) == 0
    assert coverage(scored).expected == 0
    assert no_cover().share is None


def test_coverage_counts_every_outcome() -> None:
    rows = [(sample(str(i)), "", i, None, 0.0) for i in range(len(OUTCOMES))]
    ledger = coverage(units(*rows))
    assert ledger.expected == len(OUTCOMES)
    assert {getattr(ledger, name) for name in OUTCOMES} == {1}


def test_outcomes_of_predictions() -> None:
    assert outcome_code(None) == ABSENT
    for outcome in Outcome:
        prediction = Prediction(sample_id="a", decision=Decision(outcome=outcome))
        assert OUTCOMES[outcome_code(prediction)] == outcome.value


def test_answers_without_a_score_are_invalid_for_rankings_only() -> None:
    scored = units((sample("a"), "", OK, "x", float("nan")), (sample("b"), "", OK, "x", 0.1))
    assert without_unscored(scored).column("outcome").tolist() == [INVALID, OK]
    assert scored.column("outcome").tolist() == [OK, OK]


@pytest.mark.parametrize("value", ["abc", float("nan"), float("inf"), True, [1]])
def test_a_number_or_nothing(value: Any) -> None:
    assert number_or_none("threshold", None) is None
    assert number_or_none("threshold", 2) == 2
    with pytest.raises(UsageError, match=r"FB103 threshold=.* is not a number"):
        number_or_none("threshold", value)


@pytest.mark.parametrize("value", ["en", 5, [], [1], {"en": 1}])
def test_a_list_of_names(value: Any) -> None:
    assert names("languages", ["en"]) == ("en",)
    with pytest.raises(UsageError, match=r"FB103 languages=.* is not a list of languages"):
        names("languages", value)


def test_a_language_that_the_task_does_not_know_is_refused_with_the_way_to_tell_it() -> None:
    assert language_of(sample("a"), ("zh", "en")) == "en"
    with pytest.raises(DataError, match="FB215") as caught:
        language_of(sample("a"), ("zh", "de"))
    assert str(caught.value.hint).endswith("""--task-set 'languages=["zh","de","en"]'.""")
    assert caught.value.where is not None
    assert caught.value.where.item == "a"
