import json
from pathlib import Path

import pytest

from floorbench.cli.app import main
from floorbench.cli.review import review
from floorbench.datasets.codett import CodettSource
from floorbench.errors import DataError, UsageError
from floorbench.web.review_plan import gold_label
from floorbench.web.review_store import Review
from floorbench.web.serving import Serving
from support import codett_tiny


@pytest.fixture(autouse=True)
def _not_for_ever(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Serving, "run", lambda self: self.stop())
    monkeypatch.chdir(tmp_path)
    codett_tiny.build(tmp_path / "data", history=0)


def test_a_plan_is_drawn_kept_and_served(capsys: pytest.CaptureFixture[str]) -> None:
    assert review("data", per_scenario=1, seed=5) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("http://127.0.0.1:")
    assert "?token=" in shown.out
    assert "28 items" in shown.err
    plan = json.loads(Path("reviews/data/plan.json").read_text())
    assert plan["sampling"] == {"per_scenario": 1, "seed": 5, "share": None}
    assert review("data") == 0
    assert "28 items" in capsys.readouterr().err
    with pytest.raises(UsageError, match="FB892"):
        review("data", share=0.5)
    with pytest.raises(UsageError, match="FB891"):
        review("data", share=0.5, per_scenario=1)


def test_export(capsys: pytest.CaptureFixture[str]) -> None:
    review("data", seed=1, session=Path("here"))
    kept = Review(Path("here"))
    assert len(kept.plan.items) == 28
    golds = {s.id: gold_label(s) for s in CodettSource("data").samples()}
    for number, item in enumerate(kept.plan.items[:20]):
        for name in ("r1", "r2"):
            kept.answer(name, item, "reject" if number == 0 else golds[item], heard=True)
    capsys.readouterr()
    assert review("data", session=Path("here"), export=Path("verdicts.jsonl")) == 0
    shown = capsys.readouterr()
    assert shown.out.split() == ["verdicts.jsonl", "verdicts.agreement.json"]
    assert "19 items accepted, 1 rejected, 8 without a verdict" in shown.err
    assert "kappa_cohen" in shown.err
    with pytest.raises(UsageError, match="has its plan already"):
        review("data", session=Path("here"), export=Path("v.jsonl"), seed=1)
    with pytest.raises(DataError, match="FB893"):
        review("data", session=Path("nothing"), export=Path("v.jsonl"))
    codett_tiny.build(Path("other"), languages=("EN",), history=0)
    with pytest.raises(UsageError, match="FB892"):
        review("other", session=Path("here"), export=Path("v.jsonl"))


def test_starter_set_and_open(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert review("starter:codett", share=0.01, open_browser=True) == 0
    assert opened == [capsys.readouterr().out.strip()]


def test_errors_are_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["review", "data", "--share", "2"])
    assert left.value.code == 2
    assert "FB891" in capsys.readouterr().err
