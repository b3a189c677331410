"""Binding the viewer to a loopback port and running it until it is told to stop."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Any, Self

from floorbench.errors import EnvironmentProblem, missing_extra

HOST = "127.0.0.1"


class Serving:
    """An application on a port of this machine, reachable from this machine only.

    Parameters
    ----------
    app : ASGI application
    port : int
        0 for any free one.

    Raises
    ------
    EnvironmentProblem
        ``FB806`` when the port cannot be had, ``FB401`` without uvicorn.
    """

    def __init__(self, app: Any, *, port: int = 0) -> None:
        try:
            import uvicorn
        except ImportError:
            raise missing_extra("uvicorn", "web") from None
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((HOST, port))
            self._socket.listen(128)  # visits wait until the server runs
        except (OSError, OverflowError) as error:
            self._socket.close()
            raise EnvironmentProblem("FB806", f"port {port} cannot be used: {error}") from None
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(app, log_level="error", access_log=False, lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """Return the address without a token."""
        return f"http://{HOST}:{self.port}/"

    def run(self) -> None:
        """Serve until interrupted."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End a server that runs in a thread."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._socket.close()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.run, name="floorbench-viewer", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
