from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.pipeline.engine import build
from floorbench.build.pipeline.plan import Plan, plan
from floorbench.build.pipeline.record import Factor, Factors, factors_path
from floorbench.build.pipeline.stage import Work
from floorbench.codec import encode_pretty
from floorbench.errors import DataError, UsageError
from support.build_toy import ToyRecipe, calls


class Declared(ToyRecipe):
    factors: Mapping[str, float] = {"text": 2.0, "voice": 3.0, "gate": 1.0, "cut": 0.5}

    def work(self, settings: Mapping[str, Any]) -> Work:
        work = super().work(settings)
        text: Any = work.steps[0]
        text.expect = lambda item: {"calls": 1, "tokens_out": 40 + item.fields["n"]}
        return work


def planned(tmp: Path, recipe: Any = None, **more: Any) -> Plan:
    settings = {"log": str(tmp / "log"), **more.pop("settings", {})}
    return plan(recipe or Declared(), cache=tmp / "cache", settings=settings, **more)


def test_with_an_empty_cache_the_recipe_is_believed(tmp_path: Path) -> None:
    got = planned(tmp_path, workers=2)
    assert not (tmp_path / "cache").exists()
    assert not calls(tmp_path / "log")
    assert [s.stages for s in got.steps][:2] == [("text",), ("voice", "gate")]
    assert [(s.items, s.cached, s.to_make) for s in got.steps] == [(6, 0, 6)] * 5
    assert [s.seconds for s in got.steps] == [12.0, 24.0, 3.0, None, None]
    assert [s.source for s in got.steps] == ["declared"] * 3 + ["unknown"] * 2
    assert got.unknown == ("balance", "last")
    assert got.seconds == (12 + 24 + 3) / 2
    assert got.steps[0].asks == {"calls": 6, "tokens_out": 6 * 40 + 15}
    assert got.finished == 6


def test_a_step_that_keeps_a_wanted_number_says_how_many(tmp_path: Path) -> None:
    class Choosy(Declared):
        def work(self, settings: Mapping[str, Any]) -> Work:
            work = super().work(settings)
            step: Any = work.steps[-2]
            step.at_most = lambda seeds: len(seeds) - 2
            return work

    got = planned(tmp_path, Choosy())
    assert [s.items for s in got.steps] == pytest.approx([6, 6, 6, 6, 4])
    assert got.finished == pytest.approx(4)


def test_what_is_measured_stands_above_what_is_declared(tmp_path: Path) -> None:
    names = ("text", "voice", "gate", "cut", "balance", "last")
    left = dict.fromkeys(names, 1.0) | {"gate": 0.5, "cut": 4.0}
    stages = {n: Factor(wall=10.0, cpu=9.0, seconds=1.0, left=left[n], items=100) for n in names}
    path = factors_path(tmp_path / "cache", "toy")
    path.parent.mkdir(parents=True)
    path.write_text(encode_pretty(Factors(stages=stages)))
    got = planned(tmp_path)
    assert [s.items for s in got.steps] == [6, 6, 3, 12, 12]
    assert [s.seconds for s in got.steps] == [60, 120, 30, 120, 120]
    assert {s.source for s in got.steps} == {"measured"}
    assert got.seconds == 450
    assert got.finished == 12
    assert got.measured_on["gate"] == 100


def test_what_is_cached_is_followed(tmp_path: Path) -> None:
    build(Declared(), out=tmp_path / "a", cache=tmp_path / "cache", settings={"items": 4})
    got = planned(tmp_path, settings={"items": 4})
    assert [(s.cached, s.to_make, s.seconds, s.source) for s in got.steps] == [
        (4, 0, 0.0, "cached")
    ] * 5
    assert got.steps[0].asks == {}
    more = planned(tmp_path, settings={"items": 6})
    assert [(s.cached, s.to_make) for s in more.steps[:3]] == [(4, 2)] * 3
    assert [(s.cached, s.to_make) for s in more.steps[3:]] == [(0, 6)] * 2
    assert {s.source for s in more.steps} == {"measured"}
    redo = planned(tmp_path, settings={"items": 4}, redo_from="cut")
    assert [s.cached for s in redo.steps] == [4, 4, 0, 0, 0]
    assert planned(tmp_path, limit=2, settings={"items": 4}).seeds == 2


def test_a_retry_that_is_half_cached_is_to_be_made(tmp_path: Path) -> None:
    build(ToyRecipe(), out=tmp_path / "a", cache=tmp_path / "cache", settings={"items": 4})
    got = planned(tmp_path, settings={"items": 4, "threshold": 0.31})
    assert (got.steps[1].cached, got.steps[1].to_make) == (0, 4)


def test_impossible_plans_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="FB103"):
        planned(tmp_path, limit=0)
    with pytest.raises(UsageError, match="FB851"):
        planned(tmp_path, settings={"itemz": 3})
    with pytest.raises(DataError, match="FB851"):
        planned(tmp_path, redo_from="nowhere")
