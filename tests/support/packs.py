"""Packed datasets for tests: made small, taken apart, put together wrongly."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from floorbench import codec
from floorbench.datasets.open import open_dataset
from floorbench.datasets.shard_index import HEADER, Header, read_header
from floorbench.datasets.shard_pack import pack
from support import codett_tiny, echo_tiny, trp_tiny, two_channel_tiny


def clips(root: Path, count: int = 6) -> Path:
    """Write labelled clips of 0.1 s, all of different content."""
    for n in range(count):
        label = ("complete", "incomplete")[n % 2]
        codett_tiny.tone(root / label / f"{n}.wav", hertz=200 + 31 * n, seconds=0.1)
    return root


def codett(root: Path) -> Path:
    return codett_tiny.build(root, history=2, languages=("EN",))


def echo(root: Path) -> Path:
    return echo_tiny.build(root, languages=("en",))


def silenced(root: Path) -> Path:
    """A contrast set whose system channel is silent from the onset on."""
    folder = echo_tiny.build(root, languages=("zh",))
    path = folder / "manifest.json"
    told = json.loads(path.read_text()) | {"system_channel": "silent_from_onset"}
    path.write_text(json.dumps(told))
    return folder


def stereo(root: Path) -> Path:
    """A contrast set with both channels in one file."""
    folder = echo_tiny.build(root, languages=("en",))
    lines = [json.loads(x) for x in (folder / "samples.jsonl").read_text().splitlines()]
    for line in lines:
        files = [folder / line["audio"][role]["path"] for role in ("user", "system")]
        sides = [soundfile.read(f)[0] for f in files]
        name = f"audio/{line['sample_id']}.flac"
        soundfile.write(folder / name, np.stack(sides, axis=1), echo_tiny.RATE, "PCM_16")
        line["audio"] = {
            role: {"path": name, "channel": n} for n, role in enumerate(("user", "system"))
        }
    echo_tiny.write(folder, lines, echo_tiny.pairs(lines))
    return folder


def calls(root: Path) -> Path:
    """Two calls of two channels, one of them with sound."""
    names = ("sw9001", "sw9002")
    folder = two_channel_tiny.build(root, names, seconds=24.0)
    sides = two_channel_tiny.call(0, seconds=24.0)
    two_channel_tiny.stereo(folder / "sw9001.wav", sides, seconds=24.0)
    (folder / "splits.json").unlink()
    return folder


KINDS: dict[str, Callable[[Path], Path]] = {
    "clips": clips,
    "codett": codett,
    "echo": echo,
    "silenced": silenced,
    "stereo": stereo,
    "trp": trp_tiny.build,
    "calls": calls,
}


def packed(tmp_path: Path, kind: str = "clips", **how: Any) -> Path:
    """Build a dataset of a kind, pack it and return the folder."""
    source = open_dataset(KINDS[kind](tmp_path / kind))
    pack(source, tmp_path / "packed", **({"per_shard": 2} | how))
    return tmp_path / "packed"


def rewrite(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the header and seal it again, as somebody would who means harm."""
    plain = json.loads((folder / HEADER).read_text())
    change(plain)
    header = codec.convert({**plain, "content": ""}, Header)
    (folder / HEADER).write_text(codec.encode_pretty(header.sealed()))


def reseal(folder: Path, number: int = 0) -> None:
    """Give the header the sizes and checksums that the files of a shard have now."""
    shard = read_header(str(folder)).shards[number]
    tar, index = (folder / shard.file).read_bytes(), (folder / shard.index).read_bytes()
    now = dataclasses.replace(
        shard,
        size=len(tar),
        sha256=hashlib.sha256(tar).hexdigest(),
        index_size=len(index),
        index_sha256=hashlib.sha256(index).hexdigest(),
    )
    rewrite(folder, lambda h: h["shards"].__setitem__(number, codec.to_builtins(now)))


def edit_index(folder: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    """Change the index of the first shard and seal everything again."""
    path = folder / read_header(str(folder)).shards[0].index
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    change(lines)
    path.write_bytes(b"".join(codec.encode(line) + b"\n" for line in lines))
    reseal(folder)


def copy(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to))
