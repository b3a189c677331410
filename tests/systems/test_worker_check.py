from __future__ import annotations

import pytest

from floorbench.systems.worker_check import check_program
from support import stands


def faults(command):
    return {c.name: c.detail for c in check_program(command, timeout=5.0) if not c.fine}


def test_a_good_program_has_no_fault(tmp_path):
    assert faults(stands.program(tmp_path, hello="{'batch': 4, 'deterministic': True}")) == {}


def test_a_good_stream_has_no_fault(tmp_path):
    assert faults(stands.stream_program(tmp_path)) == {}


@pytest.mark.parametrize(
    ("answer", "where", "words"),
    [
        ("{'label': 'done'}", "answers a whole observation", "'done' is not declared"),
        ("{}", "answers a whole observation", "ok without a label"),
        ("{'outcome': 'invalid'}", "answers a whole observation", "without a reason"),
        ("{'lable': 'x'}", "answers a whole observation", "unknown key"),
        ("{'label': 'complete', 'raw': str(__import__('time').time_ns())}",
         "gives the same answer twice", ""),
    ],
)  # fmt: skip
def test_faults_are_named(tmp_path, answer, where, words):
    found = faults(stands.program(tmp_path, answer))
    assert where in found
    assert words in found[where]


@pytest.mark.parametrize(
    ("change", "words"), [("[::-1]", "another order"), ("[1:]", "FB552 2 answers to 3 items")]
)
def test_a_batch_in_disorder_or_too_short_is_a_fault(tmp_path, change, words):
    command = stands.program(
        tmp_path,
        "{'label': 'complete', 'raw': str(len(item['channels']['user']['f32']))}",
        hello="{'batch': 3, 'deterministic': True}",
    )
    file = tmp_path / "worker_program.py"
    file.write_text(file.read_text().replace("for item in items]", f"for item in items]{change}"))
    if change == "[1:]":  # alone it answers
        file.write_text(file.read_text().replace(change, "[len(items) > 1:]"))
    found = faults(command)
    assert list(found) == ["a batch of 3 is the single answers"]
    assert words in found["a batch of 3 is the single answers"]


def test_a_program_that_says_nothing_or_does_not_start():
    assert "status 0" in faults("true")["goes on"]
    assert "does not start" in faults("no-such-program")["goes on"]
