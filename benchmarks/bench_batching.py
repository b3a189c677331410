"""What a system gains from being asked several questions at once, beside one after the other.

The ratio is the time one by one over the time in batches: above 1 a batch is faster. Where answers
in a batch are not those alone, the largest difference is printed. Weights are random but for
Smart-Turn's: speed does not depend on them.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ratios import Case, absent
from floorbench.audio.onnx import open_session
from floorbench.core.sample import Observation, Question
from floorbench.errors import FloorbenchError

SIZES = (4, 8, 16)
WORDS = 32
SERVICE = 0.05
"""Seconds that the stand-in for a paid service takes to answer."""


def cases(full: bool) -> Iterator[Case]:
    yield from smart_turn()
    yield from text_detector()
    yield from transformers_models(full)
    with tempfile.TemporaryDirectory() as folder:
        yield from elsewhere(Path(folder))


def in_batches(ask: Callable[[Sequence[Any]], Any], items: Sequence[Any], size: int) -> list[Any]:
    """Ask about all items, so many at a time."""
    parts = [ask(items[n : n + size]) for n in range(0, len(items), size)]
    return [answer for part in parts for answer in part]


def batched(
    name: str, about: str, ask: Callable[[Sequence[Any]], Any], items: Sequence[Any], **more: Any
) -> Case:
    """Return a case: one by one, beside batches of each size."""
    return Case(
        name=name,
        size=f"{len(items)} questions one by one; {about}",
        ours=partial(in_batches, ask, items, 1),
        peers={f"batches of {n}": partial(in_batches, ask, items, n) for n in SIZES},
        per=(len(items), "answer"),
        rounds=5,
        **more,
    )


def differences(found: dict[str, Any]) -> None:
    """Print how far answers in batches are from those one by one."""
    alone = np.array(found["floorbench"], dtype=np.float64)
    for name, answers in found.items():
        if name != "floorbench":
            apart = float(np.abs(np.array(answers, dtype=np.float64) - alone).max())
            print(f"  {name}: largest difference of an answer {apart:.1e}")


# ---- ONNX --------------------------------------------------------------------------------------


def smart_turn() -> Iterator[Case]:
    from floorbench.systems.smart_turn import SmartTurn
    from floorbench.systems.whisper_mel import whisper_mel

    system = SmartTurn(gate="off")
    try:
        system.load()
    except FloorbenchError as error:
        print(f"  smart-turn-v3.2 is left out: {error.code} {error.what}")
        return
    rng = np.random.default_rng(1)
    sounds = [0.1 * rng.standard_normal(16_000 * n) for n in (1, 2, 3, 5, 8, 4, 6, 7) * 2]
    features = [whisper_mel(sound.astype(np.float32)) for sound in sounds]

    def ask(part: Sequence[Any]) -> Any:
        return system._session.run(None, {"input_features": np.stack(part)})[0][:, 0].tolist()

    yield batched(
        "the model of smart-turn-v3.2 (8 bits, fixed scales)", "8 s each",
        ask, features, agree=differences,
    )  # fmt: skip


def text_detector() -> Iterator[Case]:
    """An encoder of DistilBERT's shape, with 8-bit weights and scales found at run time."""
    missing = absent("onnx", "onnxruntime")
    if missing:
        print(f"  the text detector is left out: {missing}")
        return
    rng = np.random.default_rng(2)
    rows = [rng.integers(5, 1000, size=n) for n in (6, 9, 12, 16, 20, 24, 30, 36)] * 2
    rows.sort(key=len, reverse=True)
    with tempfile.TemporaryDirectory() as folder:
        plain, eight = Path(folder) / "plain.onnx", Path(folder) / "eight.onnx"
        encoder(plain)
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(plain, eight, weight_type=QuantType.QInt8)
        for file, name in (
            (plain, "a text encoder in 32 bits"),
            (eight, "a text encoder in 8 bits, scales found at run time"),
        ):
            names = ("input_ids", "attention_mask")
            session = open_session(file, inputs=names, outputs=("logits",))

            def ask(part: Sequence[Any], session: Any = session) -> Any:
                logits = session.run(None, padded(part))[0]
                return (1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))).tolist()

            yield batched(name, "6 layers of 768, 6 to 36 tokens", ask, rows, agree=differences)


def padded(rows: Sequence[Any]) -> dict[str, Any]:
    """Return ids and mask, filled up on the right."""
    longest = max(map(len, rows))
    ids = np.zeros((len(rows), longest), dtype=np.int64)
    mask = np.zeros_like(ids)
    for n, row in enumerate(rows):
        ids[n, : len(row)], mask[n, : len(row)] = row, 1
    return {"input_ids": ids, "attention_mask": mask}


