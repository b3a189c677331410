"""Whole runs of streams: faults stay with their samples, and a resumed run is the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from floorbench.core.vocab import Outcome
from floorbench.datasets.echo import EchoSource
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.executors import make_executor
from floorbench.run.scoring import open_predictions, score
from floorbench.tasks.echo import EchoTask
from support import echo_tiny

FLAKY = """
import time

from floorbench.core.prediction import Event
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Role


class Flaky:
    def __init__(self, *, stall=False):
        self.stall = stall
        self.spec = SystemSpec(
            name="flaky", version="1", streaming_step=0.1, licence="none",
            front_end=FrontEnd(rate=16000, resampler="none"), parameters={"stall": stall},
        )

    def load(self):
        pass

    def open(self, setup):
        return Session(setup.turns[0].text, self.stall)


class Session:
    def __init__(self, text, stall):
        self.text, self.stall, self.heard = text, stall, 0

    def push(self, step):
        self.heard += abs(step.samples[Role.USER]).max() > 0.01
        if step.end > 1.25 and self.text.endswith("bac"):
            if self.stall:
                time.sleep(3600)
            raise OSError("the cable is out")
        if step.end > 1.25 and self.text.endswith("off"):
            return "garbage"
        return [Event(kind="action", time=step.end, label="yield")] if self.heard == 2 else []

    def close(self):
        return []
"""


@pytest.fixture
def flaky(tmp_path: Path) -> str:
    (tmp_path / "flaky.py").write_text(FLAKY)
    return f"{tmp_path / 'flaky.py'}:Flaky"


def predictions(folder: Any) -> list[Any]:
    found = [(p.sample_id, p.decision, p.observed) for p in folder.predictions()]
    return sorted(found, key=lambda p: str(p[0]))


def start(flaky: str, tmp_path: Path, **kw: Any) -> Any:
    data = tmp_path / "set"
    source = EchoSource(data if data.exists() else echo_tiny.build(data, languages=("zh",)))
    parameters = kw.pop("parameters", {})
    return run(
        task=EchoTask(),
        system=SystemChoice(name=flaky, parameters=parameters),
        source=source,
        out=tmp_path / "runs",
        notify=lambda _: None,
        **kw,
    )


def test_faults_stay_with_their_samples(flaky: str, tmp_path: Path) -> None:
    folder = start(flaky, tmp_path)
    outcomes = {name: decision.outcome for name, decision, _ in predictions(folder)}
    assert len(outcomes) == 9
    for name, outcome in outcomes.items():
        assert outcome is (Outcome.OK if name.endswith("-i") else Outcome.FAILED)
    source = EchoSource(tmp_path / "set")
    result = score(open_predictions(folder.path, task=EchoTask(), source=source), draws=20)
    found = {
        e.slice["role"]: e
        for e in result.estimates
        if e.metric == "accuracy" and e.slice.get("tail") == "0 s" and "baseline" not in e.slice
    }
    assert found["interruption"].value == 1.0
    assert found["backchannel"].value == 0.0  # a crashed stream is not a Keep
    assert found["backchannel"].coverage.failed == 3


def test_a_resumed_run_equals_an_undisturbed_one(flaky: str, tmp_path: Path) -> None:
    whole = start(flaky, tmp_path)
    cut = start(flaky, tmp_path)
    lines = cut.journal.read_bytes().splitlines(keepends=True)
    cut.journal.write_bytes(b"".join(lines[:4]) + lines[4][:20])
    resumed = start(flaky, tmp_path, resume=cut.path)
    assert predictions(resumed) == predictions(whole)


def test_a_stream_that_hangs_is_cut_off_and_the_run_goes_on(flaky: str, tmp_path: Path) -> None:
    executor = make_executor("process", workers=2, batch=1, timeout=2.0)
    folder = start(flaky, tmp_path, parameters={"stall": True}, executor=executor)
    outcomes = {name: decision.outcome for name, decision, _ in predictions(folder)}
    expected = {"i": Outcome.OK, "b": Outcome.TIMEOUT, "o": Outcome.FAILED}
    assert outcomes == {name: expected[name[-1]] for name in outcomes}
    assert len(outcomes) == 9
