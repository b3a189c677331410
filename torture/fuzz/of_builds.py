"""What builds keep and read again: results, sounds, factors, verdicts."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path

import numpy as np

from floorbench import codec
from floorbench.build.pipeline.record import Factors, factors_path, read_factors
from floorbench.build.pipeline.stage import Item
from floorbench.build.pipeline.store import Folder, Result, ResultCache, SoundStore
from floorbench.build.recordings.mine import read_verdicts
from torture.fuzz.files import file, rows
from torture.fuzz.of_answers import seeds
from torture.fuzz.target import Target, finite, law

_RESULT = Result(
    key="ab" * 32, stage="text", version=1, deterministic=True, item="i", attempt=0,
    items=(Item(id="i", fields={"text": "é", "n": 1.5}, audio={}),), notes=({"kind": "call"},),
)  # fmt: skip


@cache
def _result_bytes() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        folder = Folder(Path(made))
        cache_ = ResultCache(folder, SoundStore(folder))
        cache_.put(_RESULT)
        return cache_.path(_RESULT.key).read_bytes()


def _result(data: bytes, folder: Path) -> None:
    store = Folder(folder)
    cache_ = ResultCache(store, SoundStore(store))
    path = cache_.path(_RESULT.key)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    found = cache_.get(_RESULT.key)
    law(found is None or found == _RESULT, "a damaged result passes for whole")


def _sound(data: bytes, folder: Path) -> None:
    from floorbench.build.pipeline.store import sound_digest

    store = SoundStore(Folder(folder))
    digest = sound_digest(np.arange(800, dtype="<i2"), 8000)
    path = store.path(digest)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    pcm, rate = store.pcm(digest)
    law(rate == 8000 and np.array_equal(pcm, np.arange(800)), "a damaged sound passes for whole")


@cache
def _sound_bytes() -> bytes:
    import soundfile

    buffer = io.BytesIO()
    soundfile.write(buffer, np.arange(800, dtype=np.int16), 8000, subtype="PCM_16", format="FLAC")
    return buffer.getvalue()


def _factors(path: Path) -> None:
    folder = path.parent
    target = factors_path(folder, "r")
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)
    finite(read_factors(folder, "r"))


def _verdicts(path: Path) -> None:
    found = read_verdicts(path)
    law(set(found.values()) <= {"accept", "reject"}, "another verdict")
    ids = [json.loads(x)["id"] for x in path.read_text("utf-8").splitlines() if x.strip()]
    law({str(i) for i in ids} == set(found), "an item is lost")
    law(all(isinstance(i, str) for i in ids), "an id that is no text")


TARGETS = [
    Target(
        name="build-result",
        seeds=lambda: [_result_bytes()],
        read=_result,
        covers=("floorbench.build.pipeline.store:ResultCache.get",),
    ),
    Target(
        name="build-sound",
        seeds=lambda: [_sound_bytes()],
        read=_sound,
        covers=("floorbench.build.pipeline.store:SoundStore.pcm",),
        native=True,
        tokens=(b"fLaC",),
    ),
    Target(
        name="build-factors",
        seeds=seeds(json.loads(codec.encode(Factors(stages={})))),
        read=file("f.json", _factors),
        covers=("floorbench.build.pipeline.record:read_factors",),
    ),
    Target(
        name="build-verdicts",
        seeds=lambda: [rows({"id": "a", "verdict": "accept"}, {"id": "b", "verdict": "reject"})],
        read=file("v.jsonl", _verdicts),
        covers=("floorbench.build.recordings.mine:read_verdicts",),
        tokens=(b'"id"', b'"verdict"', b'"accept"'),
    ),
]  # fmt: skip
