from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floorbench.datasets.open import open_dataset
from floorbench.errors import UsageError
from floorbench.run.compare import RunComparison, compare_many, compare_runs
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.scoring import Opened, open_predictions, score
from floorbench.stats.multiple import holm
from floorbench.stats.paired import wording
from floorbench.tasks.codett import CodettTask
from support.engine_toys import Source, System, Task, choice, quiet

N = 60


def opened(
    tmp_path: Path, system: SystemChoice, task: Task | None = None, **options: Any
) -> Opened:
    task = task or Task()
    folder = run(task=task, system=system, source=Source(N), out=tmp_path, notify=quiet, **options)
    return open_predictions(folder.path, task=task, source=Source(N))


def compared(a: Opened, b: Opened, **options: Any) -> RunComparison:
    return compare_runs(a, b, **{"draws": 200, "permutations": 199, **options})


def test_differences_values_and_p_are_given_per_headline_cell(tmp_path: Path) -> None:
    a = opened(tmp_path, choice(wrong_every=20))
    b = opened(tmp_path, choice(wrong_every=3))
    found = compared(a, b)
    assert [(c.metric, c.slice) for c in found.cells] == [
        ("accuracy", {"condition": "h0"}),
        ("accuracy", {"condition": "h1"}),
    ]
    cell = found.cells[0]
    assert cell.found is not None
    assert (cell.found.a, cell.found.b) == (57 / 60, 40 / 60)
    assert cell.found.difference == pytest.approx(17 / 60)
    assert cell.found.interval.low is not None
    assert cell.found.interval.low > 0
    assert cell.found.effect.name == "d_z"
    assert cell.adjusted is not None
    assert cell.wording.startswith("A above B (p = 0.0")
    assert [str(d) for d in found.system_differences] == ["parameters.wrong_every: 20 -> 3"]


def test_holm_is_over_all_cells_of_the_report(tmp_path: Path) -> None:
    a = opened(tmp_path, choice(wrong_every=20))
    b = opened(tmp_path, choice(wrong_every=8))
    found = compared(a, b, headline=False)
    assert len(found.cells) == 4
    raw = {str(i): c.found.test.p for i, c in enumerate(found.cells) if c.found}
    assert [c.adjusted for c in found.cells] == list(holm(raw).values())
    assert [c.wording for c in found.cells] == [
        wording(c.found, c.adjusted) for c in found.cells if c.found
    ]


def test_holm_is_over_all_comparisons_of_the_report(tmp_path: Path) -> None:
    base, *others = (opened(tmp_path, choice(wrong_every=n)) for n in (20, 8, 3))
    options = {"draws": 200, "permutations": 199, "headline": False}
    together = compare_many(others, base, **options)
    alone = [compare_runs(other, base, **options) for other in others]
    assert [c.found for r in together for c in r.cells] == [c.found for r in alone for c in r.cells]
    raw = {f"{i}.{j}": c.found.test.p for i, r in enumerate(alone) for j, c in enumerate(r.cells)
           if c.found}  # fmt: skip
    assert len(raw) == 8
    assert [(r.tests, one.tests) for r, one in zip(together, alone, strict=True)] == [(8, 4)] * 2
    assert [c.adjusted for r in together for c in r.cells] == list(holm(raw).values())
    assert [c.adjusted for c in alone[1].cells] != [c.adjusted for c in together[1].cells]
    assert compare_many([], base, **options) == ()


def test_a_run_does_not_differ_from_itself(tmp_path: Path) -> None:
    a = opened(tmp_path, choice())
    cell = compared(a, a).cells[0]
    assert cell.found is not None
    assert cell.found.difference == 0
    assert cell.found.test.p == 1
    assert cell.wording.startswith("no difference shown")


def test_swapping_the_runs_swaps_the_sign(tmp_path: Path) -> None:
    a, b = opened(tmp_path, choice(wrong_every=20)), opened(tmp_path, choice(wrong_every=3))
    one, two = compared(a, b).cells[0].found, compared(b, a).cells[0].found
    assert one is not None
    assert two is not None
    assert one.difference == -(two.difference or 0)
    assert one.test.p == two.test.p


