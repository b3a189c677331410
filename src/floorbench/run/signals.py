"""SIGINT and SIGTERM during a run: stop at once, but never in the middle of a line."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import ClassVar

from floorbench.errors import FloorbenchError


class RunInterrupted(FloorbenchError):
    """The run was stopped by a signal; the hint says how to go on."""

    exit_code: ClassVar[int] = 130


class Signals:
    """SIGINT and SIGTERM as ``KeyboardInterrupt``, but never in the middle of a write."""

    def __init__(self) -> None:
        self._holding = False
        self._pending = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if not self._holding:
            raise KeyboardInterrupt
        self._pending = True

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep signals back until the block is done."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self._pending:
            raise KeyboardInterrupt
