import json
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.pipeline.engine import build
from floorbench.cli.plan import amount, seconds, size
from floorbench.core.prediction import Compute
from floorbench.run.plans import Range
from support.build_toy import ToyRecipe
from support.cli_calls import called
from support.small_run import small_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rule = lambda n, s: Compute(wall=0.1 + 0.02 * s, cpu=0.05, tokens_in=100, tokens_out=5)  # noqa: E731
    return small_run(tmp_path_factory.mktemp("run"), rule)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp = tmp_path_factory.mktemp("build")
    return build(ToyRecipe(), out=tmp / "a", cache=tmp / "c", settings={"items": 8}).path


def test_a_run_is_planned(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    code, out, _ = called(
        capsys, "plan", str(run), "--samples", "10000", "--workers", "8",
        "--price-per-hour", "0.04", "--currency", "EUR",
    )  # fmt: skip
    assert code == 0
    assert "10000 samples like those of the small run; 10,000 answers" in out
    assert "time with 8 workers" in out
    assert "the same on an idle machine" in out
    assert "cost of the workers" in out
    assert "EUR" in out
    assert "tokens read" in out
    assert "assumed:\n- same kind of machine" in out
    code, out, _ = called(capsys, "plan", str(run), "--data", "starter:codett", "--json")
    got = json.loads(out)
    assert code == 0
    assert got["fixed"]["value"] == pytest.approx(0.1)
    assert got["per_unit"]["value"] == pytest.approx(0.02)


def test_a_build_is_planned(capsys: pytest.CaptureFixture[str], dataset: Path) -> None:
    code, out, _ = called(
        capsys, "plan", str(dataset), "--hours", "2", "--workers", "4", "--price-per-hour", "1"
    )
    assert code == 0
    assert "voice" in out
    assert "processor, alone" in out
    assert "to be started" in out
    assert "5,760 items, 2 h of sound" in out
    assert "cost of the processes" in out
    code, out, _ = called(capsys, "plan", str(dataset), "--samples", "100", "--json")
    assert json.loads(out)["items"] == 100


def both(capsys: pytest.CaptureFixture[str], *given: str) -> tuple[str, dict[str, Any]]:
    """Return the table of a plan and the same plan as JSON."""
    _, table, _ = called(capsys, "plan", *given)
    _, out, _ = called(capsys, "plan", *given, "--json")
    return table, json.loads(out)


def test_json_says_what_the_table_says(
    capsys: pytest.CaptureFixture[str], run: Path, dataset: Path
) -> None:
    price = ("--workers", "3", "--price-per-hour", "2")
    for given in (("--samples", "100"), ("--hours", "2"), ("--trials", "4"), ()):
        table, got = both(capsys, str(run), *given, *price)
        for name in ("fixed", "per_unit", "answers", "processor", "time", "time_unloaded"):
            assert seconds(Range(**got[name])) in table
        for name in ("machine_cost", "tokens_in", "tokens_out"):
            assert amount(Range(**got[name])) in table
        assert f"{got['predictions']:,} answers, {got['hours']:.4g} h of sound" in table
        assert f"{size(got['journal_bytes'])}\n" in table
        assert all(f"- {line}\n" in table for line in got["assumptions"])
    for given in (("--samples", "100"), ("--hours", "2"), ()):
        table, got = both(capsys, str(dataset), *given, *price)
        for name in ("processor", "time"):
            assert seconds(Range(**got[name]).times(3600)) in table
        for stage in got["stages"]:
            assert seconds(Range(**stage["processor"]).times(3600)) in table
        for name in ("seeds", "machine_cost"):
            assert amount(Range(**got[name])) in table
        assert size(got["bytes"]) in table
        assert all(f"- {line}\n" in table for line in got["assumptions"])


def test_what_cannot_be_planned_is_refused(
    capsys: pytest.CaptureFixture[str], run: Path, dataset: Path, tmp_path: Path
) -> None:
    code, _, err = called(capsys, "plan", str(tmp_path))
    assert code == 2
    assert "FB564" in err
    for path in (run, dataset):
        code, _, err = called(capsys, "plan", str(path), "--seed=-1")
        assert (code, "FB103 the seed is -1" in err) == (2, True)
    code, _, err = called(capsys, "plan", str(run), "--cache", str(tmp_path))
    assert code == 2
    assert "--cache is for builds" in err
    code, _, err = called(capsys, "plan", str(dataset), "--trials", "2")
    assert code == 2
    assert "--trials is for runs" in err
    code, _, err = called(capsys, "plan", str(run), "--prices", str(tmp_path / "none.json"))
    assert code == 2
    assert "FB402" in err


def test_units_suit_the_size() -> None:
    assert seconds(Range(value=7200.0)) == "2 h"
    assert seconds(Range(value=0.0123, low=0.01, high=0.02)) == "12.3 (10 to 20) ms"
    assert seconds(Range(value=0.0)) == "0 µs"
    assert amount(Range(value=12345.6)) == "12,346"
    assert size(999.0) == "999 B"
    assert size(3.2e12) == "3.2 TB"
