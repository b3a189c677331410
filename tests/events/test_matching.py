import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.time import to_ticks
from floorbench.errors import DataError, UsageError
from floorbench.events.matching import (
    NEGATIVE_CLASSES,
    POSITIVE_CLASSES,
    PREDICTED_CLASSES,
    TURN_END_CLASSES,
    NegativeClass,
    PositiveClass,
    PredictedClass,
    TurnEndClass,
    Window,
    match_events,
    match_turn_ends,
)
from oracles.events_matching import best

TIMES = st.lists(st.integers(0, 25), max_size=6)
DISJOINT = st.lists(st.integers(0, 30), max_size=8).map(
    lambda x: list(zip(sorted(x)[::2], sorted(x)[1::2], strict=False))
)


def seconds(*values):
    return [to_ticks(v) for v in values]


def span_ticks(*pairs):
    return [(to_ticks(a), to_ticks(b)) for a, b in pairs]


def offsets(reference, predicted, before, after):
    found = match_events(reference, predicted, window=Window(before=before, after=after))
    return found, sorted(
        zip(found.pairs.predicted.tolist(), found.pairs.reference.tolist(), strict=True)
    )


@given(TIMES, TIMES, st.integers(0, 8), st.integers(0, 8))
def test_the_matching_is_the_best_of_all_matchings(reference, predicted, before, after):
    reference, predicted = sorted(reference), sorted(predicted)
    _, pairs = offsets(reference, predicted, before, after)
    expected = best(
        reference,
        predicted,
        lambda p, r: -before <= predicted[p] - reference[r] <= after,
        lambda p, r: abs(predicted[p] - reference[r]),
    )
    assert pairs == list(expected)


@given(TIMES, TIMES, DISJOINT, DISJOINT, st.integers(0, 8), st.integers(0, 8))
def test_every_event_has_one_class_and_the_classes_add_up(
    reference, predicted, negatives, excluded, before, after
):
    found = match_events(
        reference,
        predicted,
        window=Window(before=before, after=after),
        negatives=negatives,
        excluded=excluded,
    )
    assert sum(found.positives(c) for c in POSITIVE_CLASSES) == len(reference)
    assert sum(found.negatives(c) for c in NEGATIVE_CLASSES) == len(negatives)
    assert sum(found.predictions(c) for c in PREDICTED_CLASSES) == len(predicted)
    hits = found.positives(PositiveClass.HIT)
    assert hits == len(found.pairs) == found.predictions(PredictedClass.HIT)
    false = found.negatives(NegativeClass.FALSE_POSITIVE)
    assert false == found.predictions(PredictedClass.FALSE_POSITIVE)
    for t, kind in zip(predicted, found.predicted, strict=True):
        disputed = any(a <= t < b for a, b in excluded)
        assert (kind == PREDICTED_CLASSES.index(PredictedClass.EXCLUDED)) == disputed


@given(TIMES, TIMES, DISJOINT, st.integers(0, 8), st.integers(0, 8), st.integers(0, 10**12))
def test_adding_a_constant_changes_nothing(reference, predicted, negatives, before, after, shift):
    window = Window(before=before, after=after)
    a = match_events(reference, predicted, window=window, negatives=negatives)
    b = match_events(
        [t + shift for t in reference],
        [t + shift for t in predicted],
        window=window,
        negatives=[(s + shift, e + shift) for s, e in negatives],
    )
    for name in ("offset", "positive", "negative", "predicted"):
        assert getattr(a, name).tolist() == getattr(b, name).tolist()


def test_edges_are_inclusive_1_0_matches_1_5_at_tolerance_0_5():
    half = to_ticks("0.5")
    assert len(offsets(seconds(1.0), seconds(1.5), half, half)[1]) == 1
    assert len(offsets(seconds(1.5), seconds(1.0), half, half)[1]) == 1
    assert len(offsets(seconds(1.0), seconds("1.500001"), half, half)[1]) == 0


