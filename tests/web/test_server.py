"""The server as seen over the wire: who may ask, what is answered, what is refused."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from floorbench.web.guard import CSP
from floorbench.web.live import LiveRuns
from floorbench.web.server import LISTED, Viewer, ending
from floorbench.web.serving import Serving
from floorbench.web.sound import WaveCache
from support.viewing import HOSTILE, duo_reader, duo_runs

TOKEN = "open-sesame"


class Wire:
    """One client with the cookie of the page."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        cookie: bool = True,
        body: bytes | None = None,
        **headers: str,
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {k.replace("_", "-"): v for k, v in headers.items()}
        if cookie:
            sent["cookie"] = f"floorbench-{self.port}={TOKEN}"
        connection.request(method, path, body=body, headers=sent)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer, data

    def json(self, path: str, **parameters: Any) -> Any:
        answer, data = self.ask(f"{path}?{urlencode(parameters)}")
        assert answer.status == 200, data
        return json.loads(data)


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    return duo_runs(tmp_path / "runs")


@pytest.fixture
def wire(tmp_path: Path, runs: list[Path]) -> Iterator[Wire]:
    viewer = Viewer(LiveRuns(runs, duo_reader()), token=TOKEN, waves=WaveCache(tmp_path / "waves"))
    with Serving(viewer.app()) as serving:
        yield Wire(serving.port)


def part(sample: str = "s1", name: str = "target", condition: str = "h1") -> str:
    asked = {"sample": sample, "condition": condition, "part": name}
    return "?" + urlencode(asked)


def test_only_the_token_opens_the_page(wire: Wire) -> None:
    for path in ("/", "/static/app.js", "/api/runs", "/audio" + part(), "/?token=guess"):
        assert wire.ask(path, cookie=False)[0].status == 403
    answer, _ = wire.ask(f"/?token={TOKEN}", cookie=False)
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    kept = answer.headers["set-cookie"].lower()
    assert "httponly" in kept
    assert "samesite=strict" in kept
    assert wire.ask("/")[0].status == 200


def test_other_hosts_and_origins_are_refused(wire: Wire) -> None:
    assert wire.ask("/api/runs", host="evil.example")[0].status == 403
    assert wire.ask("/api/runs", host="127.0.0.1.evil.example:80")[0].status == 403
    assert wire.ask("/api/runs", origin="http://evil.example")[0].status == 403
    own = f"127.0.0.1:{wire.port}"
    assert wire.ask("/api/runs", host=own, origin=f"http://{own}")[0].status == 200


def test_every_answer_carries_the_policy(wire: Wire) -> None:
    for path in ("/", "/static/page.css", "/api/runs", "/nowhere", "/audio" + part()):
        answer, _ = wire.ask(path)
        assert answer.headers["content-security-policy"] == CSP
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in CSP


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2f..%2fserver.py",
        "/static/%2fetc%2fpasswd",
        "/../../etc/passwd",
        "/static/",
        "/audio?sample=../../etc/passwd&part=target",
        "/audio?sample=s1&condition=h1&part=../../../etc/passwd",
        "/audio?sample=s1&condition=h1&part=/etc/passwd",
        "/api/wave?sample=/etc/passwd&part=target",
        "/api/item?sample=%2fetc%2fpasswd",
    ],
)
def test_no_path_leads_out(wire: Wire, path: str) -> None:
    answer, data = wire.ask(path)
    assert answer.status in (404, 422)
    assert b"root:" not in data
    assert b"import" not in data


def test_runs_items_and_one_item(wire: Wire) -> None:
    about = wire.json("/api/runs")
    assert [r["name"] for r in about["groups"][0]["runs"]] == ["one", "two"]
    page = wire.json("/api/items", verdict="wrong", facets=1, limit=2)
    assert page["total"] == 6
    assert len(page["rows"]) == 2
    assert {f["name"] for f in page["facets"]} >= {"verdict", "gold", "tag.condition"}
    item = wire.json("/api/item", sample="s1", condition="h1")
    assert item["runs"][0]["rule"][-1].endswith("right.")
    assert wire.json("/api/tables")
    assert wire.json("/api/matrix", run=1)["counts"]
    assert wire.json("/api/compare", first=0, second=1)
    assert wire.json("/api/paired", first=0, second=1)["rows"]


