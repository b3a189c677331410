"""The cells of a TRP result: values counted by hand, notes, and what is printed."""

from __future__ import annotations

import pytest

from floorbench.core.prediction import Decision
from floorbench.datasets.trp import TrpSource
from floorbench.metrics.base import point
from floorbench.tasks.trp import TrpTask
from floorbench.tasks.trp_gold import slot_of
from support import scoring, trp_tiny
from support.scoring import cell
from support.trp_tiny import people, respond, stimulus

SYSTEM = scoring.system("p", modalities=("text", "question"))
YES, NO = Decision(label="yes"), Decision(label="no")
ONE = {("one", 1), ("one", 2), ("two", 1), ("three", 4)}
HEADLINE = {
    *("slot_precision", "slot_recall", "slot_f", "kappa_all", "kappa_hit", "kappa_near"),
    *("mae_slots", "mae_slots_recall", "nmae", "nmse", "mae_density"),
}


def answer(sample, condition):
    return YES if slot_of(sample) in ONE else NO


@pytest.fixture
def measures(tmp_path):
    samples = tuple(TrpSource(trp_tiny.build(tmp_path)).samples())
    return scoring.score(TrpTask(), samples, SYSTEM, answer)[1]


def value(measures, name, **where):
    found = cell(measures, name, **where)
    return point(found.metric, found.scored).value


EXPERT = {"condition": "expert"}


def test_values_by_hand(measures):
    # Gold: one 2, one 4, three 1, three 4; predicted: one 1, one 2, two 1, three 4.
    assert value(measures, "slot_precision", **EXPERT) == 2 / 4
    assert value(measures, "slot_recall", **EXPERT) == 2 / 4
    assert value(measures, "slot_f", **EXPERT) == 1 / 2
    assert value(measures, "kappa_all", **EXPERT) == pytest.approx(2 * 9 / 13 - 1)
    assert value(measures, "slot_specificity", **EXPERT) == 7 / 9
    # Distances: one 1 is 1 away, one 2 and three 4 are 0; two has no consensus slot.
    assert value(measures, "mae_slots", **EXPERT) == 1 / 3
    # From the consensus: one 2: 0, one 4: 2, three 1: 3, three 4: 0.
    assert value(measures, "mae_slots_recall", **EXPERT) == 5 / 4
    assert value(measures, "mae_seconds", **EXPERT) == pytest.approx(0.4 / 3)
    assert value(measures, "kappa_hit", **EXPERT) == 2 * 3 / 4 - 1
    assert value(measures, "kappa_hit", **EXPERT, h="3") == 1
    # Precision per list: A 1 of 3, B 1 of 1; per stimulus: 1/2 and 0 in A, 1 in B.
    assert value(measures, "slot_precision", **EXPERT, aggregation="list_mean") == 2 / 3
    macro = value(measures, "slot_precision", **EXPERT, aggregation="stimulus_list_macro")
    assert macro == pytest.approx((1 / 4 + 1) / 2)


def test_the_printed_table(measures):
    for condition in ("expert", "participant"):
        printed = {
            m.metric.spec.name
            for m in measures
            if m.headline and m.slice.get("condition") == condition
        }
        assert printed == HEADLINE
    assert not any(m.headline for m in measures if "baseline" in m.slice)


def test_windows_norms_and_densities_are_stored(measures):
    for h in ("1", "3"):
        for name in ("kappa_hit", "kappa_near", "mae_density"):
            assert value(measures, name, **EXPERT, h=h) is not None
    for norm in ("max_predicted", "n_slots", "none"):
        assert value(measures, "nmae", **EXPERT, norm=norm) is not None
    assert value(measures, "mae_density", **EXPERT, density="people") is not None


def test_notes_say_what_a_value_is_worth(measures):
    note = cell(measures, "slot_f", **EXPERT).note
    assert "never 0.000, always 0.471" in note
    assert "listener" in note
    assert "4 of 13 slots are consensus TRPs" in cell(measures, "slot_recall", **EXPERT).note
    assert "1 onset before the first" in cell(measures, "slot_recall", **EXPERT).note
    left_out = cell(measures, "mae_slots", **EXPERT).note
    assert left_out == "stimuli left out: 1 without a consensus slot"
    assert "not the paper's kappa_true" in cell(measures, "kappa_hit", **EXPERT).note


def test_no_name_claims_the_papers_lost_kappa(measures):
    assert not any("true" in m.metric.spec.name for m in measures)


def test_baselines_have_cells_of_their_own(measures):
    for name in ("never", "always", "pause", "punctuation", "random", "listener"):
        assert cell(measures, "slot_recall", baseline=name).coverage.share == 1
    random = {m.metric.spec.name for m in measures if m.slice.get("baseline") == "random"}
    assert random == {"slot_precision", "slot_recall", "slot_f", "kappa_all"}


def test_agreement_of_the_listeners(tmp_path):
    # Slot 1: 2 of 4, P = 1/3; slots 2 and 3: all silent, P = 1. Mean 7/9, kappa 5/9.
    onsets = [respond("A0", "one", 0.3), respond("A1", "one", 0.3)]
    folder = trp_tiny.write(tmp_path, [stimulus("one", 3)], people("A", 4), onsets)
    samples = tuple(TrpSource(folder).samples())
    _, measures = scoring.score(TrpTask(), samples, SYSTEM, answer)
    assert value(measures, "kappa_listeners", baseline="panel") == pytest.approx(5 / 9)


def test_a_last_slot_that_counts_without_responses_has_no_density(tmp_path):
    folder = trp_tiny.write(tmp_path, [stimulus("one", 5)], people("A", 3), [])
    samples = tuple(TrpSource(folder).samples())
    task = TrpTask(final_slot="always")
    _, measures = scoring.score(task, samples, SYSTEM, lambda s, c: YES)
    found = cell(measures, "mae_density", **EXPERT)
    assert "final_slot=always" in found.undeclared
    assert value(measures, "slot_recall", **EXPERT) == 1


def test_a_system_that_predicts_nothing(tmp_path):
    samples = tuple(TrpSource(trp_tiny.build(tmp_path)).samples())
    _, measures = scoring.score(TrpTask(), samples, SYSTEM, lambda s, c: NO)
    assert value(measures, "slot_f", **EXPERT) == 0
    assert value(measures, "slot_precision", **EXPERT) is None
    assert value(measures, "mae_slots", **EXPERT) is None
    assert "2 without a prediction" in cell(measures, "mae_slots", **EXPERT).note
