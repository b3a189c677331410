"""Readers of corpora whose sides are speakers with names of their own: AMI and CANDOR."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from floorbench.codec import read_bytes
from floorbench.core.sample import JsonValue
from floorbench.core.time import Ticks
from floorbench.core.vocab import Role
from floorbench.core.words import counted
from floorbench.datasets.layout import files_below
from floorbench.datasets.two_channel import TwoChannelSource, pair_roles
from floorbench.datasets.two_channel_naming import by_session, faults, named_once
from floorbench.datasets.two_channel_session import (
    TwoChannelSession,
    segments_session,
    span_of,
    words_session,
)
from floorbench.errors import DataError, Place, UsageError
from floorbench.events.dualturn_words import TimedWord
from floorbench.formats import read
from floorbench.formats.source import Source

_AMI_WORDS = re.compile(r"([A-Z]{2}\d{4}[a-z]?)\.([A-Z])\.words\.xml$")
SEGMENTATIONS = ("audiophile", "cliffhanger", "backbiter")
_CANDOR = ("turn_id", "speaker", "start", "stop", "utterance")
_NOTHING = {"", "nan", "na"}
_CANDOR_BC = ("backchannel_speaker", "backchannel_start", "backchannel_stop")


class AmiSource(TwoChannelSource):
    """AMI meetings: word files of the NXT release, or RTTM; two chosen speakers at a time.

    Parameters
    ----------
    speakers : sequence of str or None
        The two speakers (agents ``A`` to ``D``, or names of the RTTM); the first is the user.
        Needed where a meeting has more than two.

    Raises
    ------
    DataError
        ``FB256`` naming the speakers of the meeting when they are not chosen.
    """

    reader: ClassVar[str] = "ami"
    licence: ClassVar[str] = "CC BY 4.0"

    def __init__(
        self, path: str | Path, *, speakers: Sequence[str] | None = None, **shared: Any
    ) -> None:
        self._speakers = tuple(speakers) if speakers is not None else None
        super().__init__(path, **shared)

    @classmethod
    def detect(cls, path: Path) -> bool:
        """Tell whether NXT word files lie here."""
        return path.is_dir() and any(
            _AMI_WORDS.search(p.name) for p in files_below(path, (".xml",), deep=False)
        )

    def _options(self) -> Mapping[str, JsonValue]:
        return {"speakers": list(self._speakers) if self._speakers is not None else None}

    def _find(self) -> Mapping[str, dict[str, Path]]:
        whole = self.path.is_file()
        files = [self.path] if whole else files_below(self.path, (".xml", ".rttm"))
        named = [(_AMI_WORDS.search(p.name), p) for p in files]
        found = by_session(
            (match[1], match[2], path) if match else (path.stem, "", path)
            for match, path in named
            if match or path.suffix.lower() == ".rttm"
        )
        for session, sides in found.items():
            if "" in sides and len(sides) > 1:
                raise DataError(
                    "FB258",
                    f"'{session}' has word files and an RTTM",
                    where=Place(str(sides[""])),
                    hint="open the RTTM file itself, or move it out of the folder",
                )
        return found

    def _load(self, session_id: str, found: Mapping[str, Path]) -> TwoChannelSession:
        where = Place(str(self.path), item=session_id)
        if "" in found:
            document = read(found[""])
            tiers = ((t.speaker or t.name, t) for t in document.tiers)
            sides = {
                name: [e.ticks for e in tier.entries if e.timed]
                for name, tier in named_once(tiers, where=where).items()
            }
            names = self._pair(sorted(sides), where)
            return segments_session(
                session_id,
                {role: sides[name] for role, name in names.items()},
                where=where,
                faults=faults([document]),
                language=self.language,
                speakers=names,
            )
        names = self._pair(sorted(found), where)
        return words_session(
            session_id,
            {role: nxt_words(found[name]) for role, name in names.items()},
            where=where,
            language=self.language,
            # One letter is one person in the meetings a to d of a group.
            speakers={role: f"{session_id[:6]}.{name}" for role, name in names.items()},
        )

    def _pair(self, there: Sequence[str], where: Place) -> dict[Role, str]:
        chosen = self._speakers
        if chosen is None and len(there) > 2:
            raise DataError(
                "FB256",
                f"{counted(len(there), 'speaker')}: {', '.join(there)}; name two",
                where=where,
            )
        for name in chosen or ():
            if name not in there:
                raise DataError(
                    "FB256", f"no speaker '{name}' among {', '.join(there)}", where=where
                )
        sides = list(chosen or there)
        return pair_roles(sides, None, where=where)


class CandorSource(TwoChannelSource):
    """CANDOR transcripts: one folder a conversation with up to three segmentations.

    Parameters
    ----------
    segmentation : {'audiophile', 'cliffhanger', 'backbiter'} or None
        Which transcript is read; may be left out where only one kind is there. *backbiter* has
        its backchannels in columns of their own: they are speech of the one who gives them.

    Notes
    -----
    Only times, speaker and text are used. The columns ``interval`` and ``delta`` are not: their
    two descriptions contradict each other.
    """

    reader: ClassVar[str] = "candor"

    def __init__(self, path: str | Path, *, segmentation: str | None = None, **shared: Any) -> None:
        if segmentation is not None and segmentation not in SEGMENTATIONS:
            raise UsageError(
                "FB103", f"segmentation='{segmentation}' is not one of {', '.join(SEGMENTATIONS)}"
            )
        self._segmentation = segmentation
        super().__init__(path, **shared)

    @classmethod
    def detect(cls, path: Path) -> bool:
        """Tell whether CANDOR transcripts lie here."""
        return path.is_dir() and any(
            p.name.startswith("transcript_") for p in files_below(path, (".csv",))
        )

    def _options(self) -> Mapping[str, JsonValue]:
        return {"segmentation": self._segmentation}

    def _find(self) -> Mapping[str, Path]:
        files = files_below(self.path, (".csv",))
        kinds = {k: [p for p in files if p.name == f"transcript_{k}.csv"] for k in SEGMENTATIONS}
        there = [k for k, files in kinds.items() if files]
        chosen = self._segmentation or (there[0] if len(there) == 1 else None)
        if chosen is None:
            raise DataError(
                "FB257",
                f"segmentations {', '.join(there) or 'none'} are there; name one",
                where=Place(str(self.path)),
                hint="give segmentation=audiophile, cliffhanger or backbiter",
            )
        self._segmentation = chosen
        found = by_session((self._conversation(p), "", p) for p in kinds[chosen])
        return {session: sides[""] for session, sides in found.items()}

    def _conversation(self, path: Path) -> str:
        folder = path.parent
        return (folder.parent if folder.name == "transcription" else folder).name

    def _load(self, session_id: str, found: Path) -> TwoChannelSession:
        sides: dict[str, list[tuple[Ticks, Ticks]]] = {}
        backbiter = self._segmentation == "backbiter"
        for row, where in _csv_rows(found, _CANDOR + _CANDOR_BC if backbiter else _CANDOR):
            if not row["speaker"].strip():
                raise DataError("FB257", "no speaker", where=where)
            sides.setdefault(row["speaker"], []).append(span_of(row["start"], row["stop"], where))
            who, start, stop = (row[c] if backbiter else "" for c in _CANDOR_BC)
            if {start.lower(), stop.lower()} - _NOTHING:
                if who.lower() in _NOTHING:
                    raise DataError("FB257", "a backchannel without a speaker", where=where)
                sides.setdefault(who, []).append(span_of(start, stop, where))
        where = Place(str(found))
        names = pair_roles(sorted(sides), None, where=where)
        return segments_session(
            session_id,
            {role: sides[name] for role, name in names.items()},
            where=where,
            language=self.language,
            speakers=names,
            source=f"segments ({self._segmentation})",
        )


def nxt_words(path: Path) -> list[TimedWord]:
    """Return the words of one agent of an NXT word file; punctuation has no time and is left out.

    Raises
    ------
    DataError
        ``FB703`` or ``FB706`` for broken or unsafe XML, ``FB704`` for a bad time.
    """
    from floorbench.formats.xmltree import parse_xml

    source = Source(name=str(path), data=read_bytes(path), strict=True)
    out = []
    for node in parse_xml(source).children:
        start, end = node.get("starttime"), node.get("endtime")
        if not start or not end or node.get("punc") == "true":
            continue
        # Sounds of the mouth are non-speech in this corpus, as noise is in Switchboard.
        token = node.text.strip() if node.tag == "w" else "[vocalized-noise]"
        out.append(TimedWord(token, *span_of(start, end, Place(str(path), node.line))))
    return out


def _csv_rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[dict[str, str], Place]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines, strict=True)
            for column in needed:
                if column not in (rows.fieldnames or ()):
                    raise DataError("FB257", f"no column '{column}'", where=Place(str(path), 1))
            for row in rows:
                where = Place(str(path), rows.line_num)
                if None in row or any(row[c] is None for c in needed):
                    raise DataError("FB257", "fewer or more cells than columns", where=where)
                yield row, where
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError("FB402", f"cannot be read: {error}", where=Place(str(path))) from None
