"""``floorbench data pack``, ``data list`` and ``data show``."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from floorbench import codec
from floorbench.cli import console
from floorbench.cli.options import ReaderSettings, open_given
from floorbench.core.ports import DatasetSource
from floorbench.core.sample import Sample
from floorbench.core.words import counted
from floorbench.datasets.filtering import FilteredSource
from floorbench.datasets.shard_pack import PER_SHARD, SHARD_SIZE, pack
from floorbench.errors import UsageError

Where = Annotated[
    list[str] | None,
    Parameter(
        name="--where",
        negative=(),
        help="Only samples with NAME=VALUE[,VALUE] or NAME!=VALUE; repeat for several conditions.",
    ),
]
VALUES_SHOWN = 10
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT]?)i?B?", re.IGNORECASE)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def pack_data(
    data: str,
    /,
    *,
    out: Path,
    shard_size: str = f"{SHARD_SIZE // 10**6}MB",
    per_shard: int = PER_SHARD,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    where: Where = None,
    json: bool = False,
) -> int:
    """Pack a dataset into shards that stream, with a checksum for every byte.

    The packed dataset is opened like any other and gives the same numbers. An interrupted call
    goes on when it is called again.

    Parameters
    ----------
    data
        Folder or file, ``starter:NAME``, or the URL of a packed dataset.
    out
        Folder to make.
    shard_size
        Bytes after which a shard ends, for example 512MB.
    per_shard
        Samples after which a shard ends.
    reader
        Reader of the data; found by looking at them by default.
    json
        Print JSON.
    """
    source = _open(data, reader, reader_sets, where)
    known = source.describe().get("samples")
    total = known if isinstance(known, int) else 0
    with console.progress("pack") as tick:
        header = pack(
            source,
            out,
            shard_size=_bytes(shard_size),
            per_shard=per_shard,
            progress=lambda done: tick(done, max(done, total)),
        )
    size = sum(shard.size + shard.index_size for shard in header.shards)
    if json:
        console.data_json({"out": str(out), "header": header})
    else:
        count = len(header.shards)
        console.say(
            f"{counted(header.samples, 'sample')} in {counted(count, 'shard')}, {size / 1e6:.1f} MB"
        )
        console.data(str(out))
    return 0


def list_samples(
    data: str,
    /,
    *,
    where: Where = None,
    limit: int | None = None,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    json: bool = False,
) -> int:
    """List the samples of a dataset, one a line: id, cluster and tags.

    Parameters
    ----------
    data
        Folder or file, ``starter:NAME``, or the URL of a packed dataset.
    limit
        At most so many.
    reader
        Reader of the data.
    json
        Print one JSON object a line.
    """
    if limit is not None and limit < 1:
        raise UsageError("FB103", f"--limit {limit} must be at least 1")
    source = _open(data, reader, reader_sets, where)
    lines: list[str] = []
    number = 0
    for number, sample in enumerate(source.samples(), start=1):
        lines.append(_json_line(sample) if json else _text_line(sample))
        if len(lines) == 1000:
            console.data("\n".join(lines))
            lines.clear()
        if number == limit:
            break
    if lines:
        console.data("\n".join(lines))
    if not number:
        console.say("no sample is like that; `floorbench data show` names all tags and values")
    return 0


def show_data(
    data: str,
    /,
    *,
    where: Where = None,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    digest: bool = False,
    json: bool = False,
) -> int:
    """Show what a dataset says of itself, and count its samples by every tag.

    Parameters
    ----------
    data
        Folder or file, ``starter:NAME``, or the URL of a packed dataset.
    reader
        Reader of the data.
    digest
        Also the digest; of data that are not packed it may need all audio.
    json
        Print JSON.
    """
    source = _open(data, reader, reader_sets, where)
    count = 0
    tags: dict[str, Counter[str]] = {}
    for sample in source.samples():
        count += 1
        for name, value in sample.tags.items():
            tags.setdefault(name, Counter())[value] += 1
    by_tag = {n: dict(sorted(c.items(), key=lambda x: (-x[1], x[0]))) for n, c in tags.items()}
    if json:
        console.data_json(
            {
                "dataset": source.describe(),
                **({"digest": source.digest()} if digest else {}),
                "samples": count,
                "tags": by_tag,
            }
        )
        return 0
    described = source.describe()
    console.data(f"{source.name} {described.get('version', '')}: {counted(count, 'sample')}")
    if digest:
        console.data(f"digest {source.digest()}")
    for notice in described.get("notices", []):
        console.data(f"NOTE: {notice}")
    rows = [
        (name if not at else "", value, str(n))
        for name, values in by_tag.items()
        for at, (value, n) in enumerate(_most(values))
    ]
    if rows:
        console.data(console.columns(rows, ("tag", "value", "samples")))
    return 0


def _open(
    data: str, reader: str | None, reader_sets: ReaderSettings, where: list[str] | None
) -> DatasetSource:
    source = open_given(data, reader, reader_sets)
    return FilteredSource(source, where) if where else source


def _bytes(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError("FB103", f"--shard-size '{text}' is no size", hint="for example 512MB")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def _text_line(sample: Sample) -> str:
    tags = " ".join(f"{name}={value}" for name, value in sample.tags.items())
    text = f"{sample.id}\t{sample.cluster}\t{tags}"
    return "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in text)


def _json_line(sample: Sample) -> str:
    told = {
        "id": sample.id,
        "cluster": sample.cluster,
        "stratum": sample.stratum,
        "tags": sample.tags,
    }
    return codec.encode(told).decode()


def _most(values: dict[str, int]) -> list[tuple[str, int]]:
    pairs = list(values.items())
    if len(pairs) <= VALUES_SHOWN:
        return pairs
    rest = pairs[VALUES_SHOWN:]
    return [*pairs[:VALUES_SHOWN], (f"({len(rest)} more)", sum(n for _, n in rest))]
