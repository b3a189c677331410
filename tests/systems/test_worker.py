"""A program as a system: whatever it does, each observation gets its outcome."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import SystemProblem, UsageError
from floorbench.run.deciding import decide_all
from floorbench.systems.worker import LOSSES, CommandSystem

PROGRAM = """
import os, sys, time
import floorbench_worker as worker
def answer(item):
    text = item.get("text", "")
    if text == "die": os._exit(7)
    if text == "hang": time.sleep(60)
    if text == "raise": raise ValueError("no such thing")
    return {"label": text, "raw": str(os.getpid())}
def predict(model, items):
    said = [answer(item) for item in items]
    return said[1:] if any(item.get("text") == "short" for item in items) else said
hello = {"name": "toy", "version": "1", "modalities": ["text"], "batch": 3, "licence": "none"}
worker.serve({**hello, **%s}, lambda: None, predict)
"""


@pytest.fixture
def make(tmp_path):
    made = []

    def build(hello="{}", program=PROGRAM, **more):
        file = tmp_path / "program.py"
        file.write_text(program % hello if "%s" in program else program)
        system = CommandSystem(command=[sys.executable, str(file)], load_timeout=60.0, **more)
        made.append(system)
        return system

    yield build
    for system in made:
        system.close()


def words(text, **more):
    return Observation(language="en", text=text, **more)


def test_it_says_what_it_is_and_answers(make):
    system = make()
    system.load()
    assert (system.spec.name, system.spec.licence) == ("toy", "none")
    assert system.decide(words("complete")).label == "complete"


def test_the_program_lives_from_answer_to_answer_and_loads_once(make):
    system = make()
    system.load()
    system.load()
    first, second = system.decide(words("a")), system.decide(words("b"))
    assert first.raw == second.raw


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        ("die", Outcome.FAILED, "FB551 it ended with status 7"),
        ("raise", Outcome.FAILED, "the system reports: ValueError: no such thing"),
        ("short", Outcome.FAILED, "0 answers to 1 item"),
    ],
)
def test_a_fault_is_an_outcome_and_the_next_answer_comes(make, text, outcome, reason):
    system = make()
    system.load()
    decision = system.decide(words(text))
    assert decision.outcome is outcome
    assert reason in decision.reason
    assert system.decide(words("fine")).label == "fine"


def test_a_program_that_hangs_is_a_timeout_and_is_ended(make):
    system = make(timeout=1.0)
    system.load()
    before = system.decide(words("a")).raw
    decision = system.decide(words("hang"))
    assert (decision.outcome, decision.reason) == (Outcome.TIMEOUT, "no answer in time (1 s)")
    assert system.decide(words("b")).raw != before


def test_a_program_that_prints_is_a_failure_with_what_it_printed(make):
    noisy = PROGRAM.replace("def answer(item):", "def answer(item):\n    os.write(3, b'loud\\n')")
    noisy = noisy.replace("import os, sys, time", "import os, sys, time\nos.dup2(1, 3)")
    system = make(program=noisy)
    system.load()
    decision = system.decide(words("a"))
    assert decision.outcome is Outcome.FAILED
    assert "something that is no message: 'loud'" in decision.reason


def test_a_batch_is_the_single_answers_and_survives_its_worst_item(make):
    system = make()
    system.load()
    seen = [words(t) for t in ("a", "b", "die", "c", "short", "d", "e")]
    said = [a.decision for a in decide_all(system, seen, timeout=None)]
    assert [d.label for d in said] == ["a", "b", None, "c", None, "d", "e"]
    assert [d.outcome for d in said].count(Outcome.FAILED) == 2


def test_a_program_that_is_always_lost_is_given_up(make):
    system = make()
    system.load()
    reasons = [system.decide(words("die")).reason for _ in range(LOSSES + 2)]
    assert "status 7" in reasons[LOSSES - 1]
    assert f"given up after {LOSSES} losses" in reasons[-1]


def test_sound_is_sent_as_samples_up_to_the_cutoff(make):
    echo = PROGRAM.replace(
        'text = item.get("text", "")',
        'text = str(len(worker.samples(item["channels"]["user"])))',
    )
    system = make("{'rate': 16000, 'modalities': ['audio']}", program=echo)
    system.load()
    audio = ArrayAudio(np.zeros(16_000, dtype=np.float32), rate=16_000, cutoff=0.25)
    assert system.decide(words(None, channels={Role.USER: audio})).label == "4000"
    assert system.decide(words("x")).outcome is Outcome.UNSUPPORTED


@pytest.mark.parametrize(
    ("program", "words_"),
    [
        (
            "import sys; sys.exit('no weights in DIR')",
            "status 1; its last words: no weights in DIR",
        ),
        ("print('Loading ...', flush=True)\nimport time; time.sleep(60)", "no message: 'Loading"),
        ("import sys; sys.stdin.read()", "did not say hello within 1 s"),
        ('print(\'{"type": "hello"}\', flush=True); input()', "missing required field"),
    ],
)
def test_a_program_that_cannot_be_loaded_is_one_clear_message(make, program, words_):
    system = make(program=program)
    system._program._load_timeout = 1.0 if "hello within" in words_ else 60.0
    with pytest.raises(SystemProblem, match=words_):
        system.load()


def test_no_command_says_how(make):
    with pytest.raises(UsageError, match="FB551 there is no command") as caught:
        CommandSystem(how="set it up first").load()
    assert "set it up first" in str(caught.value)
    with pytest.raises(UsageError, match="FB551 there is no command") as caught:
        CommandSystem().load()
    assert "--set command=" in str(caught.value)
    for wrong in ({"timeout": 0.0}, {"load_timeout": -1}):
        with pytest.raises(UsageError, match="FB513"):
            CommandSystem(command="x", **wrong)
