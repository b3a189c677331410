import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floorbench import codec
from floorbench.core.prediction import Decision, Prediction
from floorbench.core.score import Estimate
from floorbench.core.spec import SystemSpec
from floorbench.errors import DataError, UsageError
from floorbench.run.engine import run
from floorbench.run.scoring import (
    Result,
    current_result,
    open_predictions,
    read_result,
    score,
    stored_otherwise,
)
from floorbench.run.store import RunFolder
from support.engine_toys import LABELS, Source, System, Task, choice, quiet
from support.parquet import write_parquet

N = 40


def ran(
    tmp_path: Path, n: int = N, parameters: dict[str, Any] | None = None, **options: Any
) -> RunFolder:
    given: dict[str, Any] = {"task": Task(), "source": Source(n), "out": tmp_path, "notify": quiet}
    return run(system=choice(**(parameters or {})), **{**given, **options})


def scored(path: Path, n: int = N, *, task: Task | None = None, **options: Any) -> Result:
    opened = open_predictions(path, task=task or Task(), source=Source(n), **options)
    return score(opened, draws=200)


def cell(result: Result, metric: str, condition: str) -> Estimate:
    (found,) = [
        e for e in result.estimates if e.metric == metric and e.slice["condition"] == condition
    ]
    return found


def test_values_are_those_counted_by_hand(tmp_path: Path) -> None:
    result = scored(ran(tmp_path).path)
    wrong = len([i for i in range(N) if i % 5 == 0])
    found = cell(result, "accuracy", "h0")
    assert found.value == (N - wrong) / N
    assert found.units == N
    assert (found.coverage.expected, found.coverage.ok) == (N, N)
    assert found.interval.low is not None
    assert found.interval.high is not None
    assert found.interval.low < found.value < found.interval.high
    assert (found.interval.clusters, found.interval.draws) == (N // 2, 200)
    assert [result.estimates[i].metric for i in result.headline] == ["accuracy", "accuracy"]
    assert result.coverage.ok == 2 * N


def test_same_inputs_same_bytes(tmp_path: Path) -> None:
    folder = ran(tmp_path)
    scored(folder.path)
    first = (folder.path / "estimates.json").read_bytes()
    lines = folder.journal.read_bytes().splitlines(keepends=True)
    folder.journal.write_bytes(b"".join(reversed(lines)))
    (folder.path / "estimates.json").unlink()
    result = scored(folder.path)
    assert (folder.path / "estimates.json").read_bytes() == first
    assert read_result(folder.path) == result


OTHERWISE: dict[str, dict[str, Any]] = {
    "draws": {"draws": 20},
    "level": {"level": 0.9},
    "seed": {"seed": 8},
    "missing": {"task": Task(missing="drop")},
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_stored_estimates_are_not_replaced_by_those_of_other_settings(
    tmp_path: Path, what: str
) -> None:
    path = ran(tmp_path).path
    assert stored_otherwise(path, usual(path)) == ()
    first = (path / "estimates.json").read_bytes()
    other = usual(path, **OTHERWISE[what])
    assert (path / "estimates.json").read_bytes() == first
    assert [d.path for d in stored_otherwise(path, other)] == [what]
    assert usual(path, **OTHERWISE[what], write=True) == read_result(path) == other
    assert [d.path for d in stored_otherwise(path, usual(path))] == [what]


@pytest.mark.parametrize("state", ["none", "old", "damaged"])
def test_estimates_of_any_settings_are_stored_where_none_hold(tmp_path: Path, state: str) -> None:
    path = ran(tmp_path).path
    usual(path)
    if state == "none":
        (path / "estimates.json").unlink()
    elif state == "damaged":
        (path / "estimates.json").write_text("{")
    else:
        later = (path / "estimates.json").stat().st_mtime_ns + 10**9
        os.utime(path / "predictions.jsonl", ns=(later, later))
    assert current_result(path) is None
    other = usual(path, draws=20)
    assert stored_otherwise(path, other) == ()
    assert read_result(path) == other


def usual(
    path: Path, *, task: Task | None = None, seed: int | None = None, **options: Any
) -> Result:
    opened = open_predictions(path, task=task or Task(), source=Source(N), seed=seed)
    return score(opened, **{"draws": 40, **options})


def test_another_seed_moves_intervals_not_values(tmp_path: Path) -> None:
    folder = ran(tmp_path)
    one, two = scored(folder.path), scored(folder.path, seed=8)
    assert [e.value for e in one.estimates] == [e.value for e in two.estimates]
    assert one.estimates[0].interval != two.estimates[0].interval
    assert one.signature.protocol["bootstrap"]["seed"] == 0


def test_intervals_are_those_of_each_cell_alone(tmp_path: Path) -> None:
    from floorbench.run.scoring import cells
    from floorbench.stats.intervals import intervals

    folder = ran(tmp_path)
    opened = open_predictions(folder.path, task=Task(), source=Source(N))
    for measure, found in zip(cells(opened).measures, score(opened).estimates, strict=True):
        alone = intervals({"m": measure.metric}, measure.scored, seed=0)["m"]
        assert (found.interval.low, found.interval.high) == (alone.low, alone.high)


def test_undeclared_cells_are_not_available_with_the_reason(tmp_path: Path) -> None:
    result = scored(ran(tmp_path, parameters={"context": "none"}).path)
    found = cell(result, "accuracy", "h1")
    assert (found.value, found.reason) == (None, "N/A: the system reads no history")
    assert found.interval.reason == "the system reads no history"
    assert cell(result, "accuracy", "h0").value is not None


def test_undefined_values_carry_the_metrics_reason(tmp_path: Path) -> None:
    folder = ran(tmp_path, conditions=["h1"])
    found = cell(scored(folder.path), "accuracy", "h0")
    assert (found.value, found.reason) == (None, "no units to score")


def test_absent_predictions_are_wrong_and_shown(tmp_path: Path) -> None:
    folder = ran(tmp_path)
    lines = folder.journal.read_bytes().splitlines(keepends=True)
    folder.journal.write_bytes(b"".join(lines[:N]))  # the first half of the samples
    found = cell(scored(folder.path), "accuracy", "h0")
    assert found.coverage.absent == N // 2
    right = len([i for i in range(N // 2) if i % 5])
    assert found.value == right / N
    dropped = cell(scored(folder.path, task=Task(missing="drop")), "accuracy", "h0")
    assert dropped.value == right / (N // 2)


def test_trials_are_averaged_within_a_sample(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    lines = []
    for i in range(24):
        for trial in range(2):
            label = LABELS[i % 2] if trial == 0 else "no"
            for c in ("h0", "h1"):
                lines.append(
                    Prediction(
                        sample_id=f"s{i}", condition=c, trial=trial, decision=Decision(label=label)
                    )
                )
    path.write_bytes(b"".join(codec.encode(p) + b"\n" for p in lines))
    result = scored(path, 24)
    assert cell(result, "accuracy", "h0").value == 0.75
    assert result.signature.protocol["trials"] == 2


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_predictions_from_elsewhere_give_the_same_numbers(tmp_path: Path, suffix: str) -> None:
    folder = ran(tmp_path)
    path = tmp_path / f"mine{suffix}"
    if suffix == ".jsonl":
        path.write_bytes(folder.journal.read_bytes())
    elif suffix == ".parquet":
        write_parquet(folder).rename(path)
    else:
        rows = [f"{p.sample_id},{p.condition},{p.decision.label}" for p in folder.predictions()]
        path.write_text("\n".join(["sample_id,condition,label", *rows]) + "\n")
    mine = scored(path, system=System().spec)
    assert mine.estimates == scored(folder.path).estimates
    assert mine.signature == scored(folder.path).signature
    assert not (tmp_path / "estimates.json").exists()


def test_faulty_predictions_are_not_scored(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("sample_id,condition,label\ns0,h0,no\ns0,h0,no\ns99,h0,no\n")
    with pytest.raises(DataError, match=r"FB203 .*p\.csv:3: 's0' .*\(and 1 more fault\)"):
        scored(path)


def test_an_unfinished_last_line_must_be_resumed_first(tmp_path: Path) -> None:
    folder = ran(tmp_path)
    folder.journal.write_bytes(folder.journal.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"FB505 .*unfinished\nhint: Resume the run"):
        scored(folder.path)


def test_nothing_due_is_no_score(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("sample_id\n")
    german = SystemSpec(name="g", version="1", languages=("de",))
    with pytest.raises(UsageError, match="FB521"):
        scored(path, system=german)


def test_a_limited_run_has_another_signature(tmp_path: Path) -> None:
    one = scored(ran(tmp_path).path).signature
    two = scored(ran(tmp_path, limit=N // 2).path).signature
    assert one.protocol != two.protocol
    assert one.system == two.system


class Alone(Source):
    """Every sample is its own cluster."""

    def sample(self, i: int):  # type: ignore[no-untyped-def]
        sample = super().sample(i)
        return replace(sample, cluster=sample.id)


def test_shares_of_lone_units_get_wilsons_interval_beside(tmp_path: Path) -> None:
    folder = ran(tmp_path, source=Alone(N))
    opened = open_predictions(folder.path, task=Task(), source=Alone(N))
    found = cell(score(opened, draws=200), "accuracy", "h0")
    low, high = found.interval.beside["wilson"]
    n, p, z = N, 0.8, 1.959963984540054
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert low == pytest.approx(middle - half)
    assert high == pytest.approx(middle + half)
    assert "wilson" not in cell(scored(ran(tmp_path).path), "accuracy", "h0").interval.beside


def test_a_perfect_share_gets_the_exact_interval_on_clusters(tmp_path: Path) -> None:
    folder = ran(tmp_path, parameters={"wrong_every": 1000})
    # Number 0 is a multiple of everything; put it right by hand.
    right = [
        replace(p, decision=Decision(label="no")) if p.sample_id == "s0" else p
        for p in folder.predictions()
    ]
    folder.journal.write_bytes(b"".join(codec.encode(p) + b"\n" for p in right))
    found = cell(scored(folder.path), "accuracy", "h0")
    assert (found.value, found.interval.method) == (1.0, "clopper-pearson")
    assert found.interval.low == pytest.approx(0.025 ** (1 / (N // 2)))
