import math
from pathlib import Path

import pytest

from floorbench.errors import DataError, UsageError
from floorbench.metrics.thresholds import read
from floorbench.run.artefact import read_artefact, write_artefact
from floorbench.run.compare import compare_runs
from floorbench.run.scoring import (
    Opened,
    open_predictions,
    read_result,
    score,
    scored_units,
    stored_otherwise,
)
from floorbench.run.signature import one_line
from floorbench.run.tune import tune
from floorbench.tasks.clips import ClipsTask
from support import trp_scored, trp_tiny
from support.engine_toys import Source, Task, choice, quiet
from support.scored_toy import clips, dev, ran
from support.scored_toy import test as other


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return open_predictions(ran(tmp_path, dev(tmp_path)))


@pytest.mark.parametrize(
    ("objective", "limit", "value", "accepted"),
    [
        ("accuracy", None, 5 / 6, 2),  # 0.30 and above: of equally good ones the highest
        ("balanced_accuracy", None, 5 / 6, 2),
        ("f_score", None, 6 / 7, 4),  # 0.18 and above
        ("recall_at_fpr", 0.0, 2 / 3, 2),
        ("recall_at_fpr", 0.34, 1.0, 4),
        ("fpr_at_recall", 0.6, 0.0, 2),
    ],
)
def test_the_choice_is_that_counted_by_hand(
    opened: Opened, objective: str, limit: float | None, value: float, accepted: int
) -> None:
    found = tune(opened, objective=objective, limit=limit)
    assert (found.value, found.positive) == (pytest.approx(value), "complete")
    units = scored_units(opened).units["sample"]
    assert int((units.column("score") > found.threshold).sum()) == accepted
    # the lowest accepted score lies just above the threshold: no score lies between them
    lowest = min(s for s in units.column("score") if s > found.threshold)
    assert math.nextafter(found.threshold, math.inf) == lowest
    assert (found.units, found.unanswered, found.objective) == (6, 0, objective)


def test_the_artefact_names_all_it_depended_on(opened: Opened) -> None:
    found = tune(opened, objective="accuracy", slice={"language": "und"})
    assert (found.task, found.task_version) == ("clips", ClipsTask().spec.version)
    assert found.system["name"] == "level"
    assert found.dataset == opened.source.digest()
    assert found.slice == {"language": "und"}
    assert found.rule == "positive when score > threshold"
    assert found.scorer.startswith("floorbench ")


def test_a_frozen_threshold_is_read_on_another_split(tmp_path: Path, opened: Opened) -> None:
    frozen = write_artefact(tune(opened, objective="accuracy"), tmp_path / "t.json")
    path = ran(tmp_path, other(tmp_path))
    plain = score(open_predictions(path), draws=20, write=False)
    found = score(
        open_predictions(path, thresholds=[read_artefact(tmp_path / "t.json")]),
        draws=20,
        write=False,
    )
    values = [
        {e.slice["label"]: e.value for e in r.estimates if e.metric == "class_accuracy"}
        for r in (plain, found)
    ]
    # the system's own 0.5 accepts nothing; the frozen one accepts 0.5 alone of .21, .17, .5
    assert (values[0]["complete"], values[0]["incomplete"]) == (0.0, 1.0)
    assert (values[1]["complete"], values[1]["incomplete"]) == (pytest.approx(1 / 3), 1.0)
    assert found.signature.system["threshold_from"] == {
        "artefact": frozen.hash,
        "threshold": frozen.threshold,
        "dataset": opened.source.digest(),
    }
    assert found.signature.protocol["parameters"]["threshold"] == "accuracy"
    assert f"|threshold:{frozen.hash[:12]}|" in one_line(found.signature)
    assert "threshold:" not in one_line(plain.signature)
    assert found.task.parameters["threshold"] == frozen.threshold


def test_labels_at_the_threshold_are_those_of_the_operating_point(opened: Opened) -> None:
    from floorbench.metrics.thresholds import choose

    found = tune(opened, objective="f_score")
    units = scored_units(opened).units["sample"]
    point = choose(units, positive="complete", objective="f_score")
    reading = read(units, point)
    above = units.column("score") > found.threshold
    assert int(above.sum()) == reading.tp + reading.fp


