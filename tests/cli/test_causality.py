"""``floorbench check-causality`` passes streams and exits 1 on a cheater."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from floorbench.cli.causality import check_causality
from floorbench.errors import UsageError
from floorbench.run.references import REFERENCES
from support import echo_tiny, two_channel_tiny

CHEATER = """
from support.stream_toys import LoudCheater as Cheater
from support.stream_toys import Toy


class Dead(Toy):
    def __init__(self):
        super().__init__(lambda step, toy: 1 / 0)
"""


@pytest.fixture
def data(tmp_path: Path) -> str:
    (tmp_path / "cheater.py").write_text(CHEATER)
    return str(echo_tiny.build(tmp_path / "set"))


def test_a_stream_is_causal(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_causality("barge-in-energy", data=data, limit=2) == 0
    out = capsys.readouterr().out
    assert "barge-in-energy: 2 samples, 2 decisions" in out
    assert out.endswith("\ncausal\n")


def test_a_cheater_is_a_finding(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cheater = f"{tmp_path / 'cheater.py'}:Cheater"
    assert check_causality(cheater, data=data, limit=6) == 1
    out = capsys.readouterr().out
    assert "not causal: zh-ib-0-i: with silence after" in out
    assert "more\nNOT causal\n" in out
    assert check_causality(cheater, data=data, limit=1, json=True) == 1
    assert json.loads(capsys.readouterr().out)["violations"]


def test_a_dead_stream_proves_nothing(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_causality(f"{tmp_path / 'cheater.py'}:Dead", data=data, limit=2) == 1
    out = capsys.readouterr().out
    assert "not answered: failed 2" in out
    assert "nothing could be compared" in out


@pytest.mark.parametrize("limit", [0, -3])
def test_no_samples_at_all_are_refused(limit: int, data: str) -> None:
    with pytest.raises(UsageError, match="FB103"):
        check_causality("barge-in-energy", data=data, limit=limit)


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_hears_nothing_that_could_be_changed(name: str, data: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}' is a reference"):
        check_causality(name, data=data, limit=2)


def test_a_task_with_a_parameter_without_default_is_given_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = str(two_channel_tiny.build(tmp_path / "calls", ("sw9001",)))
    with pytest.raises(UsageError, match=r"FB103 .*needs its parameter min_gap"):
        check_causality("persistence", task="dualturn-4s", data=calls)
    assert (
        check_causality("persistence", task="dualturn-4s", data=calls, task_sets=["min_gap=0"]) == 0
    )
    assert capsys.readouterr().out.endswith("\ncausal\n")
