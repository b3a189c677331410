"""Starting floorbench in a process of its own, and looking for what it leaves behind."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
INJECT = Path(__file__).resolve().parent / "inject"
CODE = re.compile(r"\b(FB\d{3})\b")
TRACE = "Traceback (most recent call last)"
LONGEST = 600.0
"""Seconds after which a command of a few seconds counts as hung; machines may be very busy."""


class Ended(NamedTuple):
    """How a command ended; ``status`` is negative for a signal, ``hung`` when it was cut off."""

    status: int
    out: str
    err: str
    seconds: float
    hung: bool

    @property
    def code(self) -> str | None:
        """The error code of a refusal."""
        found = CODE.search(self.err)
        return found[1] if found else None

    @property
    def trace(self) -> bool:
        """Whether a Python traceback was printed."""
        return TRACE in self.err


class Running:
    """A floorbench command under way.

    Parameters
    ----------
    words : sequence of str
        The command without the program's name.
    home : Path
        Folder for its cache; also where its output goes.
    faults : mapping
        Environment of ``inject/sitecustomize.py`` and of the toys.
    prefix : sequence of str
        Words before the interpreter, such as ``unshare -m``.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        home: Path,
        faults: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        self.mark = secrets.token_hex(8)
        home.mkdir(parents=True, exist_ok=True)
        self._files = [(home / f".{self.mark}.{n}").open("w+b") for n in ("out", "err")]
        for file in self._files:
            Path(file.name).unlink()  # they live as long as they are open
        self._begun = time.monotonic()
        self.process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "floorbench", *words],
            stdin=subprocess.DEVNULL,
            stdout=self._files[0],
            stderr=self._files[1],
            env=environment(home, mark=self.mark, **(faults or {})),
            cwd=home,
            start_new_session=True,
        )

    def kill(self) -> None:
        """Send SIGKILL to the process itself, not to its children."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Hold the process where it is, with all its locks; only killing it ends that."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGSTOP)

    def end(self, *, within: float = LONGEST) -> Ended:
        """Wait for the end; cut off what does not come to one."""
        hung = False
        try:
            self.process.wait(timeout=within)
        except subprocess.TimeoutExpired:
            hung = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        seconds = time.monotonic() - self._begun
        said = []
        for file in self._files:
            file.seek(0)
            said.append(file.read().decode("utf-8", "replace"))
            file.close()
        return Ended(self.process.returncode, said[0], said[1], seconds, hung)

    def says(self, what: bytes) -> bool:
        """Wait until the command has printed something; tell whether it has before it ended."""
        until = self._begun + LONGEST
        while time.monotonic() < until:
            ended = self.process.poll() is not None
            for file in self._files:
                if what in os.pread(file.fileno(), 1 << 20, 0):
                    return True
            if ended:
                break
            time.sleep(0.02)
        return False

    def orphans(self, *, within: float = 60.0) -> list[int]:
        """Return the processes that still run in its name after so many seconds at most."""
        until = time.monotonic() + within
        while left := marked(self.mark):
            if time.monotonic() > until:
                for pid in left:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                return left
            time.sleep(0.02)
        return []


def command(
    words: Sequence[str],
    *,
    home: Path,
    faults: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
) -> Ended:
    """Run a floorbench command to its end."""
    return Running(words, home=home, faults=faults, prefix=prefix).end()


def environment(home: Path, *, mark: str, **more: str) -> dict[str, str]:
    """Return the environment of a child: this checkout, the injected faults, a cache of its own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TORTURE_", "FLOORBENCH_"))}
    paths = [str(INJECT), str(ROOT / "src"), str(ROOT)]
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "FLOORBENCH_CACHE": str(home / "fb-cache"),
        "TORTURE_MARK": mark,
        **more,
    }


def marked(mark: str) -> list[int]:
    """Return the processes (zombies left out) whose environment carries a mark."""
    found = []
    needle = f"TORTURE_MARK={mark}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(OSError):
            if needle in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


def again(campaign: str, seed: int, case: str) -> str:
    """Return the command that repeats a case."""
    return f"python -m torture --campaign {campaign} --seed {seed} --only '{case}'"
