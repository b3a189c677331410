import os
import signal
import socket
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from floorbench.errors import EnvironmentProblem
from floorbench.run import ray_start
from floorbench.run.ray_start import Connection, first_line, hush, library


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EnvironmentProblem, match=r"FB401 .*'ray'") as caught:
        library()
    assert 'pip install "floorbench[ray]"' in caught.value.hint


class FakeRay:
    """Ray as far as a connection knows it."""

    def __init__(self, *, initialized: bool = False, error: Exception | None = None) -> None:
        self.calls: list[str] = []
        self.initialized, self.error = initialized, error
        self._private = SimpleNamespace(worker=SimpleNamespace())

    def is_initialized(self) -> bool:
        return self.initialized

    def init(self, **options: Any) -> None:
        self.calls.append(f"init {options['address']}")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self.error is not None:
            raise self.error

    def shutdown(self) -> None:
        self.calls.append("shutdown")


def test_nobody_at_the_address_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeRay()
    monkeypatch.setattr(ray_start, "library", lambda: fake)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(EnvironmentProblem, match=f"FB516 Ray: cluster at '{address}' cannot"):
            Connection(address, cpus=1)
    assert fake.calls == []


def test_what_ray_says_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeRay(error=ConnectionError("\n no cluster here\n and more"))
    monkeypatch.setattr(ray_start, "library", lambda: fake)
    with pytest.raises(EnvironmentProblem, match="cannot be joined: no cluster here\nhint") as told:
        Connection("auto", cpus=1)
    assert "and more" not in str(told.value)
    assert fake.calls == ["init auto", "shutdown"]
    assert first_line(ValueError()) == "ValueError"


def test_a_start_that_fails_is_tried_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeRay(error=Exception("The current node timed out during startup."))
    monkeypatch.setattr(ray_start, "library", lambda: fake)
    monkeypatch.setattr(ray_start, "_below", list)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(EnvironmentProblem, match="FB516 Ray: cannot be started here: The current"):
        Connection(None, cpus=1)
    assert fake.calls == ["init local", "shutdown"] * ray_start.TRIES + ["shutdown"]


def test_an_empty_address_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeRay(error=Exception("stop here"))
    monkeypatch.setattr(ray_start, "library", lambda: fake)
    monkeypatch.setattr(ray_start, "_below", list)
    monkeypatch.setenv("RAY_ADDRESS", "")
    with pytest.raises(EnvironmentProblem, match="FB516 Ray: cannot be started here: stop here"):
        Connection("", cpus=1)
    assert "RAY_ADDRESS" not in os.environ


def test_what_is_joined_is_left_and_signals_stay_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeRay()
    monkeypatch.setattr(ray_start, "library", lambda: fake)
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    handler = signal.getsignal(signal.SIGTERM)
    connection = Connection(None, cpus=1)
    assert signal.getsignal(signal.SIGTERM) is handler
    assert not connection.started
    connection.close()
    connection.close()
    assert fake.calls == ["init auto", "shutdown"]


def test_what_was_there_before_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeRay(initialized=True)
    monkeypatch.setattr(ray_start, "library", lambda: fake)
    Connection("auto", cpus=1).close()
    assert fake.calls == []


def test_ray_does_not_print(capsys: pytest.CaptureFixture[str]) -> None:
    fake = FakeRay()
    hush(fake)  # nothing to hush is no error
    fake._private.worker.print_to_stdstream = print
    hush(fake)
    fake._private.worker.print_to_stdstream({"lines": ["a worker died"]}, ignore_prefix=False)
    assert capsys.readouterr().out == ""