def test_a_greedy_matcher_loses_a_pair_here_and_this_one_does_not():
    # 11 is nearest to 11, which would leave 10 and 12.5 apart.
    wide = to_ticks("1.1")
    found, pairs = offsets(seconds(10, 11.5), seconds(11, 12.5), wide, wide)
    assert pairs == [(0, 0), (1, 1)]
    assert found.offset.tolist() == seconds(1, 1)


def test_the_window_may_be_asymmetric():
    reference, early, late = seconds(10), seconds(9.5), seconds(10.5)
    assert offsets(reference, early, 0, 10**6)[1] == []
    assert offsets(reference, late, 0, 10**6)[1] == [(0, 0)]


def test_among_equal_numbers_the_least_distance_wins():
    assert offsets([10], [8, 11], 5, 5)[1] == [(1, 0)]


def test_among_equal_distances_the_earliest_wins():
    assert offsets([10], [8, 12], 5, 5)[1] == [(0, 0)]
    assert offsets([8, 12], [10], 5, 5)[1] == [(0, 0)]


def test_unsorted_input_keeps_its_indices():
    found, pairs = offsets([30, 10], [11, 31], 2, 2)
    assert pairs == [(0, 1), (1, 0)]
    assert found.offset.tolist() == [1, 1]


def test_a_negative_span_counts_at_most_one_false_positive():
    found = match_events([], [5, 6, 7], window=Window(before=0, after=0), negatives=[(4, 9)])
    assert found.negatives(NegativeClass.FALSE_POSITIVE) == 1
    assert found.predictions(PredictedClass.FALSE_POSITIVE) == 1
    assert found.predictions(PredictedClass.REPEAT) == 2


def test_a_matched_prediction_is_no_false_positive_even_inside_a_negative_span():
    found = match_events([5], [6], window=Window(before=0, after=2), negatives=[(5, 9)])
    assert found.negatives(NegativeClass.CORRECT_REJECTION) == 1


def test_nothing_in_a_disputed_region_counts_for_or_against():
    found = match_events(
        [5, 50],
        [6, 52],
        window=Window(before=5, after=5),
        negatives=[(51, 60), (100, 110)],
        excluded=[(4, 7), (51, 60)],
    )
    assert found.positives(PositiveClass.EXCLUDED) == 1
    assert found.positives(PositiveClass.MISS) == 1
    assert found.predictions(PredictedClass.EXCLUDED) == 2
    assert found.negatives(NegativeClass.EXCLUDED) == 1
    assert found.negatives(NegativeClass.CORRECT_REJECTION) == 1


def test_a_negative_span_disputed_in_part_still_counts():
    found = match_events(
        [], [8], window=Window(before=0, after=0), negatives=[(4, 9)], excluded=[(4, 7)]
    )
    assert found.negatives(NegativeClass.FALSE_POSITIVE) == 1


def test_a_prediction_in_no_region_is_outside():
    found = match_events([5], [500], window=Window(before=1, after=1), negatives=[(10, 20)])
    assert found.predictions(PredictedClass.OUTSIDE) == 1


def test_thousands_of_dense_events_are_matched():
    rng = np.random.default_rng(0)
    reference = np.sort(rng.integers(0, 3_600_000_000, 3000))
    predicted = np.sort(rng.integers(0, 3_600_000_000, 3000))
    found, pairs = offsets(reference, predicted, 2_000_000, 2_000_000)
    assert len({p for p, _ in pairs}) == len({r for _, r in pairs}) == len(pairs) > 2000
    assert np.abs(found.offset).max() <= 2_000_000


def test_one_group_of_many_events_is_matched():
    found, pairs = offsets(np.arange(800) * 10, np.arange(800) * 10 + 3, 10**6, 10**6)
    assert pairs == [(i, i) for i in range(800)]
    assert found.offset.tolist() == [3] * 800


def test_times_too_far_apart_to_be_added_exactly_are_refused():
    far = 2**61
    with pytest.raises(DataError, match="too close together"):
        match_events([0, 1, 2], [far, far + 1, far + 2], window=Window(before=0, after=far * 2 - 1))