def test_pages_are_pieces_of_the_list(wire: Wire) -> None:
    whole = wire.json("/api/items", limit=500)["rows"]
    pieces = [
        r for at in range(0, 24, 7) for r in wire.json("/api/items", offset=at, limit=7)["rows"]
    ]
    assert pieces == whole
    assert wire.json("/api/items", offset=1000)["rows"] == []


def test_refusals_are_explained(wire: Wire) -> None:
    answer, data = wire.ask("/api/items?verdict=maybe")
    assert answer.status == 404
    body = json.loads(data)
    assert body["code"] == "FB805"
    assert "maybe" in body["what"]


def test_audio_is_streamed_with_seeking(wire: Wire) -> None:
    answer, whole = wire.ask("/audio" + part())
    assert answer.status == 200
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["content-type"] == "audio/wav"
    assert len(whole) == 44 + 2 * 2 * 16_000
    answer, piece = wire.ask("/audio" + part(), range="bytes=1000-1999")
    assert answer.status == 206
    assert answer.headers["content-range"] == f"bytes 1000-1999/{len(whole)}"
    assert piece == whole[1000:2000]
    answer, _ = wire.ask("/audio" + part(), range="bytes=99999999-")
    assert answer.status == 416
    assert answer.headers["content-range"] == f"bytes */{len(whole)}"
    assert wire.ask("/audio" + part(name="turn-1"))[0].status == 404


def test_waveforms_have_a_lane_per_role(wire: Wire, tmp_path: Path) -> None:
    made = wire.json("/api/wave", sample="s1", condition="h1", part="target")
    assert list(made["channels"]) == ["user", "system"]
    assert len(list((tmp_path / "waves").iterdir())) == 1


def note(wire: Wire, body: bytes, **headers: str) -> tuple[int, Any]:
    path = "/api/notes?" + urlencode({"run": 1, "sample": "s1", "condition": "h1"})
    answer, data = wire.ask(path, method="POST", body=body, **headers)
    return answer.status, data


def test_notes_are_kept_for_the_run(wire: Wire, runs: list[Path]) -> None:
    body = json.dumps({"text": HOSTILE, "tags": "odd"}).encode()
    assert note(wire, body, x_floorbench="1")[0] == 200
    assert HOSTILE in json.loads((runs[1] / "notes.json").read_text())["notes"]["s1"]["text"]
    item = wire.json("/api/item", sample="s1", condition="h0")
    assert [n["tags"] for n in item["notes"]] == [[], ["odd"]]
    assert wire.json("/api/items", run=1, mark="odd")["total"] == 2


def test_notes_are_taken_from_the_page_only(wire: Wire, runs: list[Path]) -> None:
    good = json.dumps({"text": "x", "tags": ""}).encode()
    assert note(wire, good)[0] == 403
    assert note(wire, good, x_floorbench="1", origin="http://evil.example")[0] == 403
    for bad in (b"{", b"[]", b'{"text": "x"}', b'{"text": "' + b"x" * 200_000 + b'"}'):
        assert note(wire, bad, x_floorbench="1")[0] in (404, 422)
    assert not (runs[1] / "notes.json").exists()
    path = f"/api/notes?run=1&sample={quote('../../x')}"
    answer, _ = wire.ask(path, method="POST", body=good, x_floorbench="1")
    assert answer.status == 404


def test_a_long_text_keeps_its_end_in_the_list() -> None:
    prefix = " ".join(f"word{n}" for n in range(60))
    shown = [ending(f"{prefix} {last}") for last in ("so", "so we")]
    assert shown[0] != shown[1]
    assert all(text.startswith("…") and len(text) == LISTED for text in shown)
    assert ending("说 0 number 0") == "说 0 number 0"
