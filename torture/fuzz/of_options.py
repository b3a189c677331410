"""What configures a system or a command: artefacts, prices, options, numbers of a request."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.cli.gate import read_margins
from floorbench.cli.opening import read_declaration
from floorbench.cli.options import settings
from floorbench.core.spec import SystemSpec
from floorbench.events.readout import Readout
from floorbench.run.gate_rules import Rules
from floorbench.systems import frames_probe as probe
from floorbench.systems.api_cost import PriceFile, read_prices
from floorbench.systems.frames_probe import ProbeArtefact
from floorbench.systems.frames_probe import read_artefact as read_probe
from floorbench.systems.llm.recorded import _read as read_recorded
from floorbench.systems.worker_pipe import split
from floorbench.tasks.dualturn import Phrases, read_phrases
from floorbench.web.query import seconds as query_seconds
from floorbench.web.query import whole
from torture.fuzz.files import DECIMAL, file, survives
from torture.fuzz.of_answers import seeds, text
from torture.fuzz.target import Target, finite, law


def _probe(path: Path) -> None:
    survives(read_probe(path), ProbeArtefact)


@cache
def _probe_bytes() -> bytes:
    wanted = probe.names(("yes",))
    readout = Readout(
        labels=("no", "yes"), features=wanted, mean=(0.0,) * len(wanted),
        scale=(1.0,) * len(wanted), weights=((0.5,) * len(wanted),) * 2, bias=(0.1, 0.2),
    )  # fmt: skip
    made = ProbeArtefact(
        version=probe.VERSION, words=("yes",), models=dict.fromkeys(probe.MODELS, readout)
    )
    return codec.encode(made)


def _prices(path: Path) -> None:
    found = read_prices(path)
    survives(found, PriceFile)


_PRICES = {
    "date": "2026-03-01", "currency": "USD",
    "models": {"m": {"text_in": 0.15, "text_out": 0.6, "audio_in": 1.0,
                     "audio_tokens_per_second": 25.0}},
}  # fmt: skip


def _json_value(data: bytes, folder: Path) -> None:
    value = codec.parse(data)
    survives(value, type(value))

    def once(pairs: list[tuple[str, Any]]) -> None:
        law(len({name for name, _ in pairs}) == len(pairs), "a key stands twice")

    json.loads(data.decode("utf-8-sig"), object_pairs_hook=once, parse_int=str)


def _declared(path: Path) -> None:
    survives(read_declaration(path), SystemSpec)


def _phrases(path: Path) -> None:
    found = read_phrases(path)
    survives(found, Phrases)
    law(found.utterance_gap > 0 and len(found.phrases) == len(found.counts), "does not fit")


def _pairs(said: str) -> None:
    pairs = said.split("\n")
    found = settings(pairs)
    law(len(found) == len(pairs), "a setting is lost")
    finite(found)


def _margins(said: str) -> None:
    given = said.split("\n")
    found = read_margins(given)
    Rules(found.points, found.named, (), {}).check()
    plain = [one for one in given if "=" not in one]
    law(len(found.named) + len(plain) == len(given) and len(plain) < 2, "a margin is lost")
    for value, one in zip(found.named.values(), (g for g in given if "=" in g), strict=True):
        law(DECIMAL.fullmatch(one.rpartition("=")[2]), f"{one!r} is taken for {value}")
    law(not plain or DECIMAL.fullmatch(plain[0]), f"{plain} is taken for {found.points}")


def _command(said: str) -> None:
    law(split(said), "a command without words")


def _numbers(said: str) -> None:
    value = whole({"n": said}, "n", 0)
    law(0 <= value < 10**9 and said.isascii(), f"{said!r} is {value}")


def _time(said: str) -> None:
    value = query_seconds({"t": said}, "t")
    law(DECIMAL.fullmatch(said), f"{said!r} is taken for {value}")


def _recorded(path: Path) -> None:
    read_recorded(path)


TARGETS = [
    Target(
        name="system-probe",
        seeds=lambda: [_probe_bytes()],
        read=file("probe.json", _probe),
        covers=("floorbench.systems.frames_probe:read_artefact",),
        share=0.3,
    ),
    Target(
        name="system-prices",
        seeds=seeds(_PRICES),
        read=file("prices.json", _prices),
        covers=("floorbench.systems.api_cost:read_prices",),
        tokens=(b"2026-02-30", b"20260301", b"2026-W01-1"),
    ),
    Target(
        name="system-recorded",
        seeds=seeds({"answer": {"choices": []}}),
        read=file("r.json", _recorded),
        covers=("floorbench.systems.llm.recorded:_read",),
    ),
    Target(
        name="json-value",
        seeds=seeds({"a": {"b": [1, "x", {"a": None}]}, "c\"": True}, '{"a": "\\u0022", "\\u0062": 1}'),
        read=_json_value,
        covers=("floorbench.codec:parse", "floorbench.codec:doubled_key"),
        tokens=(b'"a"', b'\\"', b"\\u0022", b"\\u0061", b"{}"),
    ),
    Target(
        name="system-declaration",
        seeds=seeds({"name": "mine", "version": "1", "labels": ["Takeover", "Dismiss"]}),
        read=file("system.json", _declared),
        covers=("floorbench.cli.opening:read_declaration",),
    ),
    Target(
        name="task-phrases",
        seeds=seeds({"utterance_gap": 1.0, "phrases": ["uh huh", "yeah"], "counts": [10, 5]}),
        read=file("phrases.json", _phrases),
        covers=("floorbench.tasks.dualturn:read_phrases",),
    ),
    Target(
        name="option-settings",
        seeds=seeds('threshold=0.7\nname=x\nlist=["a", 1]\nflag=true', "a-b=1"),
        read=text(_pairs),
        covers=("floorbench.cli.options:settings",),
        tokens=(b"=", b"threshold", b"NaN", b"[", b"{"),
    ),
    Target(
        name="option-margins",
        seeds=seeds("2", "macro_f1=1.5\nlatency=0.2", "3\nfpr=1e1"),
        read=text(_margins),
        covers=("floorbench.cli.gate:read_margins",),
        tokens=(b"=", b"-", b".", b"e", b"inf", b"nan", b"_", "１".encode()),
    ),
    Target(
        name="option-command",
        seeds=seeds("python predict.py --a 'b c'", "x"),
        read=text(_command),
        covers=("floorbench.systems.worker_pipe:split",),
        tokens=(b"'", b'"', b"\\", b" "),
    ),
    Target(
        name="request-whole",
        seeds=seeds("0", "12"),
        read=text(_numbers),
        covers=("floorbench.web.query:whole",),
    ),
    Target(
        name="request-seconds",
        seeds=seeds("0.5", "12", "1e3"),
        read=text(_time),
        covers=("floorbench.web.query:seconds",),
        tokens=(b"_", b"e", b".", b"-"),
    ),
]  # fmt: skip
