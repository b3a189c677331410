"""Serving a local page until Ctrl-C, for the commands that show one."""

from __future__ import annotations

import importlib.util
import webbrowser
from collections.abc import Iterable
from typing import Annotated, Any

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.errors import missing_extra

OpenBrowser = Annotated[
    bool, Parameter(name="--open", negative=(), help="Open the page in the browser.")
]


def need_web() -> None:
    """Refuse to go on without the extra ``web``, before anything is read.

    Raises
    ------
    EnvironmentProblem
        ``FB401``.
    """
    if importlib.util.find_spec("starlette") is None:
        raise missing_extra("starlette", "web")


def serve(
    app: Any, *, token: str, port: int, open_browser: bool, remarks: Iterable[str] = ()
) -> None:
    """Serve a page to this machine until interrupted, and print its address.

    Parameters
    ----------
    app : ASGI application
    token : str
        Without it the page answers nobody.
    port : int
        0 for any free one.
    open_browser : bool
    remarks : iterable of str
        Said below the address.

    Raises
    ------
    EnvironmentProblem
        ``FB806`` when the port cannot be had.
    """
    from floorbench.web.serving import Serving

    serving = Serving(app, port=port)
    address = f"{serving.address}?token={token}"
    console.data(address)
    for remark in remarks:
        console.say(remark)
    console.say("serving on this machine only; Ctrl-C ends it")
    if open_browser:
        webbrowser.open(address)
    serving.run()
