"""Readers of telephone calls, sides A and B in one stereo file: Switchboard and Fisher."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from floorbench.audio.decode import probe
from floorbench.audio.ref import FileAudio
from floorbench.codec import read_bytes
from floorbench.core.sample import AudioRef, JsonValue
from floorbench.core.time import Ticks
from floorbench.core.vocab import Role
from floorbench.datasets.layout import files_below
from floorbench.datasets.two_channel import TwoChannelSource, pair_roles
from floorbench.datasets.two_channel_naming import by_session, faults
from floorbench.datasets.two_channel_session import (
    TwoChannelSession,
    entry_words,
    segments_session,
    span_of,
    words_session,
)
from floorbench.errors import DataError, Place
from floorbench.formats import read
from floorbench.formats.source import Source
from floorbench.formats.tiers import Document, Entry

AUDIO = (".wav", ".sph", ".flac", ".ogg")
_MS98 = re.compile(r"(sw\d+)([AB])-ms98-a-word\.text$")
_FISHER = re.compile(r"(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)\s+([AB]):\s*(.*)")
_FISHER_FILE = re.compile(r"fe_03_.*\.txt")


class CallSource(TwoChannelSource):
    """What readers of telephone calls share.

    Parameters
    ----------
    audio : str or None
        Folder with one stereo file per call, side A first; beside the annotation by default, none
        if there is none.
    user : str
        Side that is the user's, ``A`` or ``B``.
    """

    def __init__(
        self, path: str | Path, *, audio: str | None = None, user: str = "A", **shared: Any
    ) -> None:
        self._audio, self._user = audio, user
        super().__init__(path, **shared)

    def _options(self) -> Mapping[str, JsonValue]:
        return {"audio": self._audio, "user": self._user}

    def _stereo(
        self, beside: Path, stems: Sequence[str], roles: Mapping[Role, str]
    ) -> dict[Role, AudioRef]:
        """Return both channels of a call's stereo file; it must be where it was named.

        Raises
        ------
        DataError
            ``FB251`` for another number of channels, ``FB301`` when a named folder lacks the call.
        """
        folder = Path(self._audio) if self._audio is not None else beside
        names = [f"{stem}{suffix}" for stem in stems for suffix in AUDIO]
        file = next((folder / n for n in names if (folder / n).is_file()), None)
        if file is None:
            if self._audio is not None:
                raise DataError("FB301", f"no audio of '{stems[0]}'", where=Place(str(folder)))
            return {}
        channels = probe(file).channels
        if channels != 2:
            raise DataError(
                "FB251", f"the audio has {channels} channel(s), not two", where=Place(str(file))
            )
        return {role: FileAudio(file, channel="AB".index(side)) for role, side in roles.items()}


class SwitchboardSource(CallSource):
    """Switchboard word files of the ISIP release (ms98), with or without audio.

    Parameters
    ----------
    audio : str or None
        Folder with one stereo file per call, ``sw2001.wav`` or ``sw02001.sph``, side A first;
        beside the word files by default, none if there is none.
    user : str
        Side that is the user's, ``A`` or ``B``.

    Notes
    -----
    Non-speech is [silence], [noise], [laughter], [vocalized-noise] and ``<...>``; laughed words
    and partial words are speech.
    """

    reader: ClassVar[str] = "swb-ms98"

    @classmethod
    def detect(cls, path: Path) -> bool:
        """Tell whether ms98 word files lie here."""
        return path.is_dir() and any(
            _MS98.search(p.name) for p in files_below(path, (".text",), deep=False)
        )

    def _find(self) -> Mapping[str, dict[str, Path]]:
        named = ((_MS98.search(p.name), p) for p in files_below(self.path, (".text",)))
        return by_session((match[1], match[2], path) for match, path in named if match)

    def _load(self, session_id: str, found: Mapping[str, Path]) -> TwoChannelSession:
        where = Place(str(self.path), item=session_id)
        roles = pair_roles(sorted(found), self._user, where=where)
        documents = {role: read(found[side]) for role, side in roles.items()}
        return words_session(
            session_id,
            {role: entry_words(_entries(d)) for role, d in documents.items()},
            where=where,
            faults=faults(documents.values()),
            audio=self._stereo(self.path, (session_id, f"sw{int(session_id[2:]):05d}"), roles),
            language=self.language,
        )


class FisherSource(CallSource):
    """Fisher transcripts (``fe_03_NNNNN.txt``): utterance times per side, no word times.

    Parameters
    ----------
    audio : str or None
        Folder with one stereo file per call, ``fe_03_NNNNN.sph`` or another kind, side A first;
        beside the transcripts by default, none if there is none.
    user : str
        Side that is the user's, ``A`` or ``B``.
    """

    reader: ClassVar[str] = "fisher"

    @classmethod
    def detect(cls, path: Path) -> bool:
        """Tell whether Fisher transcripts lie here."""
        return path.is_dir() and any(
            _FISHER_FILE.fullmatch(p.name) for p in files_below(path, (".txt",), deep=False)
        )

    def _find(self) -> Mapping[str, Path]:
        files = files_below(self.path, (".txt",))
        found = by_session((p.stem, "", p) for p in files if _FISHER_FILE.fullmatch(p.name))
        return {session: sides[""] for session, sides in found.items()}

    def _load(self, session_id: str, found: Path) -> TwoChannelSession:
        sides: dict[str, list[tuple[Ticks, Ticks]]] = {"A": [], "B": []}
        lines = Source(name=str(found), data=read_bytes(found)).lines()
        for number, line in lines:
            if not line.strip() or line.startswith("#"):
                continue
            match = _FISHER.fullmatch(line.strip())
            if match is None:
                raise DataError("FB257", "not 'start end A: text'", where=Place(str(found), number))
            sides[match[3]].append(span_of(match[1], match[2], Place(str(found), number)))
        where = Place(str(found))
        roles = pair_roles(sorted(sides), self._user, where=where)
        return segments_session(
            session_id,
            {role: sides[side] for role, side in roles.items()},
            where=where,
            audio=self._stereo(found.parent, (session_id,), roles),
            language=self.language,
        )


def _entries(document: Document) -> Iterator[Entry]:
    for tier in document.tiers:
        yield from tier.entries
