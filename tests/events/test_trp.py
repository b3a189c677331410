from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.errors import DataError, UsageError
from floorbench.events.trp import TrpRules, consensus, trp_labels
from oracles.events_trp import label

NAMES = [f"p{i}" for i in range(6)]
WORDS = [(0, 100), (200, 300), (400, 500)]  # midpoints 50, 250, 450


def labels(responses=None, *, words=WORDS, roster=NAMES, turn_end=500, next_turn=None, **rules):
    return trp_labels(
        words,
        responses or {},
        roster=roster,
        turn_end=turn_end,
        next_turn=next_turn,
        rules=TrpRules(**{"tail": 1000} | rules),
    )


@st.composite
def stimuli(draw):
    doubled = sorted(draw(st.lists(st.integers(0, 120), min_size=1, max_size=8)))
    words = []
    for d in doubled:
        start = draw(st.integers(max(0, d // 2 - 5), d // 2))
        words.append((start, d - start))
    responses = draw(
        st.dictionaries(
            st.sampled_from(NAMES), st.lists(st.integers(0, 90), max_size=8), max_size=len(NAMES)
        )
    )
    return words, responses


@given(
    stimuli(),
    st.sampled_from(["fixed", "adaptive"]),
    st.sampled_from(["observed", "always", "drop"]),
    st.sampled_from([Fraction(0), Fraction(1, 6), Fraction(3, 10), Fraction(1, 2), Fraction(1)]),
    st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1)]),
    st.integers(0, 3),
    st.integers(0, 20),
    st.one_of(st.none(), st.integers(0, 90)),
)
def test_labels_agree_with_the_slot_by_slot_oracle(
    stimulus, rule, final_slot, tau, k, half, tail, next_turn
):
    words, responses = stimulus
    found = labels(
        responses,
        words=words,
        turn_end=60,
        next_turn=next_turn,
        tail=tail,
        rule=rule,
        tau=tau,
        k=k,
        final_slot=final_slot,
        half_window=half,
    )
    expected = label(
        words, responses, NAMES, turn_end=60, next_turn=next_turn, tail=tail, tau=tau, k=k,
        rule=rule, final_slot=final_slot, half=half,
    )  # fmt: skip
    edges = [
        (Fraction(int(a), 2), Fraction(int(b), 2))
        for a, b in zip(found.start, found.end, strict=True)
    ]
    assert edges == expected["slots"]
    assert found.responders.tolist() == [s * len(NAMES) for s in expected["shares"]]
    assert found.positive.tolist() == expected["positive"]
    assert found.window_sum.tolist() == [s * len(NAMES) for s in expected["sum"]]
    assert found.window_people.tolist() == [s * len(NAMES) for s in expected["people"]]
    assert found.before + found.after == expected["lost"]
    assert found.repeats + found.final_repeats == expected["repeats"]


def test_an_onset_on_a_midpoint_goes_to_the_later_slot():
    assert labels({"p0": [250]}).responders.tolist() == [0, 1, 0]
    assert labels({"p0": [249]}).responders.tolist() == [1, 0, 0]


def test_half_tick_midpoints_are_exact():
    found = labels({"p0": [2], "p1": [3]}, words=[(0, 0), (2, 3)], turn_end=3)  # midpoint 2.5
    assert found.responders.tolist() == [1, 1]


def test_equal_midpoints_make_an_empty_slot_that_is_kept_and_counted():
    found = labels({"p0": [50]}, words=[(0, 100), (40, 60), (400, 500)])
    assert found.responders.tolist() == [0, 1, 0]
    assert found.empty_slots == 1
    assert len(found) == 3


def test_the_last_slot_ends_with_the_tail_or_the_next_turn():
    assert labels({"p0": [1499]}).responders.tolist() == [0, 0, 1]
    assert labels({"p0": [1500]}).after == 1
    assert labels({"p0": [1499]}, next_turn=900).after == 1
    assert labels({"p0": [899]}, next_turn=900).responders.tolist() == [0, 0, 1]


def test_a_next_turn_before_the_last_midpoint_empties_the_last_slot():
    found = labels({"p0": [460]}, next_turn=440)
    assert (found.after, found.empty_slots) == (1, 1)


def test_the_tail_is_one_second_by_default():
    assert TrpRules().tail == 1_000_000


