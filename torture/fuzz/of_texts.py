"""Files that a user may put in the place of ours: texts of recipes, configurations of models."""

from __future__ import annotations

import json
from pathlib import Path

from floorbench import codec
from floorbench.build.echo_recipe import texts
from floorbench.systems.text_onnx import _config
from floorbench.web.query import _cell
from floorbench.web.sound import WaveCache
from torture.fuzz.files import file
from torture.fuzz.of_answers import seeds, text
from torture.fuzz.target import Target, finite, law


def _groups(path: Path) -> None:
    found = texts.read_texts.__wrapped__(path.parent, "en")
    plain = codec.parse(path.read_bytes())
    law(len(found.groups) == len(plain["groups"]), "a group is lost")
    for group in found.groups:
        for context in group.contexts.values():
            law(texts.MARK in context.assistant and len(context.history) % 2, "a broken rule")


def _model_config(path: Path) -> None:
    law(isinstance(_config(path.parent), dict), "no mapping")


def _asked_cell(said: str) -> None:
    metric, slice_ = _cell(said)
    law(isinstance(metric, str) and all(isinstance(v, str) for v in slice_.values()), "no cell")


def _wave(path: Path) -> None:
    import hashlib

    import numpy as np

    from floorbench.audio.ref import ArrayAudio
    from floorbench.web.sound import peaks, track_of

    track = track_of([("user", ArrayAudio(np.zeros(800, dtype=np.float32), rate=8000))])
    name = hashlib.sha256("\0".join(["wave-2", "k"]).encode()).hexdigest()
    path.replace(path.with_name(f"{name}.json"))
    found = WaveCache(path.parent).get(track, ["k"])
    finite(found)
    law(found.keys() == peaks(track).keys(), "a damaged picture passes for whole")


_CONTEXT = {"history": ["Hi."], "assistant": "I would^ go."}
_GROUP = {
    "id": "g",
    "insertion": "no",
    "contexts": {"interruption": _CONTEXT, "off_talk": _CONTEXT},
}


TARGETS = [
    Target(
        name="text-echo-groups",
        seeds=seeds({"groups": [_GROUP, {**_GROUP, "id": "h", "insertion": "yes"}],
                     "slots": {"x": ["a", "b"]}}),
        read=file("en.json", _groups),
        covers=("floorbench.build.echo_recipe.texts:read_texts",),
        tokens=(b"^", b'"interruption"', b'"history"'),
    ),
    Target(
        name="text-model-config",
        seeds=seeds({"tokenizer_class": "X", "chat_template": "{{ a }}"}, {}),
        read=file("tokenizer_config.json", _model_config),
        covers=("floorbench.systems.text_onnx:_config",),
    ),
    Target(
        name="request-cell",
        seeds=seeds({"metric": "accuracy", "condition": "h0"}),
        read=text(_asked_cell),
        covers=("floorbench.web.query:_cell",),
    ),
    Target(
        name="web-wave",
        seeds=lambda: [json.dumps(_peaks()).encode()],
        read=file("w.json", _wave),
        covers=("floorbench.web.sound:WaveCache.get",),
        share=0.5,
    ),
]  # fmt: skip


def _peaks() -> object:
    import numpy as np

    from floorbench.audio.ref import ArrayAudio
    from floorbench.web.sound import peaks, track_of

    track = track_of([("user", ArrayAudio(np.zeros(800, dtype=np.float32), rate=8000))])
    return codec.to_builtins(peaks(track))
