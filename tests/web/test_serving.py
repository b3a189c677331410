import http.client
from typing import Any

import pytest

from floorbench.errors import EnvironmentProblem
from floorbench.web.serving import Serving


async def app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def test_it_serves_on_loopback_until_stopped() -> None:
    with Serving(app) as serving:
        assert serving.address == f"http://127.0.0.1:{serving.port}/"
        connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=30)
        connection.request("GET", "/")
        assert connection.getresponse().status == 204
        connection.close()
    with pytest.raises(OSError, match="refused"):
        http.client.HTTPConnection("127.0.0.1", serving.port, timeout=5).connect()


def test_a_port_in_use_or_impossible_is_an_error() -> None:
    with Serving(app) as serving, pytest.raises(EnvironmentProblem, match="FB806"):
        Serving(app, port=serving.port)
    with pytest.raises(EnvironmentProblem, match="FB806"):
        Serving(app, port=70_000)
