"""Cells are the same for all systems, so that they compare; what is not asked is N/A."""

from __future__ import annotations

from pathlib import Path

from floorbench.core.prediction import Decision
from floorbench.datasets.echo import EchoSource
from floorbench.tasks.echo import EchoTask
from support import echo_tiny, scoring


def test_streams_texts_and_constants_have_the_same_cells(tmp_path: Path) -> None:
    samples = tuple(EchoSource(echo_tiny.build(tmp_path / "set")).samples())
    names = []
    for spec in (
        scoring.system("constant", modalities=()),
        scoring.system("stream", streaming_step=0.02),
        scoring.system("llm", labels=echo_tiny.ROLES),
    ):
        _, measures = scoring.score(EchoTask(), samples, spec, lambda s, c: Decision(label="keep"))
        names.append([(m.metric.spec.name, tuple(sorted(m.slice.items()))) for m in measures])
        na = {m.metric.spec.name for m in measures if m.undeclared is not None}
        assert ("latency_percentile" in na) == (spec.name != "stream")
        assert ("prsr" in na) == (spec.name != "llm")
        for measure in measures:
            assert (measure.undeclared is None) or measure.coverage.expected == 0
    assert names[0] == names[1] == names[2]


def test_the_second_tail_is_a_cell_of_streams_alone_in_tables_and_comparisons(
    tmp_path: Path,
) -> None:
    samples = tuple(EchoSource(echo_tiny.build(tmp_path / "set")).samples())
    tails = {}
    for spec in (
        scoring.system("constant", modalities=()),
        scoring.system("stream", streaming_step=0.02),
    ):
        _, measures = scoring.score(EchoTask(), samples, spec, lambda s, c: Decision(label="keep"))
        tails[spec.name] = {m.slice["tail"] for m in measures if m.headline and "tail" in m.slice}
        assert {m.slice["tail"] for m in measures if "tail" in m.slice} == {"0 s", "1 s"}
    assert tails == {"constant": {"0 s"}, "stream": {"0 s", "1 s"}}
