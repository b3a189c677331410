"""Text classifiers of a few numbers, exported as the published ones are, with real tokenizers.

``logits[:, 1]`` is the number of attended tokens whose id is even, ``logits[:, 0]`` that of the
odd ones, so an answer can be worked out by hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

WORDS = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "go", "stop", "please", "well", "好", "吗", "我",
]  # fmt: skip


def classifier(path: Path, *, types: bool = False, classes: int = 2) -> None:
    """Write an ONNX graph with ids and mask (and ``token_type_ids``) in and logits out."""
    from onnx import TensorProto, helper, numpy_helper, save

    names = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in names
    ]
    out = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", classes])
    nodes = [
        helper.make_node("Mod", ["input_ids", "two"], ["odd_raw"]),
        helper.make_node("Mul", ["odd_raw", "attention_mask"], ["odd"]),
        helper.make_node("Sub", ["attention_mask", "odd"], ["even"]),
        helper.make_node("ReduceSum", ["odd", "axis"], ["odds"], keepdims=1),
        helper.make_node("ReduceSum", ["even", "axis"], ["evens"], keepdims=1),
        helper.make_node("Concat", ["odds", "evens"], ["both"], axis=1),
        helper.make_node("Cast", ["both"], ["logits_two"], to=TensorProto.FLOAT),
        helper.make_node("Identity", ["logits_two"], ["logits"]),
    ]
    if types:
        nodes.insert(0, helper.make_node("Identity", ["token_type_ids"], ["unused"]))
    if classes == 1:
        nodes[-1] = helper.make_node("ReduceSum", ["logits_two", "axis"], ["logits"], keepdims=1)
    graph = helper.make_graph(
        nodes, "tiny", inputs, [out],
        [
            numpy_helper.from_array(np.array([2], dtype=np.int64), "two"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"),
        ],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    save(model, str(path))


def wordpiece(folder: Path) -> None:
    """Write a BERT word-piece tokenizer as ``vocab.txt``, as mBERT's folder has it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))


def whole(folder: Path) -> None:
    """Write a tokenizer as ``tokenizer.json``, with special tokens around a text."""
    import tokenizers

    made = tokenizers.BertWordPieceTokenizer(vocab={w: i for i, w in enumerate(WORDS)})
    made.save(str(folder / "tokenizer.json"))


def firered(folder: Path, variant: str = "multilingual") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    classifier(folder / f"{variant}_best_model_q8.onnx")
    wordpiece(folder / "tokenizer")
    return folder


def namo(folder: Path, *, types: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    classifier(folder / "model_quant.onnx", types=types)
    whole(folder)
    return folder
