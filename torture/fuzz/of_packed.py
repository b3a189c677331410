"""Packed datasets, lists of checksums, and what a plan measures."""

from __future__ import annotations

import hashlib
import io
import shutil
import tempfile
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from floorbench import codec
from floorbench.audio import http
from floorbench.build.pipeline.engine import build
from floorbench.build.pipeline.measured import BuildFactors, measure_build
from floorbench.build.pipeline.record import BUILD_FILE, LINEAGE_FILE
from floorbench.build.pipeline.scaling import forecast_build
from floorbench.core.plain import sample_to_plain
from floorbench.core.sample import Sample
from floorbench.core.vocab import Role
from floorbench.datasets.clips import ClipsSource
from floorbench.datasets.file_check import CHECKSUMS_FILE, changed_files
from floorbench.datasets.shard_check import check_shards
from floorbench.datasets.shard_index import HEADER, Header, read_header
from floorbench.datasets.shard_pack import _DONE, _PLAN, _take_up, pack
from floorbench.datasets.shards import ShardsSource
from floorbench.errors import CODES, FloorbenchError
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.factors import measure
from floorbench.run.planning import aim, plan_run
from floorbench.run.plans import Means
from floorbench.tasks.clips import ClipsTask
from torture import toys
from torture.fuzz.files import file, rows, survives
from torture.fuzz.target import Target, finite, law

TAR, INDEX = "shard-000000.tar", "shard-000000.jsonl"


@cache
def _packed() -> dict[str, bytes]:
    """Pack the clips of the toys; return the files by their names."""
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        pack(ClipsSource(toys.clips(home / "clips")), home / "packed", per_shard=3)
        return {p.name: p.read_bytes() for p in (home / "packed").iterdir()}


def _first_shard() -> dict[str, bytes]:
    """Return a packed dataset of the first shard alone."""
    files = {n: d for n, d in _packed().items() if n in (TAR, INDEX)}
    header = codec.decode(_packed()[HEADER], Header)
    return files | {HEADER: _sealed(replace(header, shards=header.shards[:1]), files)}


def _sealed(header: Header, files: dict[str, bytes]) -> bytes:
    """Return a header of the first shard with the sizes and checksums that its files have."""
    shard = replace(
        header.shards[0],
        size=len(files[TAR]),
        sha256=hashlib.sha256(files[TAR]).hexdigest(),
        index_size=len(files[INDEX]),
        index_sha256=hashlib.sha256(files[INDEX]).hexdigest(),
    )
    one = replace(header, shards=(shard,), samples=shard.samples)
    return codec.encode_pretty(one.sealed()).encode()


def _put(folder: Path, files: dict[str, bytes]) -> str:
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return str(folder)


def _samples(folder: str) -> list[Sample]:
    source = ShardsSource(folder)
    found = list(source.samples())
    law(len(found) == source.header.samples, f"{len(found)} samples of {source.header.samples}")
    for sample in found:
        law(isinstance(sample.id, str) and isinstance(sample.cluster, str), "an id is no text")
        law(isinstance(sample.stratum, str), "a stratum is no text")
        law(all(isinstance(v, str) for v in sample.tags.values()), "a tag is no text")
        seen = sample.observation
        for said in (seen.state, seen.text, seen.spoken_prefix, *(t.text for t in seen.turns)):
            law(said is None or isinstance(said, str), f"{said!r} is no text")
        law(isinstance(seen.language, str), "a language is no text")
        law(seen.cutoff is None or isinstance(seen.cutoff, float | int), "a cutoff is no time")
        law(isinstance(seen.repeat, int), "a count is none")
        codec.encode(sample_to_plain(sample, lambda _, ref: codec.digest(ref.to_wire())))
        for ref in seen.channels.values():
            with suppress(FloorbenchError):
                finite(np.asarray(ref.read()).sum().item())
    return found


def _faults(folder: str) -> int:
    faults = check_shards(folder).faults
    law(all(f.code in CODES for f in faults), "a fault without a known code")
    return len(faults)


def _header(data: bytes, folder: Path) -> None:
    """The header as it is, and sealed anew, as somebody would who means harm."""
    files = _first_shard() | {HEADER: data}
    plain = None
    with suppress(FloorbenchError):
        plain = codec.parse(data)
    if isinstance(plain, dict):
        with suppress(FloorbenchError):
            sealed = codec.convert({**plain, "content": ""}, Header).sealed()
            files[HEADER] = codec.encode_pretty(sealed).encode()
    header = read_header(_put(folder, files))
    survives(header, Header)
    for shard in header.shards:
        law("/" not in shard.file + shard.index, "a name leads elsewhere")
    _samples(str(folder))


