"""Peak memory of one process, without what it inherits.

``ru_maxrss`` of a new program starts at what its parent held when it started it, so that a large
parent hides a small child. The peak of a program's own memory is in ``/proc/self/status``; where
that is not there, and for programs of others, a small process stands between.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

_BETWEEN = """
import os, subprocess, sys
quiet = subprocess.DEVNULL
child = subprocess.Popen(sys.argv[1:], stdout=quiet, stderr=quiet)
_, status, used = os.wait4(child.pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024)
"""


def own() -> int:
    """Return the peak resident set size of this process in bytes."""
    try:
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    kilobytes = next(line for line in lines if line.startswith("VmHWM:")).split()[1]
    return int(kilobytes) * 1024


def of_program(*words: str) -> int:
    """Run a program to its end; return the peak resident set size of it in bytes.

    At least the few megabytes of the process that starts it.
    """
    done = subprocess.run(
        [sys.executable, "-S", "-c", _BETWEEN, *words], check=True, capture_output=True, text=True
    )
    status, peak = map(int, done.stdout.split())
    if status:
        raise AssertionError(f"{words} ended with {status}")
    return peak
