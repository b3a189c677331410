from itertools import pairwise

import numpy as np
import pytest

from floorbench.errors import DataError, UsageError
from floorbench.stats.bootstrap_twoway import bootstrap_twoway
from floorbench.stats.intervals import interval
from oracles import stats_resampling as oracle

STIMULUS_LIST = np.repeat([0, 1], 12)
PARTICIPANT_LIST = np.repeat([0, 1], [14, 11])
RNG = np.random.default_rng(0)
SLOTS_OF = RNG.integers(2, 6, 24)
SLOT_STIMULUS = np.repeat(np.arange(24), SLOTS_OF)
SLOT_LIST = STIMULUS_LIST[SLOT_STIMULUS]
N = len(SLOT_STIMULUS)
RESPONSES = (RNG.random((25, N)) < RNG.random(N) * 0.7) & (PARTICIPANT_LIST[:, None] == SLOT_LIST)
PREDICTED = {"a": RNG.random(N) < 0.3, "b": RNG.random(N) < 0.5}


def labels(people):
    """Positive iff more than 3 of 10 of those who heard the list responded; whole numbers."""
    heard = np.stack([people[:, code == PARTICIPANT_LIST].sum(axis=1) for code in (0, 1)], axis=1)
    return (people @ RESPONSES) * 10 > 3 * heard[:, SLOT_LIST]


def f1(predicted):
    def evaluate(stimuli, gold):
        w = stimuli[:, SLOT_STIMULUS]
        tp = (w * (gold & predicted)).sum(axis=1)
        return 2 * tp / (2 * tp + (w * (gold ^ predicted)).sum(axis=1))

    return evaluate


MODELS = {name: f1(p) for name, p in PREDICTED.items()}


def run(models=MODELS, **how):
    usual = {"stimulus_list": STIMULUS_LIST, "participant_list": PARTICIPANT_LIST}
    return bootstrap_twoway(labels, models, **(usual | {"slots": N, "seed": 6, "draws": 80} | how))


def test_every_draw_against_loops_over_people_and_slots():
    found = run()
    stimuli = oracle.drawn_clusters(STIMULUS_LIST, np.ones(24, bool), 80, 6, "twoway/stimuli")
    people = oracle.drawn_clusters(
        PARTICIPANT_LIST, np.ones(25, bool), 80, 6, "twoway/participants"
    )
    whole = oracle.twoway_labels(RESPONSES, SLOT_LIST, PARTICIPANT_LIST, range(25), (3, 10))
    starts = np.r_[0, np.cumsum(SLOTS_OF)]
    slots = [range(i, j) for i, j in pairwise(starts)]
    for d in range(80):
        gold = oracle.twoway_labels(RESPONSES, SLOT_LIST, PARTICIPANT_LIST, people[d], (3, 10))
        flips = sum(x != y for x, y in zip(gold, whole, strict=True)) / N
        assert found.flips[d] == pytest.approx(flips, abs=1e-12)
        for name, predicted in PREDICTED.items():
            taken = [k for s in stimuli[d] for k in slots[s]]
            tp = sum(bool(gold[k] and predicted[k]) for k in taken)
            wrong = sum(gold[k] != predicted[k] for k in taken)
            expected = 2 * tp / (2 * tp + wrong)
            assert found.models[name].values[d] == pytest.approx(expected, abs=1e-12)
    assert 0 < found.flip_rate < 0.5
    assert (found.stimuli, found.participants) == (24, 25)


def test_interval_is_the_percentile_interval():
    found = run(draws=400).models["a"]
    made = interval(found)
    assert made.method == "percentile"
    assert made.clusters == 24
    assert made.warning == "only 24 stimuli or participants; the interval is too narrow"
    assert made.low < found.point < made.high


def test_two_models_share_the_panel():
    found = run()
    gap = found.difference("a", "b")
    assert np.array_equal(gap.values, found.models["a"].values - found.models["b"].values)
    assert gap.point == found.models["a"].point - found.models["b"].point
    assert (found.difference("a", "a").values == 0).all()


def test_another_model_and_other_portions_move_no_figure():
    found, alone = run(), run({"a": MODELS["a"]})
    assert np.array_equal(alone.models["a"].values, found.models["a"].values)
    assert np.array_equal(run(memory=1).models["a"].values, found.models["a"].values)
    assert not np.array_equal(run(seed=7).flips, found.flips)


def test_a_unanimous_panel_never_flips():
    found = bootstrap_twoway(
        lambda people: np.ones((len(people), 3), bool), {}, stimulus_list=np.zeros(3, np.int64),
        participant_list=np.zeros(4, np.int64), slots=3, draws=5, seed=0,
    )  # fmt: skip
    assert found.flip_rate == 0


def test_no_slots():
    found = bootstrap_twoway(
        lambda people: np.ones((len(people), 0), bool), {"x": lambda w, g: np.full(len(w), np.nan)},
        stimulus_list=np.zeros(3, np.int64), participant_list=np.zeros(4, np.int64), slots=0,
        draws=5, seed=0,
    )  # fmt: skip
    assert found.flip_rate is None
    assert interval(found.models["x"]).reason == "3 stimuli or participants; an interval needs 10"


def test_bad_input():
    with pytest.raises(UsageError, match="FB650 0 draws"):
        run(draws=0)
    with pytest.raises(UsageError, match="FB650 -1 slots"):
        run(slots=-1)
    with pytest.raises(DataError, match="FB651 list 1 lacks"):
        run(participant_list=np.repeat([0, 2], [14, 11]))
    with pytest.raises(DataError, match="FB652 the label rule"):
        run(slots=N + 1)
    with pytest.raises(DataError, match="FB652 the evaluator 'bad'"):
        run({"bad": lambda w, g: w})


def test_a_panel_adds_variance():
    fixed = bootstrap_twoway(
        lambda people: np.repeat(labels(np.ones((1, 25), np.int64)), len(people), axis=0), MODELS,
        stimulus_list=STIMULUS_LIST, participant_list=PARTICIPANT_LIST, slots=N, draws=400, seed=6,
    )  # fmt: skip
    assert run(draws=400).models["a"].standard_error > fixed.models["a"].standard_error
