from typing import Any

import pytest

from floorbench.errors import UsageError
from floorbench.run.compare import CellComparison
from floorbench.run.gate_rules import Rules, sides


def rules(**said: Any) -> Rules:
    return Rules(**{"margin": 2.0, "margins": {}, "metrics": (), "better": {}, **said})


def cell(metric: str = "accuracy", **about: Any) -> CellComparison:
    return CellComparison(metric=metric, slice={}, found=None, adjusted=None, wording="", **about)


def test_margins_are_points_for_shares_and_the_own_unit_for_others() -> None:
    said = rules(margins={"wait": 0.1, "auc": 1.0})
    assert said.margin_of(cell()) == 0.02
    assert said.margin_of(cell("auc")) == 0.01
    assert said.margin_of(cell("wait", share=False)) == 0.1


def test_a_metric_says_which_way_is_better_or_the_caller_does() -> None:
    assert rules().side(cell("smr", better="lower")) == "lower"
    assert rules().side(cell("rate", better=None)) is None
    assert rules(better={"rate": "lower"}).side(cell("rate", better=None)) == "lower"
    with pytest.raises(UsageError, match="better when lower"):
        rules(better={"smr": "higher"}).side(cell("smr", better="lower"))


def test_only_cells_of_the_baseline_are_judged() -> None:
    assert rules().objection(cell(lacking=("first",), reason="x")) is None
    gone = cell(lacking=("first", "second"), reason="N/A in the second run: why")
    assert rules().objection(gone) == "N/A in the baseline: why"


def test_what_is_named_has_to_be_judged() -> None:
    judged, other = cell(), cell("rate", better=None)
    rules().fit([judged], [judged, other], [None, "no way"])
    with pytest.raises(UsageError, match="no cell of pasr"):
        rules(metrics=("pasr",)).fit([judged], [judged], [None])
    with pytest.raises(UsageError, match="no way"):
        rules().fit([], [other], ["no way"])


def test_runs_are_called_by_what_they_are() -> None:
    assert sides("the first run has no such cell") == "the candidate has no such cell"
