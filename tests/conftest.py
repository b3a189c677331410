"""Shared fixtures: no network but loopback, real data where it is, and what was left out."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell's script
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("no clock", deadline=None)  # no test asserts on wall-clock time
settings.load_profile("no clock")

REAL_DATA = os.environ.get("FLOORBENCH_REAL_DATA")
COMPLETE = os.environ.get("FLOORBENCH_COMPLETE") == "1"

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
CHROMIUM_ARGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--mute-audio"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PDFLATEX = shutil.which("pdflatex")
CHINESE = any(Path("/usr/share/fonts").rglob("*CJK*"))

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


@pytest.fixture(scope="session")
def chromium() -> Iterator[Callable[..., Any]]:
    """Start headless Chromiums, with more arguments if need be; left out when there is none."""
    from playwright.sync_api import sync_playwright

    started: list[Any] = []

    def start(*more: str) -> Any:
        args = [*CHROMIUM_ARGS, *more]
        started.append(playwright.chromium.launch(executable_path=CHROMIUM, args=args))
        return started[-1]

    with sync_playwright() as playwright:
        yield start
        for one in started:
            one.close()


@pytest.fixture(scope="session")
def browser(chromium: Callable[..., Any]) -> Any:
    """A headless Chromium for the whole session."""
    return chromium()


@pytest.fixture
def pdflatex() -> str:
    """The LaTeX compiler; tests that ask for it are left out when there is none."""
    assert PDFLATEX is not None
    return PDFLATEX


@pytest.fixture
def chinese_font() -> None:
    """Ask for a font with Chinese characters; left out when there is none."""


HF = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))
RAY = importlib.util.find_spec("ray") is not None
SPEECH = all(
    importlib.util.find_spec(name)
    for name in ("jiwer", "whisper_normalizer", "zhconv", "cn2an", "pypinyin", "python_stretch")
)


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[Any]:
    """A Ray cluster of one node with two cores, to which nodes can be added; this process joins."""
    from support.ray_local import cluster

    with cluster() as started:
        yield started


# What a fixture or a mark needs of the machine, whether it is there, and what to do when it is not.
NEEDS = {
    "real_data": ("real files (set FLOORBENCH_REAL_DATA)", REAL_DATA is not None),
    "chromium": ("a browser (install Debian's chromium)", CHROMIUM is not None),
    "pdflatex": ("pdflatex (install texlive-latex-recommended)", PDFLATEX is not None),
    "chinese_font": ("a Chinese font (install fonts-noto-cjk)", CHINESE),
    "needs_hf": ("torch and transformers (make test EXTRAS=test,hf)", HF),
    "needs_ray": ("Ray (make test EXTRAS=test,ray)", RAY),
    "needs_speech": ("the scorers of speech (the extra test has them)", SPEECH),
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out (and name) tests whose needs this machine does not meet; in CI that is an error."""
    for need, (what, met) in NEEDS.items():
        if met:
            continue
        dropped = [
            item
            for item in items
            if need in getattr(item, "fixturenames", ()) or item.get_closest_marker(need)
        ]
        if dropped and COMPLETE:
            raise pytest.UsageError(f"FLOORBENCH_COMPLETE=1, but there is no {what}")
        if dropped:
            items[:] = [item for item in items if item not in dropped]
            _left_out[what] = len(dropped)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that prints what was left out, when this one works for it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = _left_out


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Hear from a worker process what it left out; every one leaves out the same."""
    _left_out.update(getattr(node, "workeroutput", {}).get("left_out", {}))


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
