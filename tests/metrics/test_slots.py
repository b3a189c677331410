import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.errors import DataError
from floorbench.metrics.slots import nearest, read_slots, window_sums, within
from oracles.metrics_cases import slot_case, take, with_columns

SLOTS = st.lists(st.integers(0, 30), min_size=1, max_size=8, unique=True).map(sorted).map(np.array)


@given(at=SLOTS, targets=SLOTS)
def test_nearest_is_the_least_distance_and_ties_go_to_the_earlier(
    at: np.ndarray, targets: np.ndarray
) -> None:
    got = targets[nearest(at, targets)].tolist()
    want = [min(targets.tolist(), key=lambda t: (abs(t - a), t)) for a in at.tolist()]
    assert got == want


@given(at=SLOTS, targets=SLOTS, h=st.integers(0, 5))
def test_within_includes_both_edges(at: np.ndarray, targets: np.ndarray, h: int) -> None:
    want = [any(abs(a - t) <= h for t in targets.tolist()) for a in at.tolist()]
    assert within(at, targets, h).tolist() == want
    assert not within(at, targets[:0], h).any()


@given(slot=SLOTS, h=st.integers(0, 5))
def test_window_sums_are_clipped(slot: np.ndarray, h: int) -> None:
    values = np.arange(1.0, len(slot) + 1)
    want = [values[np.abs(slot - c) <= h].sum() for c in slot]
    assert window_sums(slot, values, slot, h).tolist() == want


def test_trials_are_separate_passes_in_the_order_of_slots() -> None:
    case = slot_case(np.random.default_rng(0))
    slots = read_slots(case, missing="wrong")
    passes = {
        (case.cluster[s.rows[0]], case.columns["stimulus"][s.rows[0]], case.columns["trial"][r])
        for s in slots
        for r in s.rows
    }
    assert len(passes) == len(slots.stimuli)
    for s in slots:
        assert s.slot.tolist() == sorted(s.slot.tolist())
        assert (case.columns["slot"][s.rows] == s.slot).all()
    assert sum(len(s.rows) for s in slots) == len(case)


def test_trial_may_be_left_out_when_there_is_one() -> None:
    case = slot_case(np.random.default_rng(0))
    case = case.where(case.columns["trial"] == 0)
    columns = {k: v for k, v in case.columns.items() if k != "trial"}
    bare = type(case)(
        cluster=case.cluster,
        clusters=case.clusters,
        strata=case.strata,
        weight=case.weight,
        columns=columns,
        vocab=case.vocab,
    )
    assert len(read_slots(bare, missing="wrong").stimuli) == len(
        read_slots(case, missing="wrong").stimuli
    )


def test_broken_stimuli_are_refused() -> None:
    case = slot_case(np.random.default_rng(0))
    twice = take(case, np.array([0, 1, 2, 1]))
    with pytest.raises(DataError, match=r"FB625 row \d+ repeats a slot"):
        read_slots(twice, missing="wrong")
    bad_vocab = type(case)(
        cluster=case.cluster,
        clusters=case.clusters,
        strata=case.strata,
        weight=case.weight,
        columns=case.columns,
        vocab={"gold": ("yes", "no")},
    )
    with pytest.raises(DataError, match="FB625 slots are labelled no or yes"):
        read_slots(bad_vocab, missing="wrong")
    uneven = case.weight.copy()
    rows = read_slots(case, missing="wrong").stimuli[0].rows
    assert len(rows) > 1
    uneven[rows[1]] += 1
    broken = type(case)(
        cluster=case.cluster,
        clusters=case.clusters,
        strata=case.strata,
        weight=uneven,
        columns=case.columns,
        vocab=case.vocab,
    )
    with pytest.raises(DataError, match=r"FB625 row \d+ has another weight"):
        read_slots(broken, missing="wrong")


def test_no_slot_gives_no_stimulus() -> None:
    case = slot_case(np.random.default_rng(0))
    assert read_slots(case.where(np.zeros(len(case), bool)), missing="drop").stimuli == ()
    with pytest.raises(DataError, match="FB620 column 'slot' holds float64"):
        read_slots(with_columns(case, slot=np.full(len(case), 0.5)), missing="wrong")
