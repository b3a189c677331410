"""Shared fixtures: no network but loopback, real data where it is, and what was left out."""

from __future__ import annotations

import importlib.util
import os
import socket
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("no clock", deadline=None)  # no test asserts on wall-clock time
settings.load_profile("no clock")

REAL_DATA = os.environ.get("FLOORBENCH_REAL_DATA")
COMPLETE = os.environ.get("FLOORBENCH_COMPLETE") == "1"

_connect = socket.socket.connect
_left_out: dict[str, int] = {}


def _loopback_only(self: socket.socket, address: object) -> object:
    if self.family in (socket.AF_INET, socket.AF_INET6):
        host = str(address[0]) if isinstance(address, tuple) else str(address)
        if not (host.startswith("127.") or host in ("::1", "localhost")):
            raise AssertionError(f"a test tried to reach {host}; only loopback is allowed")
    return _connect(self, address)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _loopback_only)


@pytest.fixture
def real_data() -> Path:
    """Folder of real files; tests that ask for it are left out when there is none."""
    assert REAL_DATA is not None
    return Path(REAL_DATA)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out (and name) tests whose real data or libraries are absent."""
    _without_transformers(items)
    _without_real_data(items)


def _without_transformers(items: list[pytest.Item]) -> None:
    if all(importlib.util.find_spec(name) for name in ("torch", "transformers")):
        return
    dropped = [item for item in items if item.get_closest_marker("needs_hf") is not None]
    if dropped:
        items[:] = [item for item in items if item not in dropped]
        _left_out["torch and transformers (the extra hf)"] = len(dropped)


def _without_real_data(items: list[pytest.Item]) -> None:
    """Leave out tests whose real data is absent; in CI that is an error."""
    if REAL_DATA is not None:
        return
    kept, dropped = [], []
    for item in items:
        needs = "real_data" in getattr(item, "fixturenames", ())
        (dropped if needs else kept).append(item)
    if dropped and COMPLETE:
        raise pytest.UsageError("FLOORBENCH_REAL_DATA is not set and FLOORBENCH_COMPLETE=1")
    if dropped:
        items[:] = kept
        _left_out["real files (set FLOORBENCH_REAL_DATA)"] = len(dropped)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was left out."""
    for what, count in _left_out.items():
        terminalreporter.write_line(f"left out: {count} tests that need {what}")


@pytest.fixture(scope="session")
def golden_bytes() -> dict[str, bytes]:
    """One golden annotation file per format."""
    from floorbench.formats import read

    folder = Path(__file__).parent / "golden" / "formats"
    files = [p for p in sorted(folder.iterdir()) if p.name not in ("README.md", "expected.json")]
    return {read(path).format: path.read_bytes() for path in files}