@pytest.mark.parametrize(
    ("second", "difference"),
    [
        ({"task": Task(missing="drop")}, 'parameters.missing: "wrong" -> "drop"'),
        ({"task": Task(version="2")}, 'task_version: "1" -> "2"'),
        ({"limit": 30}, "limit: nothing -> 30"),
        ({"trials": 2}, "trials: 1 -> 2"),
    ],
    ids=["missing", "version", "limit", "trials"],
)
def test_unequal_protocols_are_refused_with_the_list(
    tmp_path: Path, second: dict[str, Any], difference: str
) -> None:
    a = opened(tmp_path, choice())
    b = opened(tmp_path, choice(), **second)
    with pytest.raises(UsageError) as caught:
        compared(a, b)
    assert caught.value.code == "FB520"
    assert difference in caught.value.what


def test_runs_of_other_tasks_or_data_are_refused_in_one_sentence(tmp_path: Path) -> None:
    """What differs because of it (parameters, metrics, versions ...) is not listed."""
    a = opened(tmp_path, choice())
    other = run(
        task=CodettTask(),
        system=SystemChoice(name="always-takeover"),
        source=open_dataset("starter:codett"),
        limit=4,
        out=tmp_path / "codett",
        notify=quiet,
    )
    for runs in ([a, open_predictions(other.path)], [open_predictions(other.path), a]):
        with pytest.raises(UsageError, match="FB520") as caught:
            compared(*runs)
        names = " and ".join(f"'{r.task.spec.name}'" for r in runs)
        assert caught.value.what == f"the runs are of different tasks: {names}"
    task, data = Task(missing="drop"), Source(30)
    less = run(task=task, system=choice(), source=data, out=tmp_path, notify=quiet)
    few = open_predictions(less.path, task=task, source=data)
    with pytest.raises(UsageError, match="FB520") as caught:
        compared(a, few)
    assert caught.value.what.startswith("the runs are on different data: 'toy ")
    assert "missing" not in caught.value.what


def test_seeds_of_runs_need_not_agree(tmp_path: Path) -> None:
    a, b = opened(tmp_path, choice()), opened(tmp_path, choice(), seed=9)
    assert compared(a, b).cells[0].found is not None


def with_spec(**changes: Any) -> SystemChoice:
    def factory() -> System:
        system = System()
        system.spec = replace(system.spec, **changes)
        return system

    return SystemChoice(name="changed", factory=factory)


def test_averages_over_different_sets_are_not_compared(tmp_path: Path) -> None:
    a = opened(tmp_path, choice())
    b = opened(tmp_path, with_spec(labels=("yes",)))
    found = {c.metric: c for c in compared(a, b, headline=False).cells}
    assert found["accuracy"].found is not None
    average = found["macro_accuracy"]
    assert average.found is None
    assert average.reason == 'the metric differs: parameters.labels: ["no","yes"] -> ["yes"]'
    assert average.wording == f"not compared: {average.reason}"
    assert average.adjusted is None


def test_cells_that_one_system_does_not_declare_are_not_compared(tmp_path: Path) -> None:
    a, b = opened(tmp_path, choice()), opened(tmp_path, choice(context="none"))
    first, second = compared(a, b).cells
    assert first.found is not None
    assert second.reason == "N/A in the second run: the system reads no history"


def test_systems_asked_about_different_data_are_not_compared(tmp_path: Path) -> None:
    a, b = opened(tmp_path, choice()), opened(tmp_path, with_spec(languages=("zh",)))
    cell = compared(a, b).cells[0]
    assert cell.found is None
    assert cell.reason is not None
    assert "clusters belong to one system only" in cell.reason


def test_front_ends_may_differ_and_are_listed(tmp_path: Path) -> None:
    a = opened(tmp_path, choice())
    b = opened(tmp_path, with_spec(threshold=0.4, label_map="turns/2"))
    found = compared(a, b)
    assert [str(d) for d in found.system_differences] == [
        'label_map: nothing -> "turns/2"',
        "threshold: nothing -> 0.4",
    ]
    assert found.cells[0].found is not None


def test_values_are_those_of_the_scores(tmp_path: Path) -> None:
    a, b = opened(tmp_path, choice()), opened(tmp_path, choice(wrong_every=7))
    cell = compared(a, b).cells[1].found
    assert cell is not None
    assert (cell.a, cell.b) == tuple(score(o, draws=10).estimates[2].value for o in (a, b))