def _index(data: bytes, folder: Path) -> None:
    files = _first_shard() | {INDEX: data}
    files[HEADER] = _sealed(codec.decode(files[HEADER], Header), files)
    _faults(_put(folder, files))
    _samples(str(folder))


def _tar(data: bytes, folder: Path) -> None:
    files = _first_shard() | {TAR: data}
    files[HEADER] = _sealed(codec.decode(files[HEADER], Header), files)
    faults = _faults(_put(folder, files))
    if not faults:
        for sample in _samples(str(folder)):
            sample.observation.channels[Role.USER].read()


def _done(data: bytes, folder: Path) -> None:
    """What an interrupted packing goes on from: the shards that lie there whole."""
    plan = {"format": "x"}
    _put(folder, _first_shard() | {_PLAN: codec.encode_pretty(plan).encode(), _DONE: data})
    for shard in _take_up(folder, plan):
        law((folder / shard.file).stat().st_size == shard.size, "a shard of another size")
        law((folder / shard.index).stat().st_size == shard.index_size, "an index of another size")


def _done_bytes() -> bytes:
    header = codec.decode(_first_shard()[HEADER], Header)
    return codec.encode(header.shards[0]) + b"\n"


def _checksums(path: Path) -> None:
    (path.parent / "a.wav").write_bytes(b"a")
    found = changed_files(path.parent)
    law(all(f.code == "FB277" for f in found), "another code")
    lines = path.read_bytes().split(b"\n")
    good = f"{hashlib.sha256(b'a').hexdigest()}  a.wav".encode()
    other = sum(1 for line in lines if line.strip() and line.strip(b"\r") != good)
    law(len(found) <= len(lines), "more faults than lines")
    law(len(found) >= other or b"./" in path.read_bytes(), "a line that is none passes")


# ---- answers of a web server --------------------------------------------------------------------


class _Wire:
    """A connection on which the server says something and hangs up."""

    def __init__(self, said: bytes) -> None:
        self.said = said

    def makefile(self, *_: object, **__: object) -> io.BufferedIOBase:
        return io.BytesIO(self.said)

    def sendall(self, _: bytes) -> None:
        """Take what is sent."""

    def __getattr__(self, _: str) -> Callable[..., None]:
        return lambda *_, **__: None


@contextmanager
def _answering(said: bytes) -> Any:
    def connect(*_: object, **__: object) -> _Wire:
        return _Wire(said)

    def refused(*_: object, **__: object) -> None:
        raise OSError("no such server")

    with (
        mock.patch("socket.create_connection", connect),
        mock.patch("http.client.HTTPSConnection.connect", refused),
        mock.patch("urllib.request.FTPHandler.ftp_open", refused),
        mock.patch.dict("os.environ", {"no_proxy": "*"}),
    ):
        yield


def _http(data: bytes, folder: Path) -> None:
    with _answering(data):
        found = http.HttpStore("http://host.invalid/a").read(3, 5)
    law(isinstance(found, bytes) and len(found) <= 5, "more bytes than asked for")
    law(found in data or b"chunked" in data.lower(), "bytes that were not sent")


# ---- what a plan measures -----------------------------------------------------------------------


@cache
def _built() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as made, mock.patch.dict("os.environ", TORTURE_PAUSE="0"):
        home = Path(made)
        build(toys.Recipe(), out=home / "set", cache=home / "cache")
        return {n: (home / "set" / n).read_bytes() for n in (BUILD_FILE, LINEAGE_FILE)}


def _build_planned(path: Path) -> None:
    for name, data in _built().items():
        if not (path.parent / name).exists():
            (path.parent / name).write_bytes(data)
    found = measure_build(path.parent)
    law(isinstance(found, BuildFactors), "no factors")
    for models in found.tokens.values():
        for spent in models.values():
            for n in (spent.calls, spent.read, spent.written):
                law(type(n) is int and n >= 0, f"{n} tokens")
    codec.encode(forecast_build(found, Means(), items=1000))


@cache
def _ran() -> Path:
    home = Path(tempfile.mkdtemp(prefix="torture-ran-"))
    with mock.patch.dict("os.environ", TORTURE_PAUSE="0"):
        source = ClipsSource(toys.clips(home / "data"))
        choice = SystemChoice(name="level", factory=toys.Level)
        run(
            task=ClipsTask(), system=choice, source=source, out=home / "runs", notify=lambda _: None
        )
    return next((home / "runs").rglob("run.json")).parent


