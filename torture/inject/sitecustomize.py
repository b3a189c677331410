"""Faults that a child process does to itself, asked for by environment variables.

Python imports this before anything else when its folder stands in PYTHONPATH. Only the process
that was asked for is touched; the variables are taken out, so that its own children are not.

TORTURE_KILL_AT=k
    End with SIGKILL before the k-th file operation below TORTURE_UNDER (a write: after half of it).
TORTURE_COUNT=FILE
    Write the number of such operations to a file at the end.
TORTURE_CLOCK=AT:OFFSET,...
    Move the wall clock by OFFSET seconds from AT seconds of process time on (children too).
TORTURE_LARGEST=BYTES
    No file may grow beyond this (as RLIMIT_FSIZE; children too).
"""

import os
import sys

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")


def _operations(kill_at, count_file, under):
    import atexit
    import signal

    state = {"n": 0}
    descriptors = {}
    below = os.path.abspath(under)

    def inside(path):
        if isinstance(path, int):
            return path in descriptors
        try:
            return os.path.abspath(os.fsdecode(path)).startswith(below)
        except (TypeError, ValueError):
            return False

    def step(half=None):
        state["n"] += 1
        if state["n"] == kill_at:
            if half is not None:
                half()
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event, args):
        if event == "open":
            path, _, flags = args
            if isinstance(path, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
            if inside(path):
                step()
        elif event in _CHANGES and inside(args[0]):
            step()

    real_open, real_write, real_fsync, real_close = os.open, os.write, os.fsync, os.close

    def opened(path, flags, *more, **named):
        handle = real_open(path, flags, *more, **named)
        if not isinstance(path, int) and inside(path):
            descriptors[handle] = True
        return handle

    def write(handle, data):
        if handle in descriptors:
            step(lambda: real_write(handle, bytes(data)[: len(data) // 2]))
        return real_write(handle, data)

    def fsync(handle):
        step()
        return real_fsync(handle)

    def close(handle):
        descriptors.pop(handle, None)
        return real_close(handle)

    os.open, os.write, os.fsync, os.close = opened, write, fsync, close
    sys.addaudithook(hook)
    if count_file:

        def tell():
            with open(count_file, "w") as out:
                out.write(str(state["n"]))

        atexit.register(tell)


def _clock(plan):
    import datetime as module
    import time

    jumps = sorted(tuple(map(float, one.split(":"))) for one in plan.split(","))
    began = time.monotonic()
    real_time, real_ns = time.time, time.time_ns

    def offset():
        gone = time.monotonic() - began
        passed = [by for at, by in jumps if gone >= at]
        return passed[-1] if passed else 0.0

    time.time = lambda: real_time() + offset()
    time.time_ns = lambda: real_ns() + int(offset() * 1e9)

    class Moved(module.datetime):
        @classmethod
        def now(cls, tz=None):
            return super().now(tz) + module.timedelta(seconds=offset())

        @classmethod
        def utcnow(cls):
            return super().utcnow() + module.timedelta(seconds=offset())

    module.datetime = Moved


_kill, _count = os.environ.pop("TORTURE_KILL_AT", ""), os.environ.pop("TORTURE_COUNT", "")
if _kill or _count:
    _operations(int(_kill or 0), _count, os.environ.get("TORTURE_UNDER", "/nowhere"))
if os.environ.get("TORTURE_CLOCK"):
    _clock(os.environ["TORTURE_CLOCK"])
if os.environ.get("TORTURE_LARGEST"):
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["TORTURE_LARGEST"]),) * 2)
