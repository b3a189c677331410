"""The worker process by itself; what the engine does with it is tested with the engine."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


def talk(lines: list[dict[str, Any]], *, answers: int) -> list[dict[str, Any]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "floorbench.build.pipeline.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for line in lines:
        process.stdin.write(json.dumps(line) + "\n")
    process.stdin.flush()
    said = [json.loads(process.stdout.readline()) for _ in range(answers)]
    process.stdin.close()  # ends it
    process.wait(timeout=30)
    process.stdout.close()
    return said


def hello(tmp: Path, **more: Any) -> dict[str, Any]:
    return {
        "recipe": "support.build_toy:ToyRecipe", "settings": {}, "cache": str(tmp), "seed": 0,
        "fresh": [], **more,
    }  # fmt: skip


ITEM = {"id": "item-0", "fields": {"n": 0}, "audio": {}}


def test_it_makes_what_it_is_given(tmp_path: Path) -> None:
    task = {"index": 0, "item": ITEM, "repair": []}
    said = talk([hello(tmp_path), task, task], answers=6)
    loading = [{"starting": "text"}, {"starting": None}]
    assert said[:4] == [{"ready": True}, *loading, {"stage": "text"}]
    first, second = said[4]["done"], said[5]["done"]
    assert first["items"] == second["items"]
    assert [d["calls"][0]["cached"] for d in (first, second)] == [False, True]


def test_it_repairs_before_it_makes(tmp_path: Path) -> None:
    task = {"index": 0, "item": ITEM, "repair": []}
    (text,) = talk([hello(tmp_path), task], answers=5)[4]["done"]["items"]
    for path in tmp_path.rglob("*.jsonl"):
        path.unlink()
    repairing = {"index": 1, "item": text, "repair": [[0, ITEM]]}
    said = talk([hello(tmp_path), repairing], answers=15)
    assert [m["starting"] for m in said if m.get("starting")] == ["text", "voice", "gate"]
    assert [m["stage"] for m in said if "stage" in m] == ["text", *["voice", "gate"] * 3]
    assert said[-1]["done"]["items"][0]["id"] == "item-0"


def test_what_stops_a_build_is_said(tmp_path: Path) -> None:
    (stop,) = talk([hello(tmp_path, settings={"itemz": 1})], answers=1)
    assert stop["stop"]["code"] == "FB851"
    assert "did you mean 'items'" in stop["stop"]["hint"]
    ready, broken = talk([hello(tmp_path), {"index": 0}], answers=2)
    assert ready == {"ready": True}
    assert broken["stop"]["code"] == "FB854"
    assert "KeyError" in broken["stop"]["what"]
