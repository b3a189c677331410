import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from floorbench.errors import DataError, UsageError
from floorbench.metrics import base
from floorbench.metrics.base import point
from floorbench.metrics.calibration import brier, brier_multiclass, ece, reliability
from oracles.metrics_cases import copied_clusters, score_case, with_columns


@pytest.mark.parametrize("seed", range(3))
def test_brier_agrees_with_scikit_learn(seed: int) -> None:
    case = score_case(np.random.default_rng(seed), 80)
    want = brier_score_loss(
        case.columns["gold"] == 2, case.columns["score"], sample_weight=case.weight
    )
    assert point(brier(positive="T"), case).value == pytest.approx(want, abs=1e-12)


def unweighted(score: np.ndarray, positive: np.ndarray) -> base.Scored:
    n = len(score)
    return base.Scored(
        cluster=np.zeros(n, dtype=np.int64),
        clusters=("a",),
        strata=np.zeros(1, dtype=np.int64),
        weight=np.ones(n),
        columns={
            "gold": positive.astype(np.int64),
            "score": score,
            "outcome": np.zeros(n, dtype=np.int64),
        },
        vocab={"gold": ("no", "yes")},
    )


@pytest.mark.parametrize("binning", ["equal-width", "equal-mass"])
def test_reliability_agrees_with_scikit_learn(binning: str) -> None:
    rng = np.random.default_rng(0)
    score = rng.random(400)
    positive = rng.random(400) < score
    share, mean = calibration_curve(
        positive,
        score,
        n_bins=8,
        strategy={"equal-width": "uniform", "equal-mass": "quantile"}[binning],
    )
    curve = reliability(unweighted(score, positive), positive="yes", bins=8, binning=binning)
    # scikit-learn cuts between two scores, here a cut belongs to the bin below it
    tolerance = 1e-12 if binning == "equal-width" else 0.02
    assert [b.score for b in curve] == pytest.approx(mean, abs=tolerance)
    assert [b.positive for b in curve] == pytest.approx(share, abs=tolerance)


def test_ece_is_the_mean_gap_of_its_reliability_curve() -> None:
    rng = np.random.default_rng(1)
    score = np.round(rng.random(200), 2)
    case = unweighted(score, rng.random(200) < score**2)
    for binning in ("equal-width", "equal-mass"):
        curve = reliability(case, positive="yes", bins=6, binning=binning)
        want = sum(b.units * abs(b.score - b.positive) for b in curve if b.units) / 200
        metric = ece(positive="yes", bins=6, binning=binning)
        assert point(metric, case).value == pytest.approx(want, abs=1e-12)


def test_equal_mass_bins_hold_equal_mass_and_keep_ties_together() -> None:
    score = np.arange(1, 13) / 12
    case = unweighted(score, score > 0.5)
    curve = reliability(case, positive="yes", bins=4, binning="equal-mass")
    assert [b.units for b in curve] == [3, 3, 3, 3]
    tied = unweighted(np.full(12, 0.5), score > 0.5)
    curve = reliability(tied, positive="yes", bins=3, binning="equal-mass")
    assert [b.units for b in curve] == [12, 0, 0]
    assert curve[1].score is None
    assert curve[1].positive is None
    metric = ece(positive="yes", bins=4, binning="equal-mass")
    assert point(metric, copied_clusters(case)) == point(metric, case)


def test_edges_belong_to_the_bin_below_and_zero_to_the_first() -> None:
    case = unweighted(np.array([0.0, 0.5, 1.0]), np.array([False, True, True]))
    curve = reliability(case, positive="yes", bins=2, binning="equal-width")
    assert [b.units for b in curve] == [2, 1]


@pytest.mark.parametrize(
    "metric",
    [
        lambda **kw: brier(positive="T", **kw),
        brier_multiclass,
        lambda **kw: ece(positive="T", bins=5, binning="equal-mass", **kw),
    ],
)
def test_probabilities_cannot_be_made_up(metric) -> None:
    case = score_case(np.random.default_rng(0))
    outcome = case.columns["outcome"].copy()
    outcome[case.weight == 1.0] = base.INVALID
    holed = with_columns(case, outcome=outcome)
    value, reason = point(metric(), holed)
    assert value is None
    assert "coverage must be 100 %" in str(reason)
    answered = metric(missing="drop")
    assert answered.spec.name.endswith("_answered")
    assert point(answered, holed) == point(metric(), case.where(case.weight < 1.0))


def test_bad_input_is_refused() -> None:
    case = score_case(np.random.default_rng(0))
    with pytest.raises(DataError, match="FB623 column 'score' row 0 lies outside"):
        point(brier(positive="T"), with_columns(case, score=case.columns["score"] + 2))
    with pytest.raises(DataError, match="FB622 column 'scores' row 0"):
        point(brier_multiclass(), with_columns(case, scores=case.columns["scores"] * np.nan))
    with pytest.raises(UsageError, match="FB103 column 'scores' has shape"):
        point(brier_multiclass(), with_columns(case, scores=case.columns["scores"][:, :2]))
    with pytest.raises(UsageError, match="FB103 binning='quantile'"):
        ece(positive="T", bins=5, binning="quantile")
    with pytest.raises(UsageError, match="FB103 bins=0"):
        ece(positive="T", bins=0, binning="equal-width")
    assert point(brier(positive="T"), case.where(np.zeros(len(case), bool))).reason == (
        "no units to score"
    )
