import json
import os
import subprocess
import sys
from typing import Any

from floorbench.core.sample import Observation
from floorbench.errors import DataError, Place
from floorbench.run.processes import error_from_wire
from floorbench.run.wire import observation_hash
from floorbench.run.worker import error_to_wire
from support.engine_toys import Deadly, Listening, System, Unloadable


def talk(kind: type, *batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    hello = {
        "system": {"name": f"support.engine_toys:{kind.__name__}", "parameters": {}},
        "timeout": None,
    }
    lines = [hello, *({"items": b} for b in batches)]
    process = subprocess.Popen(
        [sys.executable, "-m", "floorbench.run.worker"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
    process.stdin.flush()
    expected = 1 + 2 * len(batches)
    answers = []
    while len(answers) < expected and (line := process.stdout.readline()):
        answers.append(json.loads(line))
    process.stdin.close()
    process.wait(timeout=20)
    assert process.stdout.read() == ""
    process.stdout.close()
    return answers


def test_the_conversation_is_json_lines_and_nothing_else() -> None:
    # Deadly prints while it answers; that must not reach the pipe.
    ready, observed, answers = talk(Deadly, [{"language": "en", "text": "1"}])
    assert ready["ready"]["name"] == "toy-system"
    assert observed == {"observed": [observation_hash(Observation(language="en", text="1"))]}
    decision, compute = answers["answers"][0]
    assert (decision["outcome"], decision["label"]) == ("ok", "yes")
    assert compute["wall"] >= 0


def test_one_worker_answers_many_batches() -> None:
    batch = [{"language": "en", "text": str(i)} for i in range(3)]
    found = talk(System, batch, batch[:1])
    assert [len(m["answers"]) for m in found[2::2]] == [3, 1]


def test_a_system_that_does_not_load_is_refused_in_words() -> None:
    (refused,) = talk(Unloadable)
    assert refused["refused"]["code"] == "FB501"
    assert "weights are gone" in refused["refused"]["what"]


def test_a_fault_of_the_worker_itself_is_not_put_on_the_system() -> None:
    found = talk(System, [{"no": "language"}])
    assert found[1]["refused"]["code"] == "FB509"
    assert found[1]["refused"]["what"] == "the worker process failed: KeyError: 'language'"


def test_errors_cross_whole() -> None:
    error = DataError("FB202", "bad", where=Place("f", 3, None), hint="do")
    back = error_from_wire(json.loads(json.dumps(error_to_wire(error))))
    assert type(back) is DataError
    assert str(back) == str(error)
    bare = DataError("FB202", "bad")
    assert str(error_from_wire(error_to_wire(bare))) == str(bare)


def test_a_system_that_reads_standard_input_gets_none_of_the_conversation() -> None:
    batch = [{"language": "en", "text": "1"}]
    _, *found = talk(Listening, batch, batch)
    assert [m["answers"][0][0]["raw"] for m in found[1::2]] == ["''b''"] * 2
