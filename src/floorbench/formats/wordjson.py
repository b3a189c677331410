"""Word lists of recognisers and aligners: JSON objects with word, start, end, speaker.

Read are a list of words, an object with ``words``, and an object with ``segments`` that each hold
``words`` (the shapes of Whisper and its relatives). A word without a start or an end stays
untimed; no time is made up. Words are kept with their blanks, which carry meaning for some
recognisers. A word without a speaker belongs to the tier ``words``.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any, ClassVar

from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.formats.abilities import Abilities
from floorbench.formats.jsontext import dump, extra_of, load, text_of, time_of
from floorbench.formats.registry import Codec
from floorbench.formats.rows import Row, document_of, in_time_order
from floorbench.formats.source import Source
from floorbench.formats.tiers import Document, Entry

NAME = "words"
_CONFIDENCES = ("confidence", "probability", "score")
_KNOWN = ("word", "text", "start", "end", "speaker", *_CONFIDENCES)


class WordJson(Codec):
    """Reader and writer of word lists."""

    abilities: ClassVar[Abilities] = Abilities(
        names="speaker", fixed_name=NAME, untimed="partial", negative=True, confidence=True,
        extra=None, extra_text="any",
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read words, a tier per speaker."""
        words = _words(load(source), source)
        rows: list[Row] = []
        unread: Counter[str] = Counter()
        for index, (item, speaker) in enumerate(words, start=1):
            with source.row(None, f"word {index}"):
                rows.append(_word(item, speaker, unread))
        if words and not rows:
            source.fail("FB703", f"no word can be read: {source.notices[0].what}")
        if not rows:
            source.note("the file has no entries")
        untimed = sum(not row.entry.timed for row in rows)
        if untimed:
            source.note(f"{counted(untimed, 'word')} without start or end, left untimed")
        for key, count in unread.items():
            source.note(f"{counted(count, 'value')} of {key!r} not read")
        return document_of(source, rows, format="words", overlaps=False)

    def render(self, document: Document) -> str:
        """Write a list of words by start."""
        records = []
        for tier, entry in in_time_order(document.tiers):
            record: dict[str, str | Decimal] = {"word": entry.text}
            if entry.start is not None:
                record["start"] = entry.start
            if entry.end is not None:
                record["end"] = entry.end
            if tier.speaker is not None:
                record["speaker"] = tier.speaker
            if entry.confidence is not None:
                record["confidence"] = entry.confidence
            record.update({k: v for k, v in entry.extra.items() if k not in _KNOWN})
            records.append(record)
        return dump(records)


def _words(data: Any, source: Source) -> list[tuple[Any, Any]]:
    """Return each word object with the speaker of its segment."""
    if isinstance(data, dict) and isinstance(data.get("words"), list):
        data = data["words"]
    elif isinstance(data, dict) and isinstance(data.get("segments"), list):
        found: list[tuple[Any, Any]] = []
        for number, segment in enumerate(data["segments"], start=1):
            words = segment.get("words") if isinstance(segment, dict) else None
            if isinstance(words, list):
                found += [(word, segment.get("speaker")) for word in words]
            else:
                source.fault(f"segment {number} has no list of words; skipped")
        return found
    if not isinstance(data, list):
        source.fail("FB703", "neither a list of words nor an object with words or segments")
    return [(word, None) for word in data]


def _word(item: Any, segment_speaker: Any, unread: Counter[str]) -> Row:
    if not isinstance(item, dict):
        raise DataError("FB703", "not an object")
    if "word" not in item and "text" not in item:
        raise DataError("FB703", "no 'word'")
    extra = extra_of(item, _KNOWN, unread)
    speaker = item.get("speaker", segment_speaker)
    if isinstance(speaker, Decimal):
        speaker = str(speaker)
    entry = Entry(
        start=time_of(item.get("start")),
        end=time_of(item.get("end")),
        text=text_of(item.get("word", item.get("text")), "word"),
        confidence=next((time_of(item[key]) for key in _CONFIDENCES if key in item), None),
        extra=extra,
    )
    if speaker is None:
        return Row(entry, NAME)
    speaker = text_of(speaker, "speaker")
    return Row(entry, speaker, speaker)