def encoder(path: Path, *, layers: int = 6, width: int = 768, heads: int = 12) -> None:
    """Write a transformer encoder with random weights, logits of the first token."""
    from onnx import TensorProto, helper, numpy_helper, save

    rng = np.random.default_rng(3)
    nodes: list[Any] = []
    held: list[Any] = []

    def constant(name: str, value: Any) -> str:
        held.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(kind: str, inputs: list[str], out: str, **more: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [out], **more))
        return out

    def linear(x: str, name: str, n: int, m: int) -> str:
        weight = rng.standard_normal((n, m)).astype(np.float32) / np.float32(np.sqrt(n))
        return node("MatMul", [x, constant(f"{name}.w", weight)], name)

    def normal(x: str, name: str) -> str:
        ones, zeros = np.ones(width, np.float32), np.zeros(width, np.float32)
        scale, shift = constant(f"{name}.s", ones), constant(f"{name}.b", zeros)
        return node("LayerNormalization", [x, scale, shift], name)

    table = constant("table", rng.standard_normal((1000, width)).astype(np.float32))
    x = node("Gather", [table, "input_ids"], "embedded")
    mask = node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
    away = node("Sub", [constant("one", np.float32(1)), mask], "away")
    away = node("Mul", [away, constant("far", np.float32(-1e9))], "bias")
    away = node("Unsqueeze", [away, constant("axes", np.array([1, 2]))], "bias4")
    apart = constant("apart", np.array([0, 0, heads, width // heads]))
    joined = constant("joined", np.array([0, 0, width]))
    root = constant("root", np.float32(np.sqrt(width // heads)))
    for n in range(layers):
        parts = []
        for kind, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            part = linear(x, f"{n}.{kind}", width, width)
            part = node("Reshape", [part, apart], f"{n}.{kind}4")
            parts.append(node("Transpose", [part], f"{n}.{kind}t", perm=order))
        score = node("Div", [node("MatMul", parts[:2], f"{n}.qk"), root], f"{n}.scaled")
        share = node("Softmax", [node("Add", [score, away], f"{n}.m")], f"{n}.share", axis=-1)
        mixed = node("MatMul", [share, parts[2]], f"{n}.mixed")
        mixed = node("Transpose", [mixed], f"{n}.mt", perm=[0, 2, 1, 3])
        mixed = linear(node("Reshape", [mixed, joined], f"{n}.mj"), f"{n}.o", width, width)
        x = normal(node("Add", [x, mixed], f"{n}.r1"), f"{n}.n1")
        wide = node("Relu", [linear(x, f"{n}.up", width, 4 * width)], f"{n}.relu")
        more = linear(wide, f"{n}.down", 4 * width, width)
        x = normal(node("Add", [x, more], f"{n}.r2"), f"{n}.n2")
    first = node("Gather", [x, constant("zero", np.array(0))], "first", axis=1)
    linear(first, "logits", width, 2)
    shape = ["batch", "length"]
    graph = helper.make_graph(
        nodes,
        "encoder",
        [helper.make_tensor_value_info(n, TensorProto.INT64, shape)
         for n in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 2])],
        held,
    )  # fmt: skip
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


# ---- transformers ------------------------------------------------------------------------------


def transformers_models(full: bool) -> Iterator[Case]:
    missing = absent("torch", "transformers")
    if missing:
        print(f"  ten-turn, yesno-hf and generate-hf are left out: {missing}")
        return
    import torch

    from floorbench.systems.hf_model import HfModel
    from floorbench.systems.hf_turn import TenTurn
    from floorbench.systems.llm.protocol import Prompt
    from floorbench.systems.trp_models import generate_hf, yesno_hf

    torch.set_num_threads(1)
    rng = np.random.default_rng(4)
    question = Question(text="Could a listener respond here? Answer yes or no.", answers=("yes",))
    seen = [
        Observation(language="en", question=question, text=" ".join(["word"] * int(n)))
        for n in sorted(rng.integers(3, 12, size=16), reverse=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        size = random_model(Path(folder), full)
        prompts = [Prompt(opening=o.text or "", chat=True) for o in seen]
        for dtype in ("float32", "bfloat16"):
            apart = nearness(HfModel(model=folder, dtype=dtype), prompts)
            print(f"  {dtype}: largest difference of a log probability in a batch {apart:.1e}")
        for name, system in (
            ("ten-turn, 4 tokens", TenTurn(model=folder)),
            ("yesno-hf, 1 token", yesno_hf(model=folder)),
            ("generate-hf, 16 tokens", generate_hf(model=folder, temperature=0.0, max_tokens=16)),
        ):
            made: Any = system
            made.load()

            def ask(part: Sequence[Any], made: Any = made) -> Any:
                if len(part) == 1:
                    return [made.decide(part[0])]
                return made.decide_batch(list(part))

            yield batched(name, size, ask, seen, agree=alike)


def nearness(model: Any, prompts: Sequence[Any]) -> float:
    """Return the largest difference of a first token's log probability in a batch of all."""
    from floorbench.systems.llm.together import Call

    calls = [Call(prompt=prompt, max_tokens=1, top=1000) for prompt in prompts]
    together = model.complete_all(calls)
    alone = [model.complete_all([call])[0] for call in calls]
    return max(
        float(abs(a.logprob - b.logprob))
        for one, other in zip(together, alone, strict=True)
        for a, b in zip(one.first, other.first, strict=True)
    )


def alike(found: dict[str, Any]) -> None:
    """Print how many answers differ."""
    alone = found["floorbench"]
    for name, answers in found.items():
        if name == "floorbench":
            continue
        other = sum(
            (a.label, a.raw) != (b.label, b.raw) for a, b in zip(alone, answers, strict=True)
        )
        print(f"  {name}: {other} other answers")


def random_model(folder: Path, full: bool) -> str:
    """Write a causal model of Qwen2's kind with random weights and say how large it is."""
    import torch
    import transformers

    from support import hf_tiny

    torch.manual_seed(5)
    sizes = {
        "hidden_size": 384,
        "intermediate_size": 1024,
        "num_hidden_layers": 6,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "vocab_size": 4_000,
    }
    if full:  # as Qwen2.5-0.5B
        sizes = {"hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
                 "num_attention_heads": 14, "num_key_value_heads": 2,
                 "vocab_size": 151_936}  # fmt: skip
    config = transformers.Qwen2Config(**{**hf_tiny.SIZES, **sizes, "eos_token_id": 3})
    net = transformers.AutoModelForCausalLM.from_config(config)
    net.save_pretrained(folder)
    hf_tiny.tokenizer(template=hf_tiny.TEMPLATE).save_pretrained(folder)
    millions = sum(p.numel() for p in net.parameters()) / 1e6
    return f"a random model of {millions:.0f} million weights in 32 bits"


# ---- programs, servers, services ---------------------------------------------------------------


def elsewhere(folder: Path) -> Iterator[Case]:
    """Systems elsewhere that answer at once: what a batch saves is the way there and back."""
    from fake_server import Reply, chat, serving
    from floorbench.systems.prompted_rows import prompted_openai
    from floorbench.systems.worker import CommandSystem
    from floorbench.systems.worker_http import EndpointSystem
    from floorbench.systems.worker_wire import PROTOCOL

    seen = [Observation(language="en", text=f"word {n}") for n in range(WORDS)]
    program = folder / "answers.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = CommandSystem(command=["python", str(program)])
    command.load()
    told = {"type": "hello", "protocol": PROTOCOL, "name": "at-once", "version": "1",
            "modalities": ["text"], "batch": max(SIZES)}  # fmt: skip

    def reply(call: Any) -> Any:
        if call.path == "/hello":
            return Reply(told)
        items = [{"label": "complete"} for _ in call.body["items"]]
        return Reply({"type": "answers", "id": call.body["id"], "answers": items})

    about = "the other side answers at once"
    try:
        yield batched("a program over a pipe", about, asker(command), seen)
    finally:
        command.close()
    with serving(reply) as server:
        endpoint = EndpointSystem(url=server.url)
        endpoint.load()
        yield batched("a server over HTTP", about, asker(endpoint), seen)
    question = Question(text="Is the turn complete?", answers=("complete",))
    asked = [Observation(language="en", text=f"word {n}", question=question) for n in range(WORDS)]

    def late(_: Any) -> Any:
        time.sleep(SERVICE)
        return Reply(chat("complete", prompt=10))

    with serving(late) as server:
        system = prompted_openai(model="m", base_url=server.url + "/v1", attempts=1)
        system.load()

        def threads(number: int) -> list[Any]:
            with ThreadPoolExecutor(number) as pool:
                return list(pool.map(system.decide, asked))

        yield Case(
            name="prompted-openai, no batches: --executor thread",
            size=f"{WORDS} questions, 1 worker; the service answers after {SERVICE * 1000:.0f} ms",
            ours=partial(threads, 1),
            peers={f"{n} workers": partial(threads, n) for n in SIZES},
            clock="wall",
            per=(WORDS, "answer"),
            rounds=5,
        )


def asker(system: Any) -> Callable[[Sequence[Any]], Any]:
    """Return how a system is asked about one question or several."""

    def ask(part: Sequence[Any]) -> Any:
        return [system.decide(part[0])] if len(part) == 1 else system.decide_batch(list(part))

    return ask


PROGRAM = f"""
import json, sys
print(json.dumps({{"type": "hello", "protocol": "floorbench-worker-1", "name": "at-once",
                  "version": "1", "modalities": ["text"], "batch": {max(SIZES)}}}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "predict":
        answers = [{{"label": "complete"}} for _ in message["items"]]
        said = {{"type": "answers", "id": message["id"], "answers": answers}}
        print(json.dumps(said), flush=True)
"""
