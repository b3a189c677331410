"""Joining a Ray cluster, or starting one on this machine that ends with this process."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from floorbench.errors import EnvironmentProblem, missing_extra

TRIES = 2  # to start Ray here
OBJECT_STORE = 80 << 20  # bytes; nothing is put into it, and Ray takes no less
# A loopback address: 127.0.0.1 would be turned by Ray into the machine's own.
LOOPBACK = "127.0.0.2" if sys.platform == "linux" else None
# Ray's processes die with the one that started them, but for two agents, which first try for a
# minute to tell the dead of it. This ends them: it reads their numbers and waits for the end.
_WATCH = """
import os, signal, sys
for pid in map(int, sys.stdin.read().split()):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            ours = b"ray" in file.read()
        if ours:
            os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
"""


def library() -> Any:
    """Import Ray so that it sends nothing home and leaves a worker without GPUs its view of them.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` when it is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        ray = importlib.import_module("ray")
        importlib.import_module("ray.exceptions")
    except ImportError:
        raise missing_extra("ray", "ray") from None
    return ray


class Connection:
    """This process and a cluster: what was joined or started here is left or stopped here.

    Parameters
    ----------
    address : str or None
        ``None`` takes the variable ``RAY_ADDRESS``, else starts Ray on this machine.
    cpus : int
        Cores that Ray may give out where it is started here; more than there are is possible.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` without Ray, ``FB516`` when there is no cluster.
    """

    def __init__(self, address: str | None, *, cpus: int) -> None:
        self.ray = library()
        self.started = False
        self._joined = False
        self._watch: subprocess.Popen[bytes] | None = None
        if self.ray.is_initialized():
            return
        hush(self.ray)
        if not os.environ.get("RAY_ADDRESS", "unset"):
            del os.environ["RAY_ADDRESS"]  # empty means none; Ray would look there
        where = address or os.environ.get("RAY_ADDRESS")
        try:
            if where is not None:
                _knock(where)
            self._joined = True
            with _own_sigterm():
                self._join(where) if where is not None else self._start(cpus)
        except Exception as error:  # Ray raises anything, bare exceptions too
            self.close()
            what = f"cluster at '{where}' cannot be joined" if where else "cannot be started here"
            raise EnvironmentProblem("FB516", f"Ray: {what}: {first_line(error)}") from None
        except BaseException:
            self.close()
            raise

    def _join(self, address: str) -> None:
        self.ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)

    def _start(self, cpus: int) -> None:
        self.started = True
        others = set(_below())
        for left in reversed(range(TRIES)):
            try:
                self.ray.init(
                    address="local",
                    num_cpus=cpus,
                    include_dashboard=False,
                    object_store_memory=OBJECT_STORE,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    _node_ip_address=LOOPBACK,
                )
                break
            except Exception:  # a busy machine: Ray gives itself half a minute
                self.ray.shutdown()
                for process in set(_below()) - others:
                    process.kill()
                if not left:
                    raise
        below = "\n".join(str(process.pid) for process in _below()).encode()
        self._watch = subprocess.Popen(
            [sys.executable, "-IS", "-c", _WATCH], stdin=subprocess.PIPE, start_new_session=True
        )
        assert self._watch.stdin is not None  # noqa: S101 -- it is a pipe
        self._watch.stdin.write(below + b"\n")
        self._watch.stdin.flush()

    def close(self) -> None:
        """Leave the cluster or stop it; safe to call twice."""
        if self._joined:
            self._joined = False
            self.ray.shutdown()
        if self._watch is not None:
            self._watch.communicate()
            self._watch = None


def _below() -> list[Any]:
    """Return the processes that this one and its children have started."""
    me = importlib.import_module("psutil").Process()  # Ray brings its own
    return list(me.children(recursive=True))


@contextlib.contextmanager
def _own_sigterm() -> Iterator[None]:
    """Keep the handler of SIGTERM: Ray puts its own in its place."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


def hush(ray: Any) -> None:
    """Keep Ray off standard output: it tells of dead workers there whatever it is asked."""
    inside = ray._private.worker
    if hasattr(inside, "print_to_stdstream"):
        inside.print_to_stdstream = lambda *_, **__: None


def _knock(address: str) -> None:
    """Raise ``OSError`` when nobody listens: Ray itself would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def first_line(error: BaseException) -> str:
    """Return one line of what an error says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:240] if lines else type(error).__name__