def _run_planned(name: str) -> Callable[[bytes, Path], None]:
    def read(data: bytes, folder: Path) -> None:
        for one in _ran().iterdir():
            if one.is_file():
                shutil.copyfile(one, folder / one.name)
        (folder / name).write_bytes(data)
        factors = measure(folder)
        found = plan_run(factors, aim(factors, samples=1000), Means())
        codec.encode(found)

    return read


_LINEAGE = {"id": "a", "steps": [
    {"key": "k", "item": "a", "stage": "s", "notes": [
        {"kind": "call", "model": "m", "tokens": {"prompt": 3, "generated": 4}},
        {"kind": "call", "model": "m", "prompt_tokens": 5, "generated_tokens": 6},
    ]},
]}  # fmt: skip

TARGETS = [
    Target(
        name="packed-header",
        seeds=lambda: [_first_shard()[HEADER]],
        read=_header,
        covers=("floorbench.datasets.shard_index:read_header",),
        tokens=(b'"shards"', b'"samples"', b'"file"', b"../a.tar", b'"size"'),
        share=0.5,
    ),
    Target(
        name="packed-index",
        seeds=lambda: [_first_shard()[INDEX]],
        read=_index,
        covers=("floorbench.datasets.shard_index:read_index", "floorbench.datasets.shards:sample_of"),
        tokens=(b'"key"', b'"members"', b'"member"', b'"silent_from"', b'"cutoff"', b'"channel"',
                b'"words"', b'"span"', b'"turns"', b'"role"', b'"question"', b'"activity"'),
        share=0.5,
    ),
    Target(
        name="packed-tar",
        seeds=lambda: [_first_shard()[TAR]],
        read=_tar,
        covers=("floorbench.datasets.shard_check:_Walk._members",),
        tokens=(b"ustar\x0000", b"000000000.json"),
        share=0.3,
    ),
    Target(
        name="packed-interrupted",
        seeds=lambda: [_done_bytes()],
        read=_done,
        covers=("floorbench.datasets.shard_pack:_whole", "floorbench.datasets.shard_pack:_take_up"),
        tokens=(b'"file"', b'"index"', b"\n"),
        share=0.5,
    ),
    Target(
        name="data-checksums",
        seeds=lambda: [f"{hashlib.sha256(b'a').hexdigest()}  a.wav\n".encode()],
        read=file(CHECKSUMS_FILE, _checksums),
        covers=("floorbench.datasets.file_check:changed_files",),
        tokens=(b"  ", b"../", b"a.wav", b"\x00", b"a" * 300),
    ),
    Target(
        name="storage-http",
        seeds=lambda: [
            b"HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\n\r\nabcde",
            b"HTTP/1.1 206 P\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
            b"HTTP/1.0 206 P\r\n\r\nab",
        ],
        read=_http,
        covers=("floorbench.audio.http:HttpStore.read",),
        refusals=(OSError, ValueError),  # a store's way to refuse, see audio.storage
        tokens=(b"302 Found\r\nLocation: /b", b"302 Found\r\nLocation: ftp://h/a", b"200 OK",
                b"416 X", b"404 X", b"Content-Length: ", b"\r\n", b"Transfer-Encoding: chunked"),
        share=0.5,
    ),
    Target(
        name="plan-build-record",
        seeds=lambda: [_built()[BUILD_FILE]],
        read=file(BUILD_FILE, _build_planned),
        covers=("floorbench.build.pipeline.measured:measure_build",),
        tokens=(b'"stages"', b'"entered"', b'"finished"', b'"seeds"', b'"spread"', b'"calls"'),
        share=0.1,
    ),
    Target(
        name="plan-build-lineage",
        seeds=lambda: [_built()[LINEAGE_FILE], rows(_LINEAGE)],
        read=file(LINEAGE_FILE, _build_planned),
        covers=("floorbench.build.pipeline.measured:_lineage",),
        tokens=(b'"steps"', b'"notes"', b'"call"', b'"tokens"', b'"prompt_tokens"'),
        share=0.1,
    ),
    *(
        Target(
            name=f"plan-run-{part}",
            seeds=lambda name=name: [(_ran() / name).read_bytes()],
            read=_run_planned(name),
            covers=("floorbench.run.factors:measure",),
            tokens=(b'"sittings"', b'"workers"', b'"written"', b'"batch"', b'"loading"', b'"wall"'),
            share=0.1,
        )
        for part, name in (("record", "run.json"), ("journal", "predictions.jsonl"))
    ),
]  # fmt: skip
