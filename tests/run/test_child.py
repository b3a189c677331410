"""A child process: what it says in lines, how it ends, and that nothing of it stays."""

import os
import selectors
from pathlib import Path

import pytest

from floorbench import codec
from floorbench.run.child import Child, death

HELLO = codec.encode({"system": {"name": "always-takeover", "parameters": {}}, "timeout": None})


def lines(child: Child) -> list[bytes] | None:
    with selectors.DefaultSelector() as selector:
        selector.register(child.pipe, selectors.EVENT_READ)
        said: list[bytes] | None = []
        while said == []:
            selector.select()
            said = child.receive()
        return said


def test_it_answers_its_first_line_and_is_gone_when_it_is_killed() -> None:
    child = Child("floorbench.run.worker", HELLO)
    (greeting,) = lines(child) or ()
    assert codec.parse(greeting)["ready"]["name"] == "always-takeover"
    assert child.kill() == -9
    with pytest.raises(ProcessLookupError):
        os.kill(child.process.pid, 0)


def test_one_that_ends_by_itself_keeps_its_own_status() -> None:
    child = Child("floorbench.no_such_module", HELLO)
    assert lines(child) is None
    assert child.closed
    assert child.kill() == 1


def test_variables_are_added_to_those_of_this_process() -> None:
    child = Child("floorbench.run.worker", HELLO, {"PYTHONSTARTUP": "here"})
    try:
        assert lines(child) is not None  # it runs: between fork and exec it has no environment
        environment = Path(f"/proc/{child.process.pid}/environ").read_bytes()
        assert b"PYTHONSTARTUP=here" in environment.split(b"\0")
    finally:
        child.kill()


@pytest.mark.parametrize(
    ("status", "said"),
    [(0, "exit status 0"), (3, "exit status 3"), (-9, "SIGKILL"), (-99, "signal 99")],
)
def test_an_end_in_words(status: int, said: str) -> None:
    assert death(status) == said