def test_two_systems_tuned_alike_are_compared(tmp_path: Path) -> None:
    paths, artefacts = [], []
    for gain in (1.0, 2.0):
        train = open_predictions(ran(tmp_path, dev(tmp_path), gain=gain))
        artefact = write_artefact(tune(train, objective="accuracy"), tmp_path / f"{gain}.json")
        artefacts.append(artefact)
        paths.append(ran(tmp_path, other(tmp_path), gain=gain))
    runs = [open_predictions(p, thresholds=artefacts) for p in paths]
    assert [r.artefact for r in runs] == artefacts
    found = compare_runs(*runs, draws=20, permutations=19)
    shown = " ".join(str(d) for d in found.system_differences)
    assert "threshold_from.artefact" in shown
    assert "parameters.gain: 1 -> 2" in shown.replace(".0", "")
    other_goal = write_artefact(
        tune(open_predictions(ran(tmp_path, dev(tmp_path), gain=2.0)), objective="f_score"),
        tmp_path / "f.json",
    )
    with pytest.raises(UsageError, match=r'FB520 .*threshold: "accuracy" -> "f_score"'):
        compare_runs(runs[0], open_predictions(paths[1], thresholds=[other_goal]), draws=20)


def test_what_is_stored_is_not_replaced_by_a_reading_at_a_frozen_threshold(tmp_path: Path) -> None:
    path = ran(tmp_path, dev(tmp_path))
    plain = score(open_predictions(path), draws=20)
    frozen = write_artefact(tune(open_predictions(path), objective="accuracy"), tmp_path / "t.json")
    read = score(open_predictions(path, thresholds=[frozen]), draws=20)
    assert [d.path for d in stored_otherwise(path, read)] == ["threshold"]
    assert read_result(path) == plain


def test_units_without_a_score_take_no_part_and_are_counted(tmp_path: Path) -> None:
    found = tune(open_predictions(ran(tmp_path, dev(tmp_path), silent=0.15)), objective="accuracy")
    assert (found.units, found.unanswered) == (6, 2)
    assert found.value == pytest.approx(3 / 4)


