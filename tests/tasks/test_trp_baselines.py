"""Baselines on a set small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from floorbench.core.prediction import Decision
from floorbench.datasets.trp import TrpSource
from floorbench.metrics import trp
from floorbench.metrics.agreement import kappa_all
from floorbench.metrics.base import point
from floorbench.tasks.trp import TrpTask
from floorbench.tasks.trp_baselines import baselines, held_out, one_pass, repeats
from floorbench.tasks.trp_gold import check_rules
from support import scoring, trp_tiny
from support.trp_tiny import people, respond, stimulus

SYSTEM = scoring.system("p", modalities=("text", "question"))
RULES = check_rules(tau="0.3", rule="fixed", k="0.05", tail=1.0, final_slot="observed", h=2)


def slots_of(folder, answer=lambda s, c: Decision(label="no"), trials=1):
    samples = tuple(TrpSource(folder).samples())
    return scoring.score(TrpTask(), samples, SYSTEM, answer, trials=trials)[0]["slot"]


@pytest.fixture
def found(tmp_path):
    return baselines(slots_of(trp_tiny.build(tmp_path), trials=2), RULES)


def value(metric, units):
    return point(metric, units).value


def test_every_slot_counts_once(found):
    assert {name: len(units) for name, units in found.items()} == {
        "never": 13, "always": 13, "pause": 13, "punctuation": 13, "random": 26,
        "listener": 4 * 9 + 3 * 4,
    }  # fmt: skip


def test_never_and_always(found):
    assert value(trp.slot_f(), found["never"]) == 0
    assert value(kappa_all(), found["never"]) == pytest.approx(2 * 9 / 13 - 1)
    assert value(trp.slot_f(), found["always"]) == pytest.approx(8 / 17)
    assert value(trp.slot_recall(), found["always"]) == 1


def test_random_is_what_a_guesser_expects(found):
    share = 4 / 13
    assert value(trp.slot_precision(), found["random"]) == pytest.approx(share)
    assert value(trp.slot_recall(), found["random"]) == pytest.approx(share)
    assert value(trp.slot_f(), found["random"]) == pytest.approx(share)
    agree = share**2 + (1 - share) ** 2
    assert value(kappa_all(), found["random"]) == pytest.approx(2 * agree - 1)


def test_the_pause_rule_hears_the_end_of_turns_only(found):
    units = found["pause"]
    assert units.column("predicted").sum() == 3
    assert value(trp.slot_precision(), units) == pytest.approx(1 / 3)


def test_one_listener_against_the_others(tmp_path):
    # Three of four respond in slot 2: for each of them two of three others are left, for the
    # silent one three of three. Nobody responds elsewhere.
    onsets = [respond(f"A{n}", "one", 0.7) for n in range(3)]
    folder = trp_tiny.write(tmp_path, [stimulus("one", 3)], people("A", 4), onsets)
    units = held_out(one_pass(slots_of(folder)), RULES)
    assert len(units) == 4 * 3
    assert units.weight.tolist() == [0.25] * 12
    assert value(trp.slot_recall(), units) == 3 / 4
    assert value(trp.slot_precision(), units) == 1


def test_the_listener_does_not_vote_for_itself(tmp_path):
    # Two of five respond: 0.4 > 0.3. Without one of them 1 of 4 is left, and that is no TRP.
    onsets = [respond(f"A{n}", "one", 0.7) for n in range(2)]
    folder = trp_tiny.write(tmp_path, [stimulus("one", 3)], people("A", 5), onsets)
    units = held_out(one_pass(slots_of(folder)), RULES)
    assert value(trp.slot_precision(), units) == 0
    assert units.column("gold").sum() == 3


def test_a_single_listener_has_no_others(tmp_path):
    folder = trp_tiny.write(tmp_path, [stimulus("one", 3)], people("A", 1), [])
    assert len(held_out(one_pass(slots_of(folder)), RULES)) == 0


def test_repeats_count_answers(tmp_path):
    folder = trp_tiny.write(tmp_path, [stimulus("one", 2)], people("A", 2), [])
    said = iter(["yes", "no", None, "yes", "yes", "yes", "no", "no"])

    def answer(sample, condition):
        label = next(said)
        return None if label is None else Decision(label=label)

    cases = repeats(slots_of(folder, answer, trials=2))
    order = np.lexsort((cases.column("condition"), cases.column("slot")))
    assert cases.column("counts")[order].tolist() == [[1, 1], [0, 1], [0, 2], [2, 0]]
