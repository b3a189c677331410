"""SegLST: a JSON list of segments with session, speaker, start, end and words (CHiME, MeetEval).

Times may be numbers or strings. Other keys are kept when they hold a string or a number (as
text); lists and objects are left out with a remark.
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

_KNOWN = ("session_id", "speaker", "start_time", "end_time", "words")


class SegLst(Codec):
    """Reader and writer of SegLST."""

    abilities: ClassVar[Abilities] = Abilities(
        names="speaker",
        recordings=True,
        untimed="partial",
        negative=True,
        extra=None,
        extra_text="any",
    )

    def read(self, source: Source) -> Document:
        """Read segments, a tier per session and speaker."""
        data = load(source)
        if not isinstance(data, list):
            source.fail("FB703", "not a list of segments")
        rows: list[Row] = []
        unread: Counter[str] = Counter()
        for index, item in enumerate(data, start=1):
            with source.row(None, f"segment {index}"):
                rows.append(_segment(item, unread))
        if data and not rows:
            source.fail("FB703", f"no segment can be read: {source.notices[0].what}")
        if not rows:
            source.note("the file has no entries")
        for key, count in unread.items():
            source.note(f"{counted(count, 'value')} of {key!r} not read")
        return document_of(source, rows, format="seglst")

    def render(self, document: Document) -> str:
        """Write segments by session and start."""
        records = []
        for tier, entry in in_time_order(document.tiers):
            record: dict[str, str | Decimal] = {"session_id": str(tier.recording)}
            record["speaker"] = tier.name
            if entry.start is not None:
                record["start_time"] = entry.start
            if entry.end is not None:
                record["end_time"] = entry.end
            record["words"] = entry.text
            record.update({k: v for k, v in entry.extra.items() if k not in _KNOWN})
            records.append(record)
        return dump(records)


def _segment(item: Any, unread: Counter[str]) -> Row:
    if not isinstance(item, dict):
        raise DataError("FB703", "not an object")
    for key in ("session_id", "speaker", "words"):
        if key not in item:
            raise DataError("FB703", f"no {key!r}")
    extra = extra_of(item, _KNOWN, unread)
    entry = Entry(
        start=time_of(item.get("start_time")),
        end=time_of(item.get("end_time")),
        text=text_of(item["words"], "words"),
        extra=extra,
    )
    speaker = text_of(item["speaker"], "speaker")
    return Row(entry, speaker, speaker, text_of(item["session_id"], "session_id"))
