import json
from pathlib import Path

import pytest

from floorbench.cli.compare import compare
from floorbench.cli.opening import PredictionOptions
from floorbench.cli.run import run
from floorbench.datasets.codett_labels import ACTIONS
from floorbench.datasets.open import open_dataset
from floorbench.errors import UsageError
from floorbench.stats.multiple import holm
from support.scored_toy import dev, ran


def test_runs_of_other_data_are_refused(tmp_path: Path) -> None:
    for limit in (20, 24):
        run("codett", "always-takeover", limit=limit, out=tmp_path / str(limit), score=False)
    first, second = (next((tmp_path / n / "codett").glob("*/*")) for n in ("20", "24"))
    with pytest.raises(UsageError, match="FB520"):
        compare(first, second, draws=20)


def test_several_runs_are_corrected_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = dev(tmp_path)
    base, *others = (ran(tmp_path, data, gain=gain) for gain in (1.0, 2.0, 3.0))
    assert compare(base, *others, draws=20, json=True) == 0
    reports = json.loads(capsys.readouterr().out)
    p_values = [c["found"]["test"]["p"] for r in reports for c in r["cells"] if c["found"]]
    tests = sum(p is not None for p in p_values)
    assert [r["tests"] for r in reports] == [tests, tests]
    assert tests > max(
        sum(c["adjusted"] is not None for c in r["cells"]) for r in reports
    )  # more than one report has alone
    adjusted = [c["adjusted"] for r in reports for c in r["cells"] if c["found"]]
    assert adjusted == list(holm({str(i): p for i, p in enumerate(p_values)}).values())
    assert compare(base, *others, draws=20) == 0
    assert capsys.readouterr().out.count(f"after Holm over {tests} tests") == 2


def test_predictions_made_elsewhere_are_compared_with_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("codett", "always-takeover", out=tmp_path, score=False)
    folder = next((tmp_path / "codett").glob("*/*"))
    mine = tmp_path / "mine.jsonl"
    lines = (folder / "predictions.jsonl").read_text().splitlines()
    mine.write_text("\n".join(line.replace("Takeover", "Dismiss") for line in lines))
    spec = tmp_path / "mine.json"
    spec.write_text(json.dumps({"name": "mine", "version": "1", "labels": list(ACTIONS)}))
    capsys.readouterr()
    declared = PredictionOptions(task="codett", systems=[spec])
    assert compare(mine, folder, options=declared, draws=20, json=True) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["first"]["system"]["name"] == "mine"
    found = {
        c["slice"]["action"]: c["found"]["difference"]
        for c in report["cells"]
        if c["metric"] == "class_accuracy" and c["slice"]["language"] == "en"
    }
    assert found == {"Maintain": 0, "StopandListen": 0, "Takeover": -1, "Dismiss": 1}
    part = PredictionOptions(task="codett", conditions=["h0"])
    assert compare(mine, folder, options=part, draws=20, json=True) == 0
    capsys.readouterr()
    assert compare(mine, folder, options=declared, draws=20) == 0
    assert "answered: A 196 of 196, B 196 of 196" in capsys.readouterr().out
    with pytest.raises(UsageError, match="--task"):
        compare(mine, folder)


def test_averages_over_other_actions_are_refused_with_both_sets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("codett", "always-takeover", out=tmp_path, score=False)
    folder = next((tmp_path / "codett").glob("*/*"))
    mine = tmp_path / "mine.jsonl"
    idle = {
        s.id
        for s in open_dataset("starter:codett").samples()
        if s.observation.state == "SystemIdle"
    }
    lines = (folder / "predictions.jsonl").read_text().splitlines()
    mine.write_text("\n".join(x for x in lines if json.loads(x)["sample_id"] in idle))
    spec = tmp_path / "mine.json"
    labels = ["Takeover", "Dismiss"]
    spec.write_text(json.dumps({"name": "mine", "version": "1", "labels": labels}))
    capsys.readouterr()
    declared = PredictionOptions(task="codett", systems=[spec])
    assert compare(mine, folder, options=declared, draws=20, json=True) == 0
    (report,) = json.loads(capsys.readouterr().out)
    reasons = {c["metric"]: c["reason"] for c in report["cells"] if c["reason"]}
    assert reasons["macro_accuracy"] == (
        "over different sets: Takeover+Dismiss in the first run, "
        "Maintain+StopandListen+Takeover+Dismiss in the second"
    )
    ranked = [c["found"] for c in report["cells"] if c["metric"] == "average_all4"]
    assert [(c["a"], c["b"], c["difference"]) for c in ranked] == [(0.25, 0.25, 0)] * 2
    assert compare(mine, folder, options=declared, draws=20) == 0
    text = capsys.readouterr().out
    assert "answered: A 112 of 112, B 196 of 196" in text
    lacking = "not declared, so wrong by definition: Maintain+StopandListen in the first run"
    assert text.count(f"average_all4: {lacking}") == 1
    assert text.count("over different sets: Takeover+Dismiss in the first run") == 2