def test_one_class_alone_cannot_choose(tmp_path: Path) -> None:
    data = clips(tmp_path / "one", {"complete": [0.1, 0.2]})
    with pytest.raises(DataError, match="FB631 'recall_at_fpr' is undefined"):
        tune(open_predictions(ran(tmp_path, data)), objective="recall_at_fpr", limit=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "luck"}, "FB103 .*luck"),
        ({"objective": "accuracy", "limit": 0.1}, "FB103 objective='accuracy' with limit=0.1"),
        ({"objective": "recall_at_fpr"}, "FB103 objective='recall_at_fpr' with limit=None"),
        ({"objective": "accuracy", "slice": {"lang": "zh"}}, "FB103 there is no column 'lang'"),
        (
            {"objective": "accuracy", "slice": {"language": "fr"}},
            "FB103 no unit of the run has language='fr'",
        ),
    ],
)
def test_bad_wishes(opened: Opened, options: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        tune(opened, **options)


@pytest.mark.parametrize(("name", "value"), [("language", "fr"), ("gold", "Backchannel")])
def test_a_part_without_units_names_the_values_that_exist(
    opened: Opened, name: str, value: str
) -> None:
    """Whether the task knows the value or not."""
    units = scored_units(opened).units["sample"]
    known = units.vocab[name]
    with pytest.raises(
        UsageError, match=f"FB103 no unit of the run has {name}='{value}'"
    ) as caught:
        tune(opened, objective="accuracy", slice={name: value})
    hint = str(caught.value.hint)
    present = {known[code] for code in units.column(name)}
    assert present
    assert all(f"{label} (" in hint for label in present)
    assert not any(f"{label} (" in hint for label in set(known) - present)


def test_systems_and_tasks_without_a_threshold(tmp_path: Path) -> None:
    from floorbench.run.engine import run

    source = Source(12)
    folder = run(task=Task(), system=choice(), source=source, out=tmp_path, notify=quiet)
    toy = open_predictions(folder.path, task=Task(), source=source)
    with pytest.raises(UsageError, match=r"FB524 .* declares no score with a label map"):
        tune(toy, objective="accuracy")
    from dataclasses import replace

    scorer = replace(toy.system, score="p", label_map="smart-turn")
    with pytest.raises(UsageError, match="FB524 task 'toy' has no threshold"):
        tune(toy._replace(system=scorer), objective="accuracy")
    unscored = replace(toy.system, score="p", label_map="easy-turn")
    with pytest.raises(UsageError, match="FB524 the label map 'easy-turn' has no threshold"):
        tune(toy._replace(system=unscored), objective="accuracy")


def test_several_conditions_need_a_choice(opened: Opened) -> None:
    plan = opened.plan._replace(conditions=("h0", "h1"))
    with pytest.raises(UsageError, match="FB103 the run has the conditions h0, h1"):
        tune(opened._replace(plan=plan), objective="accuracy")


def test_a_task_given_beside_an_artefact_must_have_its_threshold(
    tmp_path: Path, opened: Opened
) -> None:
    frozen = write_artefact(tune(opened, objective="accuracy"), tmp_path / "t.json")
    same = ClipsTask(threshold=frozen.threshold, missing="drop")
    found = open_predictions(opened.path, task=same, thresholds=[frozen])
    assert (found.task, found.artefact) == (same, frozen)
    with pytest.raises(UsageError, match="FB103 the task is given with another threshold"):
        open_predictions(opened.path, task=ClipsTask(threshold=0.1), thresholds=[frozen])
    with pytest.raises(UsageError, match="FB523 the threshold is for another system"):
        open_predictions(ran(tmp_path, dev(tmp_path), gain=2.0), thresholds=[frozen])


def test_a_score_of_prefixes_is_tuned_on_one_split_and_read_on_the_other(tmp_path: Path) -> None:
    """Counted by hand: dev has TRPs after 2 and 4 words of "one", test after 1 and 4."""
    data = trp_tiny.build(tmp_path / "data")
    opened = open_predictions(trp_scored.ran(tmp_path, data, split="dev"))
    found = tune(opened, objective="f_score")
    assert (found.threshold, found.value, found.positive) == (0.2, pytest.approx(4 / 9), "yes")
    assert (found.rule, found.units, found.unanswered) == ("positive when score >= threshold", 9, 0)
    frozen = write_artefact(found, tmp_path / "t.json")
    other = trp_scored.ran(tmp_path, data, split="test")
    read_there = score(open_predictions(other, thresholds=[frozen]), draws=20, write=False)
    f1 = trp_scored.cell(read_there, "slot_f")
    assert f1.value == pytest.approx(0.4)  # two, three and four words: one hit, two false, one miss
    assert read_there.signature.protocol["parameters"]["threshold"] == "f_score"


def test_a_prefix_without_a_score_is_counted_and_then_wrong(tmp_path: Path) -> None:
    data = trp_tiny.build(tmp_path / "data")
    opened = open_predictions(trp_scored.ran(tmp_path, data, split="dev", first=1))
    found = tune(opened, objective="f_score")
    assert (found.units, found.unanswered) == (9, 2)
    other = trp_scored.ran(tmp_path, data, split="test", first=1)
    read_there = score(
        open_predictions(other, thresholds=[write_artefact(found, tmp_path / "t.json")]),
        draws=20,
        write=False,
    )
    recall = trp_scored.cell(read_there, "slot_recall")
    assert (recall.value, recall.coverage.invalid) == (0.5, 1)


def test_labels_of_prefixes_without_any_score_have_no_threshold(tmp_path: Path) -> None:
    data = trp_tiny.build(tmp_path / "data")
    with pytest.raises(UsageError, match="FB524 'count' declares no score"):
        tune(open_predictions(trp_scored.ran(tmp_path, data, scores=False)), objective="f_score")
