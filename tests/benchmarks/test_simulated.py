"""A short form of the simulations, against bounds of four Monte-Carlo errors.

``python -m benchmarks.simulated`` runs the long form.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from benchmarks.simulated.__main__ import main, tables
from benchmarks.simulated.coverage import coverage
from benchmarks.simulated.gates import CHANGES, passes
from benchmarks.simulated.levels import levels
from benchmarks.simulated.nulls import NULLS
from benchmarks.simulated.worlds import FAMILIES, SHAPES, truth


def floor(p: float, n: int) -> float:
    return p - 4 * np.sqrt(p * (1 - p) / n)


@pytest.fixture(autouse=True)
def small_truth(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("benchmarks.simulated.worlds.TRUTH", dict.fromkeys(FAMILIES, 4000))
    truth.cache_clear()
    yield
    truth.cache_clear()


@pytest.mark.parametrize(
    ("family", "shape", "clusters"),
    [("labels", "very unequal", 30), ("labels", "correlated", 20), ("pairs", "unequal", 50)],
)
def test_intervals_hold_the_truth(family: str, shape: str, clusters: int) -> None:
    found = coverage(family, shape, clusters, worlds=100, draws=200)
    short = {
        name: (cell.held, cell.wider, cell.given)
        for name, cell in found.items()
        if cell.given >= 50
        and (
            cell.held < cell.given * floor(0.85, cell.given)
            or cell.wider < cell.given * floor(0.92, cell.given)
        )
    }
    assert not short
    assert all(cell.held <= cell.wider <= cell.given for cell in found.values())


def test_unequal_clusters_are_told() -> None:
    cell = coverage("labels", "very unequal", 30, worlds=20, draws=100)["accuracy"]
    assert cell.warned == cell.given == 20


@pytest.mark.parametrize("null", ["drawn alike", "one answers more", "other balance", "pairs"])
def test_equal_systems_are_seldom_told_apart(null: str) -> None:
    for name, cell in levels(null, 16, worlds=100, draws=150, permutations=199).items():
        assert cell.tested == 100, name
        assert cell.unnoted <= cell.rejected <= 5 + 4 * np.sqrt(100 * 0.05 * 0.95), name
        assert cell.held <= cell.wider, name


def test_gates_that_see_gains_alone_stop_the_candidate() -> None:
    found = passes("3 % lost, 1 % gained", 30, worlds=120, draws=200)
    assert found.kept <= 120 * 0.025 + 4 * np.sqrt(120 * 0.025 * 0.975)
    assert found.plain > found.kept


def test_the_same_seed_counts_the_same() -> None:
    one, two = (levels("pairs", 12, worlds=10, draws=60, permutations=99) for _ in range(2))
    assert one == two


def test_every_null_and_change_is_one() -> None:
    rng = np.random.default_rng(0)
    for null in NULLS.values():
        a, b = null.make(rng, 12)
        assert a.clusters == b.clusters
    assert all(change.margin > 0 for change in CHANGES.values())
    assert set(SHAPES) >= {"equal", "very unequal", "rare class"}


def test_tables_from_counts(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    kept = tmp_path / "counts.jsonl"
    given = ["gates", "--worlds", "40", "--sizes", "12", "--only", "5 % lost"]
    assert main([*given, "--json", str(kept)]) == 0
    printed = capsys.readouterr().out
    assert "| 5 % lost | accuracy | 0.0 ± 0.0 | 0.0 ± 0.0 |" in printed
    assert main(["--table", str(kept)]) == 0
    assert capsys.readouterr().out == printed
    assert tables([]) == ""
