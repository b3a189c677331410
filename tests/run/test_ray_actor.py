"""What an actor holds, without an actor."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from floorbench import __version__
from floorbench.run.ray_actor import Serving
from support.engine_toys import System


@pytest.fixture(autouse=True)
def _own_input_and_signals() -> Iterator[None]:
    """An actor gives its standard input and Ctrl-C away; this process must not."""
    import signal

    kept, handler = os.dup(0), signal.getsignal(signal.SIGINT)
    yield
    os.dup2(kept, 0)
    os.close(kept)
    signal.signal(signal.SIGINT, handler)


def opening(system: str = "System", **more: Any) -> dict[str, Any]:
    hello = {"system": {"name": f"support.engine_toys:{system}", "parameters": {}}, "timeout": None}
    served = "floorbench.run.worker:Desk"
    return {"served": served, "hello": hello, "version": __version__, **more}


def test_it_is_opened_and_asked_by_name() -> None:
    serving = Serving()
    greeting = json.loads(serving.open(opening()))["done"]
    assert greeting["ready"]["name"] == System().spec.name
    assert greeting["batches"] is callable(getattr(System(), "decide_batch", None))
    shown = json.loads(serving.call("show", b'[{"language": "en", "text": "1"}]'))["done"]
    assert [len(h) for h in shown] == [64]
    ((decision, compute),) = json.loads(serving.call("answer"))["done"]
    assert decision["label"] == "yes"
    assert compute["wall"] >= 0


def test_what_it_cannot_do_is_refused_with_a_code() -> None:
    refused = json.loads(Serving().open(opening("Unloadable")))["refused"]
    assert (refused["code"], refused["kind"]) == ("FB501", "SystemProblem")
    serving = Serving()
    serving.open(opening())
    assert json.loads(serving.call("show", b'[{"text": "1"}]'))["refused"]["code"] == "FB509"


def test_another_version_is_refused() -> None:
    refused = json.loads(Serving().open(opening(version="0.0.1")))["refused"]
    assert refused["code"] == "FB517"
    assert f"{__version__}, the caller 0.0.1" in refused["what"]
