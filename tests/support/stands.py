"""Whatever a catalogued system talks to, in a form that stands on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from support import hf_tiny, omni_tiny, onnx_tiny
from support.model_server import HELLO

ROOT = Path(__file__).parents[2]
STUB = f"{sys.executable} {ROOT / 'workers'}"
# Parameters with which every system can be built; nothing is reached yet.
NEEDED = {f"{way}-hf": {"model": "hf"} for way in ("boundary", "yesno", "generate")}
# A program must join it; tests/systems/test_stream_socket.py has one.
JOINED = {"external-stream"}
PROGRAMS = {
    "easy-turn": "easy-turn/predict.py --stub",
    "minicpm-o-4.5": "minicpm-o-4.5/predict.py --stub",
    "minicpm-o-4.5-duplex": "minicpm-o-4.5/predict.py --stub --duplex",
    "soulx-duplug": "soulx-duplug/predict.py --stub",
    "lychee-fd": "lychee-fd/predict.py --stub",
    "dualturn": "dualturn/predict.py --stub",
    "vap-stereo": "vap/predict.py --stub",
}
HF = {"ten-turn", "ke-semanticvad", "boundary-hf", "yesno-hf", "generate-hf", "qwen3-omni-hf"}


def program(folder: Path, answer: str = "{'label': 'complete'}", hello: str = "{}") -> str:
    """Write a worker and return its command."""
    file = folder / "worker_program.py"
    told = {**HELLO, "name": "command", "states": None}
    file.write_text(
        "import floorbench_worker as worker\n"
        f"hello = {{**{told!r}, **{hello}}}\n"
        f"worker.serve(hello, lambda: None, lambda m, items: [{answer} for item in items])\n"
    )
    return f"{sys.executable} {file}"


STREAM = """
import floorbench_worker as worker
hello = {"name": "command-stream", "version": "1", "rate": 16000, "step": 0.1, "labels": ["yield"],
         "licence": "Apache-2.0"}
class Stream:
    def __init__(self, model, setup): self.done = False
    def push(self, chunk):
        loud = max(map(abs, worker.samples(chunk["audio"]["user"]))) > 0.02
        if not loud or self.done: return []
        self.done = True
        return [{"label": "yield", "time": chunk["end"]}]
    def close(self): return []
worker.serve_stream(hello, lambda: None, Stream)
"""


def stream_program(folder: Path) -> str:
    """Write a streaming worker and return its command."""
    file = folder / "stream_program.py"
    file.write_text(STREAM)
    return f"{sys.executable} {file}"


def parameters(name: str, folder: Path) -> dict[str, Any]:
    """Return the parameters with which a system that is no API runs here."""
    if name in PROGRAMS:
        return {"command": f"{STUB}/{PROGRAMS[name]}"}
    if name == "command":
        return {"command": program(folder)}
    if name == "command-stream":
        return {"command": stream_program(folder)}
    if name == "firered-turn":
        return {"model": str(onnx_tiny.firered(folder))}
    if name == "namo-turn":
        return {"model": str(onnx_tiny.namo(folder, types=True))}
    if name == "qwen3-omni-hf":
        return {"model": str(omni_tiny.model(folder)), "device": "cpu", "max_tokens": 8}
    if name in HF:
        made = hf_tiny.model(folder, "qwen2")
        for file in ("agent_speaking.txt", "human_speaking.txt"):
            (made / file).write_text("judge")
        return {"model": str(made)}
    return {}


def end(system: Any) -> None:
    """End the program of a system that has one."""
    close = getattr(getattr(system, "system", system), "close", None)
    if callable(close):
        close()
