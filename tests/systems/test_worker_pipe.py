"""Programs that behave and programs that do not, at the end of a pipe."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from floorbench.errors import SystemProblem, UsageError
from floorbench.systems import worker_pipe
from floorbench.systems.worker_pipe import Pipe, parse, split


def python(text):
    return [sys.executable, "-c", text]


def soon(seconds=20.0):
    return time.monotonic() + seconds


def test_commands_are_split_without_a_shell():
    assert split("python 'my file.py' $HOME") == ["python", "my file.py", "$HOME"]
    assert split(["a b", "c"]) == ["a b", "c"]
    for nothing in ("", [], "'open"):
        with pytest.raises(UsageError, match="FB551"):
            split(nothing)


def test_a_program_that_is_not_there():
    with pytest.raises(SystemProblem, match="FB551 'no-such-program' does not start"):
        Pipe("no-such-program")


def test_lines_come_whole_and_signs_of_life_are_not_messages():
    pipe = Pipe(python(
        "import sys, time\n"
        "w = sys.stdout.write\n"
        "w('{\"type\": \"heartbeat\"}\\n{\"type\": \"a\"')\n"
        "sys.stdout.flush(); time.sleep(0.1)\n"
        "w('}\\n\\n{\"type\": \"b\"}\\n')\n"
    ))  # fmt: skip
    assert [pipe.receive(until=soon())["type"] for _ in range(2)] == ["a", "b"]
    with pytest.raises(SystemProblem, match="ended with status 0"):
        pipe.receive(until=soon())
    pipe.end()


def test_a_program_that_dies_says_its_last_words():
    pipe = Pipe(python("import sys; print('out of memory', file=sys.stderr); sys.exit(3)"))
    with pytest.raises(SystemProblem, match=r"FB551 it ended with status 3; .*out of memory"):
        pipe.receive(until=soon())
    pipe.end()


def test_a_program_that_is_killed_is_told_by_its_signal():
    pipe = Pipe(python("import os; os.kill(os.getpid(), 9)"))
    with pytest.raises(SystemProblem, match="SIGKILL"):
        pipe.receive(until=soon())
    pipe.end()


@pytest.mark.parametrize("line", [b"hello", b"[1]", b"3", b'{"a": NaN}', b"\xff\xfe"])
def test_what_is_no_message_is_shown(line):
    with pytest.raises(SystemProblem, match="FB552 it wrote something"):
        parse(line)


def test_a_program_that_hangs_is_not_waited_for():
    pipe = Pipe(python("import time; time.sleep(60)"))
    with pytest.raises(TimeoutError, match="no answer in time"):
        pipe.receive(until=soon(0.1))
    pipe.end()


def test_signs_of_life_that_stop_end_the_waiting_early():
    pipe = Pipe(python('print(\'{"type": "heartbeat"}\', flush=True)\nimport time; time.sleep(60)'))
    pipe.heartbeat = 0.05
    with pytest.raises(TimeoutError, match="no sign of life"):
        pipe.receive(until=soon(50))
    pipe.end()


def test_a_program_that_does_not_read_does_not_block_us():
    pipe = Pipe(python("import time; time.sleep(60)"))
    with pytest.raises(TimeoutError, match="does not read"):
        pipe.send({"type": "predict", "text": "x" * 1_000_000}, until=soon(0.3))
    pipe.end()


def test_a_program_may_write_a_lot_while_it_is_written_to():
    pipe = Pipe(python(
        "import sys\n"
        "print('{\"type\": \"a\", \"x\": \"' + 'y' * 500000 + '\"}', flush=True)\n"
        "print('{\"type\": \"b\", \"n\": %d}' % len(sys.stdin.readline()), flush=True)\n"
        "sys.stdin.read()\n"
    ))  # fmt: skip
    pipe.send({"type": "predict", "text": "x" * 1_000_000}, until=soon())
    assert len(pipe.receive(until=soon())["x"]) == 500_000
    assert pipe.receive(until=soon())["n"] > 1_000_000
    assert pipe.end(grace=10.0) == 0


def test_a_line_without_an_end_is_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr(worker_pipe, "LONGEST", 3 << 20)
    pipe = Pipe(python("import sys\nwhile True: sys.stdout.write('y' * 100000)"))
    with pytest.raises(SystemProblem, match="FB552 writes a line of more than 3 MiB"):
        pipe.receive(until=soon())
    pipe.end()


def test_grandchildren_die_too(tmp_path):
    mark = tmp_path / "pid"
    pipe = Pipe(python(
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(mark)!r}, 'w').write(str(p.pid))\n"
        "print('{\"type\": \"up\"}', flush=True); time.sleep(60)\n"
    ))  # fmt: skip
    pipe.receive(until=soon())
    pid = int(mark.read_text())
    pipe.end()
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return
        time.sleep(0.01)
    raise AssertionError("a grandchild lives on")
