"""``floorbench data check``: whether files are whole; rules and audits of a contrast set."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from floorbench.audio.addresses import is_url
from floorbench.cli import console
from floorbench.core.ports import DatasetSource
from floorbench.core.words import counted
from floorbench.datasets.echo import EchoSource
from floorbench.datasets.echo_closure import Closure, Size, closure, size
from floorbench.datasets.echo_integrity import faults, too_short
from floorbench.datasets.file_check import changed_files, unreadable_audio
from floorbench.datasets.open import open_dataset
from floorbench.datasets.shard_check import check_shards
from floorbench.datasets.shards import ShardsSource
from floorbench.errors import DataError, FloorbenchError

UNEVEN = 0.1
"""Seconds by which the two channels of a sample may differ in length."""


def check(
    data: str, /, *, reader: str | None = None, audio: bool = True, json: bool = False
) -> int:
    """Check a dataset: every row, every sound, the list of checksums.

    Of a matched-contrast set also its integrity rules, sizes, and what the words alone give away.
    Of a packed dataset every byte of every shard. Exits 1 when something is wrong.

    Parameters
    ----------
    data
        Folder, mapping file, ``starter:NAME``, or the URL of a packed dataset.
    reader
        Reader of the data.
    audio
        Also read every sound; of a contrast set, compare its length with the event times and with
        the other channel's.
    json
        Print JSON.
    """
    packed = open_packed(data, reader)
    if packed is not None:
        return _of_shards(packed, json=json)
    source = open_dataset(data if ":" in data else Path(data), reader=reader)
    found = changed_files(Path(data)) if Path(data).is_dir() else []
    if isinstance(source, EchoSource):
        return _of_contrasts(source, found, audio=audio, json=json)
    return _of_samples(source, found, audio=audio, json=json)


def _of_shards(source: ShardsSource, *, json: bool) -> int:
    """Check every byte of a packed dataset."""
    with console.progress("shards") as tick:
        total = len(source.header.shards)
        found = check_shards(source.address, progress=lambda done: tick(done, total))
    faults = found.faults
    if json:
        console.data_json(
            {
                "dataset": source.describe(),
                "samples": found.header.samples,
                "shards": len(found.header.shards),
                "bytes": found.bytes,
                "faults": _plain(faults),
            }
        )
        return 1 if faults else 0
    _print_faults(faults)
    console.data(
        f"{source.name}: {counted(found.header.samples, 'sample')}, "
        f"{counted(len(found.header.shards), 'shard')}, "
        f"{found.bytes / 1e6:.1f} MB read: {counted(len(faults), 'fault', zero='no')}"
    )
    return 1 if faults else 0


def _of_samples(
    source: DatasetSource, found: list[FloorbenchError], *, audio: bool, json: bool
) -> int:
    """Check what any dataset has: samples that are read, and sounds that can be decoded."""
    known = source.describe().get("samples")
    samples, sounds, total = 0, 0, known if isinstance(known, int) else 0
    with console.progress("check") as tick:
        if audio:
            samples, sounds, broken = unreadable_audio(
                source, lambda done: tick(done, max(done, total))
            )
            found += broken
        else:
            samples = sum(1 for _ in source.samples())
    if json:
        told = {"dataset": source.describe(), "faults": _plain(found)}
        console.data_json({**told, "samples": samples, "sounds": sounds})
        return 1 if found else 0
    _print_faults(found)
    read = f"{counted(sounds, 'sound')} read" if audio else "no sound read"
    console.data(
        f"{source.name}: {counted(samples, 'sample')}, "
        f"{read}: {counted(len(found), 'fault', zero='no')}"
    )
    return 1 if found else 0


def _of_contrasts(
    source: EchoSource, found: list[FloorbenchError], *, audio: bool, json: bool
) -> int:
    source.without_refusal()
    found += faults(source.rows, source.pairs)
    if audio:
        found += _of_audio(source)
    table1 = size(source.rows, source.pairs)
    languages = list(dict.fromkeys(row.language for row, _ in source.rows))
    table2 = {
        language: closure([row for row, _ in source.rows if row.language == language])
        for language in languages
    }
    if json:
        console.data_json(
            {
                "dataset": source.describe(),
                "faults": _plain(found),
                "size": dataclasses.asdict(table1),
                "closure": {k: dataclasses.asdict(v) for k, v in table2.items()},
            }
        )
        return 1 if found else 0
    _print_faults(found)
    described = source.describe()
    console.data(f"{source.name} {described['version']}: {counted(len(found), 'fault', zero='no')}")
    for notice in described["notices"]:
        console.data(f"NOTE: {notice}")
    _print_sizes(table1, samples=len(source.rows))
    _print_closure(table2)
    return 1 if found else 0


def _print_sizes(sizes: Size, *, samples: int) -> None:
    console.data("\nTable 1: size")
    kinds = [
        (kind, *(str(n) for n in counts.values()), str(sum(counts.values())))
        for kind, counts in (("groups", sizes.groups), ("pairs", sizes.pairs))
    ]
    width = max(len(k) for k in kinds)
    filled = [(k[0], *k[1:-1], *[""] * (width - len(k)), k[-1]) for k in kinds]
    console.data(console.columns(filled, ("", *sizes.groups, "all")))
    row = ("samples", *(str(n) for n in sizes.samples.values()), str(samples))
    console.data(console.columns([row], ("", *sizes.samples, "all")))


def _print_closure(by_language: Mapping[str, Closure]) -> None:
    console.data("Table 2: lexical closure, backchannel items alone")
    rows = [
        (
            language,
            str(c.instances),
            str(c.vocabulary),
            _percent(c.frequent_only),
            _percent(c.unique),
            " / ".join("-" if v is None else f"{v:.1f}" for v in c.mean_length.values()),
        )
        for language, c in by_language.items()
    ]
    head = (
        "language", "instances", "characters", "15 frequent only %", "unique %",
        "mean length I / B / O",
    )  # fmt: skip
    console.data(console.columns(rows, head))


def _plain(found: Sequence[FloorbenchError]) -> list[dict[str, str]]:
    return [{"code": f.code, "what": f.what, "where": str(f.where)} for f in found]


def _print_faults(found: Sequence[FloorbenchError]) -> None:
    for fault in found:
        where = f" {fault.where}:" if fault.where is not None else ""
        console.data(f"{fault.code}{where} {fault.what}")


def open_contrasts(data: str, reader: str | None) -> EchoSource:
    """Open a matched-contrast set without refusing a broken one.

    Raises
    ------
    DataError
        ``FB266`` when it is a dataset of another kind.
    """
    source = open_dataset(data if ":" in data else Path(data), reader=reader)
    if not isinstance(source, EchoSource):
        raise DataError("FB266", f"'{data}' is read by {type(source).__name__}")
    source.without_refusal()
    return source


def open_packed(data: str, reader: str | None) -> ShardsSource | None:
    """Open a packed dataset; ``None`` when it is one of another kind."""
    if reader == "shards" or is_url(data) or (reader is None and ShardsSource.detect(Path(data))):
        return ShardsSource(data)
    return None


def _of_audio(source: EchoSource) -> list[FloorbenchError]:
    found: list[FloorbenchError] = []
    from floorbench.core.vocab import Role

    # A channel that is silenced from the onset on may end anywhere after it.
    planned = source.describe()["system_channel"] == "planned"
    for row, at in source.rows:
        lasting: list[float] = []
        for role in (Role.USER, Role.SYSTEM):
            try:
                audio = source.channel(row, role, place=at)
                if audio is None:
                    continue
                seconds = audio.read().size / audio.rate
            except DataError as error:
                found.append(error)
                continue
            lasting.append(seconds)
            problem = too_short(row, role.value, seconds, planned=planned)
            if problem is not None:
                found.append(DataError("FB263", problem, where=at))
        if planned and max(lasting, default=0.0) - min(lasting, default=0.0) > UNEVEN:
            what = " and ".join(f"{s:.3f} s" for s in lasting)
            found.append(DataError("FB263", f"the channels last {what}: not one clock", where=at))
    return found


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
