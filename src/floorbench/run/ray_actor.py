"""The side of Ray on which the work is done: one object, made from a hello and asked by name."""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Mapping
from typing import Any

from floorbench import __version__, codec
from floorbench.errors import EnvironmentProblem
from floorbench.run.worker import error_to_wire


class Serving:
    """What an actor holds; every answer is JSON, ``{"done": ...}`` or ``{"refused": error}``."""

    def __init__(self) -> None:
        self._served: Any = None
        self._module: Any = None

    def open(self, opening: Mapping[str, Any]) -> bytes:
        """Load what is to be served and return its ``greeting``.

        ``FB517`` is refused for another version of floorbench than the caller's.
        """
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides when to stop
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if opening["version"] != __version__:
            what = f"a node has floorbench {__version__}, the caller {opening['version']}"
            return codec.encode({"refused": error_to_wire(EnvironmentProblem("FB517", what))})
        module, _, name = opening["served"].partition(":")
        self._module = importlib.import_module(module)
        try:
            self._served = getattr(self._module, name)(opening["hello"])
            return codec.encode({"done": self._served.greeting})
        except Exception as error:
            return codec.encode({"refused": self._module.refusal(error)})

    def call(self, method: str, *payload: bytes) -> bytes:
        """Call a method with parsed JSON."""
        try:
            done = getattr(self._served, method)(*map(codec.parse, payload))
            return codec.encode({"done": done})
        except Exception as error:
            return codec.encode({"refused": self._module.refusal(error)})
