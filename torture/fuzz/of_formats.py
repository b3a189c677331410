"""Annotation files: every format, read leniently and strictly, and written again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from floorbench.errors import DataError
from floorbench.formats import FORMATS, Document, read
from floorbench.formats.files import detect, render
from floorbench.formats.registry import codec
from floorbench.formats.rows import fields
from floorbench.formats.source import Source
from floorbench.formats.tiers import Tier
from torture.fuzz.target import Target, finite, law, outcome

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden" / "formats"
FILES = {
    "textgrid": ("short.TextGrid", "comments.TextGrid", "elan_long.TextGrid", "oneline.TextGrid",
                 "bom16.TextGrid", "nobom16.TextGrid", "bom8_crlf.TextGrid"),
    "eaf": ("origin.eaf",), "chat": ("call.cha",), "vtt": ("call.vtt",), "srt": ("call.srt",),
    "seglst": ("call.seglst.json",), "words": ("call.words.json",),
    "ms98": ("sw0001A-ms98-a-word.text",), "rttm": ("call.rttm",), "stm": ("call.stm",),
    "ctm": ("call.ctm",), "uem": ("call.uem",), "audacity": ("call.labels.txt",),
    "table": ("call.words.csv",),
}  # fmt: skip
LINES = ("ms98", "rttm", "stm", "ctm", "uem", "audacity")
"""Formats of one entry a line, where each line must be an entry or be named."""
TOKENS = {
    "textgrid": (b'"IntervalTier"', b'"TextTier"', b"<exists>", b"xmin = ", b"intervals [1]:", b"!"),
    "eaf": (b"<TIER ", b"TIME_VALUE=", b"<REF_ANNOTATION ", b"PARENT_REF=", b"<!DOCTYPE a>", b"&#1;",
            b'ANNOTATION_REF="', b"<TIME_SLOT/>"),
    "chat": (b"@Begin", b"@End", b"*A:\t", b"%wor:\t", b"\x15", b"\x15" b"1_2\x15", b"\n\t", b"@UTF8"),
    "vtt": (b"WEBVTT", b"NOTE", b"<v A>", b"</v>", b" --> ", b"00:01.000", b"STYLE", b"&amp;"),
    "srt": (b" --> ", b"00:00:01,000", b"1\n"),
    "seglst": (b'"session_id"', b'"words"', b'"start_time"', b'"speaker"'),
    "words": (b'"word"', b'"segments"', b'"start"', b'"score"', b'"speaker"'),
    "rttm": (b"SPEAKER", b"<NA>", b";;", b"LEXEME"),
    "audacity": (b"\\\t", b"\t"),
    "table": (b"word", b"start", b"end", b"duration", b"speaker", b'"', b";", b",", b'""'),
}  # fmt: skip


def _read(name: str):
    def judged(data: bytes, folder: Path) -> None:
        path = folder / "call"
        path.write_bytes(data)
        found = outcome(lambda: read(path, format=name))
        strict = outcome(lambda: parse(data, name, strict=True))
        if isinstance(found, Exception):
            law(isinstance(strict, Exception), "strict reading takes what lenient reading refuses")
            raise found
        faults = [n for n in found.warnings if n.fault]
        if isinstance(strict, Exception):
            law(
                faults,
                f"strict reading refuses ({strict}) what lenient reading takes without a word",
            )
        else:
            law(not faults, "strict reading takes a file with faults")
            law(strict == found, "strict and lenient reading differ")
        check_document(found)
        if name in LINES:
            _every_line_counts(data, found)
        if name == "chat":
            said = sum(len(t.entries) for t in found.tiers if t.parent is None)
            marks = Source(name="", data=data).text.count("*")
            law(said <= marks, f"{said} utterances of {marks} lines")
        _round(found, name)
        if len(data) % 4 == 0:
            _same_in_other_clothes(data, found, name)

    return judged


def check_document(document: Document) -> None:
    """Check what is true of every document."""
    finite(document)
    for tier in document.tiers:
        last = None
        for entry in tier.entries:
            if entry.timed:
                law(entry.start <= entry.end, f"an entry from {entry.start} to {entry.end}")
            if entry.start is not None and tier.parent is None:
                law(last is None or entry.start >= last, f"tier {tier.name!r} is out of order")
                last = entry.start


def _every_line_counts(data: bytes, document: Document) -> None:
    """A line that is neither blank nor a comment is an entry, or a notice names it or its kind."""
    notices = [n.what for n in document.warnings]
    if any(" more" in n for n in notices):
        return
    entries = {e.line for t in document.tiers for e in t.entries}
    named = {n.line for n in document.warnings}
    for number, line in Source(name="", data=data).lines():
        said = number in entries or number in named
        if said or not line.strip() or line.startswith(";;"):
            continue
        if line.lstrip().startswith("\\"):  # Audacity's frequencies belong to the line before
            continue
        kind = fields(line)[0]
        law(any("not read" in n and repr(kind[:40]) in n for n in notices),
            f"line {number} is read as nothing, and no notice says so")  # fmt: skip


def _round(document: Document, name: str) -> None:
    """What was read can be written, reads back, and from then on nothing is lost."""
    try:
        text, losses = render(document, "call", format=name)
    except DataError as error:
        law(error.code == "FB708", f"what was read cannot be written: {error}")
        return
    again = parse(text.encode(), name)
    if not losses:
        law(_plain(again) == _plain(document), "written without a loss, it reads back otherwise")
    text, more = render(again, "call", format=name)
    law(not more, f"what was written and read loses on the second writing: {more[:1]}")
    third = parse(text.encode(), name)
    law(third.tiers == again.tiers, "the second writing reads back otherwise")


def parse(data: bytes, name: str, *, strict: bool = False) -> Document:
    """Read bytes as :func:`floorbench.formats.read` reads a file."""
    return codec(name).read(Source(name="call", data=data, strict=strict))


def _plain(document: Document) -> list[Tier]:
    own = (
        replace(t, extent=None, speaker=None if t.speaker == t.name else t.speaker)
        for t in document.tiers
    )
    return sorted(own, key=lambda t: (t.name, str(t.recording), str(t.channel), str(t.speaker)))


def _same_in_other_clothes(data: bytes, found: Document, name: str) -> None:
    """A byte-order mark and other line ends change nothing."""
    if name in ("eaf",) or b"\r" in data or b"\0" in data or not data:
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return
    if not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        marked = outcome(lambda: parse(b"\xef\xbb\xbf" + data, name))
        law(not isinstance(marked, Exception), f"with a byte-order mark it is refused: {marked}")
        law(marked.tiers == found.tiers, "with a byte-order mark it reads otherwise")
    ends = outcome(lambda: parse(data.replace(b"\n", b"\r\n"), name))
    law(not isinstance(ends, Exception), f"with other line ends it is refused: {ends}")
    law(ends.tiers == found.tiers, "with other line ends it reads otherwise")


def _detect(data: bytes, folder: Path) -> None:
    path = folder / "call.txt"
    path.write_bytes(data)
    law(detect(path) in FORMATS, "an unknown format")
    check_document(read(path))


def _module(name: str) -> str:
    return FORMATS[name].target.partition(":")[0]


COVERS = {
    "seglst": ("floorbench.formats.jsontext:load",),
    "words": ("floorbench.formats.jsontext:load",),
    "eaf": ("floorbench.formats.xmltree:parse_xml",),
}
TARGETS = [
    Target(
        name=f"format-{name}",
        seeds=lambda name=name: [(GOLDEN / f).read_bytes() for f in FILES[name]],
        read=_read(name),
        covers=(f"{type(codec(name)).__module__}:{type(codec(name)).__name__}.read",
                *COVERS.get(name, ())),
        tokens=TOKENS.get(name, ()),
    )
    for name in FORMATS
] + [
    Target(
        name="format-detected",
        seeds=lambda: [(GOLDEN / f).read_bytes() for files in FILES.values() for f in files[:1]],
        read=_detect,
        covers=("floorbench.formats.files:detect", "floorbench.formats.registry:by_content"),
        tokens=tuple(t for ts in TOKENS.values() for t in ts),
    )
]  # fmt: skip
