from dataclasses import replace

from floorbench.core.score import Coverage, Estimate, Interval
from floorbench.report.summary import remark, slice_text, summary
from floorbench.report.tables import as_text
from support.results import toy_result


def test_a_summary_has_the_headline_cells_and_the_notices() -> None:
    result = toy_result()
    short, every = summary(result), summary(result, every=True)
    assert len(short.rows) == len(result.headline) < len(every.rows) == len(result.estimates)
    text = as_text(short)
    assert "NOTE:" in text
    assert "system:" in text


def test_a_remark_says_everything_once() -> None:
    estimate = Estimate(
        metric="m",
        slice={"a": "b"},
        value=None,
        reason="none",
        interval=Interval(reason="none", warning="few"),
        coverage=Coverage(expected=0),
        units=0,
        note="note",
    )
    assert remark(estimate) == "none; few; note"
    assert remark(replace(estimate, reason="N/A: none")) == "N/A: none; few; note"
    assert slice_text({"a": "b", "c": "d"}) == "a=b c=d"
