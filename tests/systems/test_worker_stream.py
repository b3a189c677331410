from __future__ import annotations

import sys

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome, Role
from floorbench.systems.stream import StreamDriver
from floorbench.systems.worker_stream import CommandStream
from support import stands


@pytest.fixture
def make(tmp_path):
    made = []

    def build(change=("", ""), **more):
        file = tmp_path / "stream.py"
        file.write_text(stands.STREAM.replace(*change))
        system = CommandStream(command=[sys.executable, str(file)], load_timeout=60.0, **more)
        made.append(system)
        return StreamDriver(system)

    yield build
    for system in made:
        system.close()


def heard():
    samples = np.concatenate([np.zeros(4000), np.full(4000, 0.3)]).astype(np.float32)
    return Observation(language="en", channels={Role.USER: ArrayAudio(samples, rate=16_000)})


def said(decision):
    return [(e.label, e.time, e.commit) for e in decision.events if e.kind != "observed"]


def test_events_get_the_commit_time_of_their_step(make):
    driver = make()
    driver.load()
    assert driver.spec.streaming_step == 0.1
    first, second = driver.decide(heard()), driver.decide(heard())
    assert said(first) == said(second) == [("yield", 0.3, 0.3)]
    assert first.outcome is Outcome.OK


@pytest.mark.parametrize(
    ("old", "new", "outcome", "reason"),
    [
        ("self.done = True", "raise ValueError('lost')", Outcome.FAILED, "ValueError: lost"),
        ("self.done = True", "import os; os._exit(4)", Outcome.FAILED, "status 4"),
        ("self.done = True", "import time; time.sleep(60)", Outcome.TIMEOUT, "no answer"),
        ('"time": chunk["end"]', '"time": 9.0', Outcome.FAILED, "FB543"),
        ('"time": chunk["end"]', '"when": 9.0', Outcome.FAILED, "unknown key 'when'"),
    ],
)
def test_a_fault_stays_with_its_stream(make, old, new, outcome, reason):
    driver = make((old, new), timeout=2.0)
    driver.load()
    decision = driver.decide(heard())
    assert decision.outcome is outcome
    assert reason in decision.reason
    quiet = ArrayAudio(np.zeros(4000, dtype=np.float32), rate=16_000)
    after = driver.decide(Observation(language="en", channels={Role.USER: quiet}))
    assert after.outcome is Outcome.OK