@pytest.mark.parametrize("predicted", [[], [3]])
def test_no_reference_events_give_no_pairs(predicted):
    found = match_events([], predicted, window=Window(before=1, after=1))
    assert len(found.pairs) == 0
    assert found.predictions(PredictedClass.OUTSIDE) == len(predicted)


def test_bad_input_is_named():
    window = Window(before=0, after=0)
    with pytest.raises(DataError, match="FB202"):
        match_events([float("nan")], [], window=window)
    with pytest.raises(DataError, match="whole ticks"):
        match_events([0.5], [], window=window)
    with pytest.raises(DataError, match="span 1 of 'negatives'"):
        match_events([], [], window=window, negatives=[(0, 5), (4, 9)])
    with pytest.raises(DataError, match="ends before it starts"):
        match_events([], [], window=window, excluded=[(5, 0)])
    with pytest.raises(UsageError, match="FB612"):
        Window(before=-1, after=0)


def test_turn_ends_the_worked_example():
    found = match_turn_ends(
        span_ticks((0, 2), (5, 7)), span_ticks((0, 1), (5.5, 7)), collar=to_ticks("0.1")
    )
    assert found.count(TurnEndClass.EARLY) == 1
    assert found.offset[0] == to_ticks(-1)
    assert found.count(TurnEndClass.HIT) == 1
    counts = [found.count(c) for c in TURN_END_CLASSES]
    assert min(counts) >= 0
    assert sum(counts) == 2
    assert len(found.fragments) == len(found.false_alarms) == 0


def test_the_collar_is_inclusive():
    for end, kind in ((11, "hit"), (12, "late"), (9, "hit"), (8, "early")):
        found = match_turn_ends([(0, 10)], [(0, end)], collar=1)
        assert TURN_END_CLASSES[found.reference[0]] == kind


def test_a_turn_stepped_over_is_missed():
    found = match_turn_ends([(0, 10), (20, 30)], [(0, 30)], collar=1)
    assert [TURN_END_CLASSES[k] for k in found.reference] == ["missed", "hit"]


def test_a_turn_cut_in_two_has_a_hit_and_a_fragment():
    found = match_turn_ends([(0, 10)], [(0, 4), (6, 10)], collar=1)
    assert found.count(TurnEndClass.HIT) == 1
    assert found.fragments.tolist() == [0]


def test_a_predicted_turn_in_silence_is_a_false_alarm():
    found = match_turn_ends([(0, 10)], [(10, 14)], collar=5)
    assert found.false_alarms.tolist() == [0]
    assert found.count(TurnEndClass.MISSED) == 1


@given(DISJOINT, DISJOINT, st.integers(0, 3))
def test_turn_ends_are_the_best_matching_of_overlapping_turns(reference, predicted, collar):
    reference = [s for s in reference if s[1] > s[0]]
    predicted = [s for s in predicted if s[1] > s[0]]
    found = match_turn_ends(reference, predicted, collar=collar)
    expected = best(
        reference,
        predicted,
        lambda p, r: max(predicted[p][0], reference[r][0]) < min(predicted[p][1], reference[r][1]),
        lambda p, r: abs(predicted[p][1] - reference[r][1]),
    )
    pairs = zip(found.pairs.predicted.tolist(), found.pairs.reference.tolist(), strict=True)
    assert list(pairs) == list(expected)
    assert sum(found.count(c) for c in TURN_END_CLASSES) == len(reference)
    assert len(found.pairs) + len(found.fragments) + len(found.false_alarms) == len(predicted)


def test_bad_turns_are_refused():
    with pytest.raises(DataError, match="overlaps the one in front of it"):
        match_turn_ends([(0, 5), (4, 9)], [], collar=0)
    with pytest.raises(DataError, match="turn 0 of 'predicted' is empty"):
        match_turn_ends([], [(4, 4)], collar=0)
    with pytest.raises(UsageError, match="collar is -1"):
        match_turn_ends([], [], collar=-1)
