"""WebVTT captions (W3C): cues with voices.

A voice tag ``<v Name>`` names the speaker; a cue of several voices gives one entry each. Text
outside a voice belongs to the tier ``captions``. Other tags (classes, italics, time tags) are
taken out, notes, styles and regions are passed over, both with a remark. Cue identifiers and
settings are kept.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import ClassVar

from floorbench.formats.abilities import Abilities
from floorbench.formats.cues import TIMING, blocks, clock_text, clock_time
from floorbench.formats.registry import Codec
from floorbench.formats.rows import Row, document_of, in_time_order
from floorbench.formats.source import Source
from floorbench.formats.tiers import Document, Entry

NAME = "captions"
_TAG = re.compile(r"<[^<>]*>")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?[ \t\n]++([^<>]*)>")


class Vtt(Codec):
    """Reader and writer of WebVTT files."""

    abilities: ClassVar[Abilities] = Abilities(
        names="speaker", fixed_name=NAME, name_text="line", text="cue", decimals=3,
        zero_length=False, extra=frozenset({"id", "settings"}),
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read cues, a tier per voice."""
        if not re.match(r"WEBVTT(?:[ \t\n]|$)", source.text):
            source.fail("FB703", "the first line is not WEBVTT", 1)
        rows: list[Row] = []
        passed = tags = 0
        for number, block in enumerate(blocks(source)):
            if number == 0:
                timing = next((n for n, (_, text) in enumerate(block) if "-->" in text), None)
                if timing is None:
                    continue
                source.fault("no blank line after the header", block[timing][0])
                block = block[timing:]
            name = ""
            if "-->" not in block[0][1]:
                if len(block) < 2 or "-->" not in block[1][1]:
                    if re.match(r"(NOTE|STYLE|REGION)(\s|$)", block[0][1]):
                        passed += 1
                    else:
                        source.fault("a block without a timing line; skipped", block[0][0])
                    continue
                name = block[0][1]
                block = block[1:]
            line, timing_line = block[0]
            with source.row(line):
                match = TIMING.match(timing_line)
                start, end = (
                    (clock_time(match[1]), clock_time(match[2]))
                    if match
                    else (clock_time(timing_line), None)
                )
                if start == end:
                    source.fault("a cue without length", line)
                extra = {"id": name} if name else {}
                if match and match[3]:
                    extra["settings"] = match[3]
                payload = "\n".join(text for _, text in block[1:])
                for speaker, raw in _voices(payload):
                    text, removed = _TAG.subn("", raw)
                    tags += removed
                    text = "\n".join(
                        part for p in html.unescape(text).split("\n") if (part := p.strip(" \t"))
                    )
                    entry = Entry(start=start, end=end, text=text, extra=extra, line=line)
                    rows.append(Row(entry, speaker or NAME, speaker))
        if passed:
            source.note(f"{passed} note, style or region blocks not read")
        if tags:
            source.note(f"{tags} tags taken out of cue texts")
        if not rows:
            source.note("the file has no entries")
        return document_of(source, rows, format="vtt", overlaps=False)

    def render(self, document: Document) -> str:
        """Write cues by start, with voice tags."""
        parts = ["WEBVTT\n\n"]
        for tier, entry in in_time_order(document.tiers):
            start, end = entry.edges
            name = f"{entry.extra['id']}\n" if "id" in entry.extra else ""
            settings = f" {entry.extra['settings']}" if "settings" in entry.extra else ""
            voice = "" if tier.speaker is None else f"<v {_escaped(tier.speaker)}>"
            text = f"{voice}{_escaped(entry.text)}"
            text += "\n" if text else ""
            times = f"{clock_text(start, '.')} --> {clock_text(end, '.')}"
            parts.append(f"{name}{times}{settings}\n{text}\n")
        return "".join(parts)


def _voices(payload: str) -> Iterator[tuple[str | None, str]]:
    """Split a cue's text at its voice tags; a cue without any text gives one empty piece."""
    pieces = _VOICE.split(payload)
    yielded = False
    before = re.sub(r"</v>", "", pieces[0]).strip()
    if before or len(pieces) == 1:
        yield None, before
        yielded = True
    for speaker, spoken in zip(pieces[1::2], pieces[2::2], strict=True):
        inside, _, after = spoken.partition("</v>")
        yield html.unescape(speaker).strip(" \t\n") or None, inside
        yielded = True
        if after.strip():
            yield None, after
    if not yielded:
        yield None, ""


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
