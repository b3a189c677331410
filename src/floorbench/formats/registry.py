"""Which formats there are: name -> module, extensions and what their first lines look like."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from importlib import import_module
from typing import ClassVar, NamedTuple

from floorbench.errors import UsageError, did_you_mean
from floorbench.formats.abilities import Abilities, LossCounter
from floorbench.formats.source import Source
from floorbench.formats.tiers import Document


class Format(NamedTuple):
    """One row of the table: where a format's class is, its extensions, its mark."""

    target: str
    extensions: tuple[str, ...]
    sign: str | None = None


class Codec(ABC):
    """Reader and writer of one format."""

    abilities: ClassVar[Abilities]

    @abstractmethod
    def read(self, source: Source) -> Document:
        """Read one file."""

    def prepare(self, document: Document, stem: str, lost: LossCounter) -> Document:
        """Adjust a fitted document to what is special to the format."""
        return document

    @abstractmethod
    def render(self, document: Document) -> str:
        """Return the file's text for a fitted and prepared document."""


_CELL, _ENDS = r"(?:(?<![^\n])|(?<=[,;\t])) *\"?", r"\"? *(?:[,;\t\n]|$)"
_T = r"-?\d+(?:\.\d*)?|-?\.\d+"

FORMATS: dict[str, Format] = {
    "textgrid": Format(
        "floorbench.formats.textgrid:TextGrid",
        (".textgrid",),
        r"\s*(?:File type\s*=\s*)?\"oo(?:Text|Binary)File\"|ooBinaryFile",
    ),
    "eaf": Format("floorbench.formats.eaf:Eaf", (".eaf",), r"(?s)\s*<.{0,4000}<?ANNOTATION_DOC"),
    "chat": Format("floorbench.formats.chat:Chat", (".cha",), r"\s*@(?:UTF8|Begin)\b"),
    "vtt": Format("floorbench.formats.vtt:Vtt", (".vtt",), r"WEBVTT(?:\s|$)"),
    "srt": Format(
        "floorbench.formats.srt:Srt",
        (".srt",),
        r"\s*(?:\d+[ \t]*\n)?[ \t]*\d+:\d+(?::\d+)?(?:[,.]\d+)?[ \t]*-->",
    ),
    "seglst": Format(
        "floorbench.formats.seglst:SegLst",
        (".seglst.json", ".seglst"),
        r"(?s)\s*\[\s*\{[^}]*\"(?:session_id|words)\"\s*:",
    ),
    "words": Format(
        "floorbench.formats.wordjson:WordJson",
        (".words.json",),
        r"(?s)\s*[\[{].{0,4000}?\"(?:word|segments)\"\s*:",
    ),
    "ms98": Format(
        "floorbench.formats.ms98:Ms98",
        ("-word.text", "-trans.text"),
        rf"\S+-ms98-\S+[ \t]+(?:{_T})[ \t]+(?:{_T})[ \t]+\S",
    ),
    "rttm": Format(
        "floorbench.formats.rttm:Rttm",
        (".rttm",),
        r"(?:;;.*\n|\s)*(?:SPEAKER|SPKR-INFO|NON-SPEECH|LEXEME|NO_RT_METADATA|SEGMENT)[ \t]",
    ),
    "stm": Format(
        "floorbench.formats.stm:Stm",
        (".stm",),
        rf"(?:;;.*\n|\s)*\S+[ \t]+\S+[ \t]+\S+[ \t]+(?:{_T})[ \t]+(?:{_T})(?:[ \t]|\n|$)",
    ),
    "ctm": Format(
        "floorbench.formats.ctm:Ctm",
        (".ctm",),
        rf"(?:;;.*\n|\s)*\S+[ \t]+\S+[ \t]+(?:{_T})[ \t]+(?:{_T})[ \t]+\S",
    ),
    "uem": Format(
        "floorbench.formats.uem:Uem",
        (".uem",),
        rf"(?:;;.*\n|\s)*\S+[ \t]+\S+[ \t]+(?:{_T})[ \t]+(?:{_T})[ \t]*(?:\n|$)",
    ),
    "audacity": Format(
        "floorbench.formats.audacity:Audacity", (".labels.txt",), rf"(?:{_T})\t(?:{_T})(?:\t|\n|$)"
    ),
    "table": Format(
        "floorbench.formats.table:Table",
        (".words.csv", ".words.tsv"),
        rf"(?i)(?=[^\n]*{_CELL}(?:word|text|token){_ENDS})"
        rf"[^\n]*{_CELL}(?:start|start[_ ]time|start_s|begin|onset){_ENDS}",
    ),
}
"""Every format; the first whose mark fits wins, so the more telling marks come first."""


def codec(name: str) -> Codec:
    """Return the reader and writer of one format.

    Raises
    ------
    UsageError
        ``FB701`` when no format has that name.
    """
    if name not in FORMATS:
        near = did_you_mean(name, FORMATS)
        hint = f"did you mean {near!r}?" if near else f"formats: {', '.join(FORMATS)}"
        raise UsageError("FB701", f"no annotation format is named {name!r}", hint=hint)
    module, _, attribute = FORMATS[name].target.partition(":")
    made: Codec = getattr(import_module(module), attribute)()
    return made


def by_extension(file_name: str) -> str | None:
    """Return the format that a file name belongs to, or ``None``."""
    lowered = file_name.lower()
    for name, row in FORMATS.items():
        if lowered.endswith(row.extensions):
            return name
    return None


def by_content(head: str) -> str | None:
    """Return the format whose mark the first characters of a file carry, or ``None``."""
    head = head.replace("\r\n", "\n").replace("\r", "\n")
    for name, row in FORMATS.items():
        if row.sign is not None and re.match(row.sign, head):
            return name
    return None
