"""Services that misbehave in every documented way: each item is counted, no run is lost."""

from __future__ import annotations

import json

import pytest

from fake_server import Reply, chat, serving
from floorbench.cli.run import run
from floorbench.cli.score import score
from support.model_server import gemini

CANARY = "sk-canary-0123456789abcdef"
TWO = "<|Takeover|><|Completion|> or <|Dismiss|><|Incomplete|>"
SAID = {
    "right": ("<|Takeover|>", "ok"), "prose": ("I would take the turn now.", "ok"),
    "two labels": (TWO, "ok"), "nothing": ("", "invalid"), "half a tag": ("<|Takeov", "ok"),
}  # fmt: skip


def openai_tool():
    body = chat("")
    body["choices"][0]["message"]["tool_calls"] = [
        {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]
    return body


def gemini_tool():
    body = gemini("")
    body["candidates"][0]["content"]["parts"] = [{"functionCall": {"name": "f", "args": {}}}]
    return body


APIS = {
    "prompted-openai": (chat, openai_tool, "/v1", "OPENAI_API_KEY", "failed"),
    "prompted-gemini": (gemini, gemini_tool, "", "GEMINI_API_KEY", "invalid"),
}


def tour(write, tool, empty):
    """Every reply of the tour with the outcome that it counts as."""
    angry = {"error": {"code": 429, "message": f"key {CANARY} is out of quota", "status": "X"}}
    return [
        *((Reply(write(text)), outcome) for text, outcome in SAID.values()),
        (Reply(angry, status=429), "failed"),
        (Reply(angry, status=429, headers={"Retry-After": "0"}), "failed"),
        (Reply(angry, status=401), "failed"),
        (Reply({}, status=500), "failed"),
        (Reply(raw=b"<html>bad gateway</html>", status=502), "failed"),
        (Reply(write("late"), delay=1.5), "timeout"),
        (Reply(raw=b'{"choices": [{"mess'), "failed"),
        (Reply(raw=b'{"choices": [{"mess', claim=400), "failed"),
        (Reply(raw=b""), empty),
        (Reply(tool()), "invalid"),
        (Reply({}), "invalid"),
    ]  # Google's client takes an empty body for an empty answer


@pytest.mark.parametrize("name", APIS)
def test_a_run_survives_every_fault_and_no_file_holds_the_key(
    name, tmp_path, monkeypatch, capfd, caplog
):
    write, tool, path, variable, empty = APIS[name]
    caplog.set_level("DEBUG")
    monkeypatch.setenv(variable, CANARY)
    stops = tour(write, tool, empty)
    with serving([reply for reply, _ in stops]) as server:
        given = [
            "model=m", f"base_url={server.url}{path}", "attempts=1", "timeout=0.5",
            f"cache={tmp_path / 'replies'}",
        ]  # fmt: skip
        done = run(
            "codett", name, sets=given, task_sets=["stage=action"], conditions=["h0"],
            limit=len(stops), out=tmp_path / "runs",
        )  # fmt: skip
        sent = [call.headers for call in server.calls]
    assert done == 0
    assert any(CANARY in json.dumps(headers) for headers in sent)  # it was used
    folder = next((tmp_path / "runs").glob("*/*/*"))
    rows = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
    assert [row["decision"]["outcome"] for row in rows] == [outcome for _, outcome in stops]
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or CANARY.encode() not in file.read_bytes(), file
    shown = capfd.readouterr()
    assert CANARY not in shown.out + shown.err + caplog.text
    assert score(folder, json=True, draws=20) == 0
    counted = json.loads(capfd.readouterr().out)
    coverage = (counted[0] if isinstance(counted, list) else counted)["coverage"]
    assert coverage["expected"] == len(stops)
    assert coverage["ok"] + coverage["invalid"] + coverage["failed"] + coverage["timeout"] == len(
        stops
    )
    assert coverage["ok"] == 2  # the right one, and the first of two labels


@pytest.mark.parametrize("name", APIS)
def test_two_labels_are_invalid_to_the_lenient_reader(name, tmp_path, monkeypatch, capfd):
    write, _, path, variable, _ = APIS[name]
    monkeypatch.setenv(variable, CANARY)
    with serving([Reply(write(TWO)), Reply(write("take over"))]) as server:
        given = ["model=m", f"base_url={server.url}{path}", "attempts=1"]
        done = run(
            "codett", name, sets=given, task_sets=["stage=action", "parser=lenient"],
            conditions=["h0"], limit=2, out=tmp_path, json=True,
        )  # fmt: skip
    assert done == 0
    coverage = json.loads(capfd.readouterr().out)["coverage"]
    assert (coverage["ok"], coverage["invalid"]) == (1, 1)
