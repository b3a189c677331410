import dataclasses
import json
import re
from pathlib import Path

import pytest

from floorbench.cli.compare import compare
from floorbench.cli.opening import PredictionOptions
from floorbench.cli.score import score
from floorbench.cli.tune import tune
from floorbench.errors import UsageError
from support.scored_toy import dev, ran
from support.scored_toy import test as other


def test_a_threshold_goes_from_one_split_to_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train, test = ran(tmp_path, dev(tmp_path)), ran(tmp_path, other(tmp_path))
    out = tmp_path / "level.json"
    assert tune("clips", train, objective="accuracy", out=out) == 0
    said = capsys.readouterr().out
    assert said.startswith("threshold 0.3: complete when the score is greater\naccuracy = 0.8333")
    assert "on 6 of 6 units of" in said

    assert score(test, thresholds_from=[out], draws=20, json=True) == 0
    captured = capsys.readouterr()
    (result,) = json.loads(captured.out)
    artefact = json.loads(out.read_text())
    assert result["signature"]["system"]["threshold_from"]["artefact"] == artefact["hash"]
    assert "these very data" not in captured.err
    # the task option of the score command reads the same number by hand
    by_hand = PredictionOptions(task="clips", task_sets=[f"threshold={artefact['threshold']!r}"])
    assert score(test, options=by_hand, draws=20, json=True) == 0
    (by_hand,) = json.loads(capsys.readouterr().out)
    assert [e["value"] for e in by_hand["estimates"]] == [e["value"] for e in result["estimates"]]

    assert score(train, thresholds_from=[out], draws=20) == 0
    captured = capsys.readouterr()
    assert "the threshold was chosen on these very data" in captured.err
    assert re.search(rf"\|threshold:{artefact['hash'][:12]}", captured.out)


def test_compare_reads_each_systems_own_threshold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files, tests = [], []
    for gain in (1.0, 2.0):
        files.append(tmp_path / f"{gain}.json")
        train = ran(tmp_path, dev(tmp_path), gain=gain)
        tune("clips", train, objective="f_score", out=files[-1], beta=2.0)
        tests.append(ran(tmp_path, other(tmp_path), gain=gain))
    capsys.readouterr()
    assert compare(*tests, thresholds_from=files, draws=20) == 0
    assert "threshold_from.threshold" in capsys.readouterr().out


def test_part_of_the_data_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = ran(tmp_path, dev(tmp_path))
    out = tmp_path / "t.json"
    wish = {"objective": "recall_at_fpr", "limit": 0.0, "where": ["language=und"]}
    assert tune("clips", train, out=out, json=True, **wish) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(out.read_text())
    assert printed["slice"] == {"language": "und"}
    assert printed["limit"] == 0.0
    data = tmp_path / "dev"
    assert tune(
        "clips", train, out=out, data=str(data), task_sets=["missing=drop"], **wish
    ) == 0  # fmt: skip


def test_another_task_is_refused(tmp_path: Path) -> None:
    train = ran(tmp_path, dev(tmp_path))
    with pytest.raises(UsageError, match="FB103 the run is of task 'clips', not 'codett'"):
        tune("codett", train, objective="accuracy", out=tmp_path / "t.json")


def test_a_file_from_elsewhere_has_no_known_system(tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    tune("clips", ran(tmp_path, dev(tmp_path)), objective="accuracy", out=out)
    file = tmp_path / "p.jsonl"
    file.write_text("")
    with pytest.raises(UsageError, match=r"FB523 .*p\.jsonl' is not a run folder"):
        score(
            file,
            options=PredictionOptions(task="clips", data=str(tmp_path / "dev")),
            thresholds_from=[out],
        )


@pytest.mark.parametrize(
    ("where", "says"),
    [
        (["language=fr"], r"has language='fr'[\s\S]*und \(6\)"),
        (["langage=fr"], r"no column 'langage'[\s\S]*did you mean 'language'"),
        (["language!=fr"], "'language!=fr' is not NAME=VALUE"),
        (["language=fr,und"], "'language=fr,und' is not NAME=VALUE"),
        (["language=und", "language=und"], "'language' twice"),
        (["language"], "'language' is not NAME=VALUE"),
    ],
)
def test_a_part_that_is_not_there_is_named(tmp_path: Path, where: list[str], says: str) -> None:
    train = ran(tmp_path, dev(tmp_path))
    with pytest.raises(UsageError, match=says):
        tune("clips", train, objective="accuracy", out=tmp_path / "t.json", where=where)
    assert not (tmp_path / "t.json").exists()


def test_scores_made_elsewhere_are_tuned_and_read_on_another_split(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = [dev(tmp_path), other(tmp_path)]
    files = []
    for folder in data:
        made = ran(tmp_path, folder)
        files.append(tmp_path / f"{folder.name}.jsonl")
        files[-1].write_text((made / "predictions.jsonl").read_text())
    mine = tmp_path / "mine.json"
    declared = {"name": "mine", "version": "1", "score": "level", "label_map": "smart-turn"}
    mine.write_text(json.dumps(declared | {"labels": ["complete", "incomplete"], "threshold": 0.5}))
    out, goal = tmp_path / "level.json", "accuracy"
    assert tune("clips", files[0], objective=goal, out=out, data=str(data[0]), systems=[mine]) == 0
    assert capsys.readouterr().out.startswith("threshold 0.3: ")
    said = PredictionOptions(task="clips", data=str(data[1]))
    theirs = dataclasses.replace(said, systems=[mine])
    assert score(files[1], options=theirs, thresholds_from=[out], draws=20, json=True) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["task"]["parameters"]["threshold"] == pytest.approx(0.3)
    with pytest.raises(UsageError, match=r"FB523 .*its system is not known"):
        score(files[1], options=said, thresholds_from=[out])
    mine.write_text(mine.read_text().replace('"1"', '"2"'))
    with pytest.raises(UsageError, match=r"FB523 .*for another system"):
        score(files[1], options=theirs, thresholds_from=[out])
    with pytest.raises(UsageError, match=r"FB103 .*--condition"):
        tune("clips", ran(tmp_path, data[0]), objective=goal, out=out, conditions=["h0"])