def test_onsets_outside_are_counted_not_dropped():
    found = labels({"p0": [0, 49, 60, 5000], "p1": [49]})
    assert (found.before, found.after, found.onsets) == (3, 1, 5)


def test_a_participant_counts_once_per_slot():
    found = labels({"p0": [60, 70, 300], "p1": [65]})
    assert found.responders.tolist() == [2, 1, 0]
    assert found.repeats == 1


def test_silent_listeners_count():
    found = labels({"p0": [60], "p1": [60]}, roster=["p0", "p1", "p2", "p3"])
    assert found.heard == 4
    assert found.proportion[0] == 0.5


def test_18_of_60_is_not_more_than_three_tenths():
    rules = TrpRules()
    counts = np.array([17, 18, 19])
    assert consensus(counts, heard=60, rules=rules).tolist() == [False, False, True]


def test_tau_must_be_exact():
    with pytest.raises(UsageError, match="not a Fraction"):
        TrpRules(tau=0.3)


def test_final_slot_observed_always_and_drop():
    seen = {"p0": [460, 470], "p1": [60]}
    assert labels(seen).positive.tolist() == [False, False, False]
    assert labels(seen, final_slot="always").positive.tolist() == [False, False, True]
    dropped = labels(seen, final_slot="drop")
    assert len(dropped) == 2
    assert (dropped.final_dropped, dropped.final_repeats) == (1, 1)


def test_drop_leaves_a_one_word_stimulus_without_slots():
    assert len(labels({"p0": [60]}, words=[(0, 100)], final_slot="drop")) == 0


def test_the_adaptive_rule_is_exact():
    # Non-zero shares 1/6 and 3/6: mu = 2/6, sigma = 1/6; 3/6 exceeds mu + sigma by nothing.
    seen = {"p0": [60, 260], "p1": [260], "p2": [260]}
    assert labels(seen, rule="adaptive", k=Fraction(1)).positive.tolist() == [False] * 3
    assert labels(seen, rule="adaptive").positive.tolist() == [False, True, False]


def test_equal_shares_are_never_above_their_mean():
    seen = {"p0": [60, 260]}
    assert not labels(seen, rule="adaptive", k=Fraction(0)).positive.any()


def test_no_responses_give_no_adaptive_positives_and_say_so():
    found = labels({}, rule="adaptive")
    assert not found.positive.any()
    assert found.no_response
    assert not labels({}).no_response


def test_density_sums_shares_or_counts_people():
    found = labels({"p0": [60, 260], "p1": [260]}, half_window=1)
    assert found.density("sum").tolist() == [3 / 6, 3 / 6, 2 / 6]
    assert found.density("people").tolist() == [2 / 6, 2 / 6, 2 / 6]


def test_a_summed_density_may_exceed_one():
    everybody = {name: [60, 260, 460] for name in NAMES}
    assert labels(everybody).density().tolist() == [3, 3, 3]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"roster": []}, "nobody heard"),
        ({"roster": ["p0", "p0"]}, "twice"),
        ({"roster": ["p1"]}, "participant 'p0' responded but is not on the roster"),
        ({"words": []}, "no words"),
        ({"words": [(0, 100), (10, 20)]}, "word 1 lies before that of word 0"),
        ({"words": [(10, 0)]}, "word 0 ends before it starts"),
        ({"words": [1, 2, 3]}, "not (N, 2)"),
    ],
)
def test_bad_stimuli_are_named(change, words):
    with pytest.raises(DataError, match="FB613") as raised:
        labels({"p0": [60]}, **change)
    assert words in str(raised.value)


@pytest.mark.parametrize("onset", [float("nan"), float("inf")])
def test_non_finite_onsets_are_errors(onset):
    with pytest.raises(DataError, match="FB202"):
        labels({"p0": [onset]})


@pytest.mark.parametrize(
    "bad",
    [
        {"tau": Fraction(2)}, {"k": Fraction(-1)}, {"tail": -1}, {"half_window": -1},
        {"rule": "median"}, {"final_slot": "maybe"},
    ],
)  # fmt: skip
def test_bad_parameters_are_refused(bad):
    with pytest.raises(UsageError, match="FB612"):
        TrpRules(**bad)
