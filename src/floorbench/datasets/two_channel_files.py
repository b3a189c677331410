"""Readers of two-channel audio: with any annotation format beside it, or with a VAD for labels."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from floorbench.audio.decode import probe
from floorbench.audio.ref import FileAudio, by_role
from floorbench.audio.vad import VadParameters, speech_spans, vad
from floorbench.core.sample import AudioRef, JsonValue
from floorbench.core.time import to_ticks
from floorbench.core.vocab import Role
from floorbench.datasets.layout import files_below
from floorbench.datasets.two_channel import TwoChannelSource, pair_roles
from floorbench.datasets.two_channel_calls import AUDIO
from floorbench.datasets.two_channel_naming import by_session, faults, named_once
from floorbench.datasets.two_channel_session import (
    ROLES,
    TwoChannelSession,
    entry_words,
    segments_session,
    words_session,
)
from floorbench.errors import DataError, Place, UsageError
from floorbench.formats import detect, read
from floorbench.formats.registry import FORMATS, by_extension
from floorbench.formats.tiers import Document, Tier

WORD_FORMATS = frozenset({"words", "table", "ctm", "ms98"})
_TEXT = tuple({f".{e.rpartition('.')[2]}" for f in FORMATS.values() for e in f.extensions})
_SOUND = "sound"
_NO_SPEECH = (None, "uem")
"""Neither a file of no format nor one of regions to score says who speaks."""
WITHOUT = (
    "stereo recordings need an annotation each, or a VAD: "
    "--reader two-channel --reader-set vad=silero"
)
PAUSE = {"silero": VadParameters(), "webrtc": VadParameters(min_speech=0.1, pad=0.0)}


class TwoChannelFiles(TwoChannelSource):
    """Stereo files, each with an annotation of the same name in any format that can be read.

    Parameters
    ----------
    user : str or None
        Whose channel is the user's: a tier, speaker or channel name of the annotation. Otherwise
        a name that says so (user, caller, customer; system, agent, assistant), else the first one
        by name. Channel 0 is the user's, channel 1 the system's, unless ``swap``.
    swap : bool
        Channel 1 is the user's.
    units : {'words', 'segments', None}
        Whether entries are single words. ``None``: words in word formats, segments in others.
    vad : {'silero', 'webrtc', None}
        Labels activity from the audio where there is no annotation.

    Notes
    -----
    An annotation without audio is a session too. A CSV, TSV, JSON or TXT file named like a sound
    is looked into: a table of words needs columns for word, start and end, and speaker. Two
    annotations ``X.A.EXT`` and ``X.B.EXT`` belong to one session ``X``, side A first.
    """

    reader: ClassVar[str] = "two-channel"

    def __init__(
        self,
        path: str | Path,
        *,
        user: str | None = None,
        swap: bool = False,
        units: Literal["words", "segments"] | None = None,
        vad: str | None = None,
        **shared: Any,
    ) -> None:
        if units not in (None, "words", "segments"):
            raise UsageError("FB103", f"units='{units}' is not words or segments")
        self._user, self._swap, self._units, self._vad = user, swap, units, vad
        super().__init__(path, **shared)

    @classmethod
    def detect(cls, path: Path) -> bool:
        """Tell whether stereo files lie here, each with an annotation beside it."""
        if not path.is_dir():
            return False
        pairs = files_below(path, AUDIO, deep=False)
        return any(_annotations(p) and _stereo(p) for p in pairs[:3])

    def _options(self) -> Mapping[str, JsonValue]:
        return {"user": self._user, "swap": self._swap, "units": self._units, "vad": self._vad}

    def _find(self) -> Mapping[str, dict[str, list[Path]]]:
        named: list[tuple[str, str, Path]] = []
        files = [self.path] if self.path.is_file() else files_below(self.path, AUDIO + _TEXT)
        sounds = {(p.parent, _stem(p)) for p in files if p.suffix.lower() in AUDIO}
        for path in files:
            if path.name.startswith("."):
                continue
            if path.suffix.lower() in AUDIO:
                named.append((_stem(path), _SOUND, path))
            elif _kind(path, sounds) not in _NO_SPEECH:
                named.append((_stem(path), _side(path), path))
        found = by_session(named)
        if self._vad is None:
            found = {k: v for k, v in found.items() if set(v) != {_SOUND}}
        return {
            k: {
                "audio": [p for s, p in v.items() if s == _SOUND],
                "text": [p for s, p in sorted(v.items()) if s != _SOUND],
            }
            for k, v in found.items()
        }

    def _load(self, session_id: str, found: Mapping[str, list[Path]]) -> TwoChannelSession:
        where = Place(str(self.path), item=session_id)
        audio = self._channels(found["audio"][0]) if found["audio"] else {}
        if not found["text"]:
            return self._heard(session_id, audio, where)
        documents = {p: read(p) for p in found["text"]}
        read_all = (
            (t, p) for p, document in documents.items() for t in document.tiers if t.entries
        )
        got_over = faults(documents.values())
        tiers = named_once(((_name(t, p), (t, p)) for t, p in read_all), where=where)
        names = pair_roles(sorted(tiers), self._user, where=where)
        chosen = {role: tiers[name] for role, name in names.items()}
        if self._are_words(next(iter(documents.values()))):
            return words_session(
                session_id,
                {role: entry_words(tier.entries) for role, (tier, _) in chosen.items()},
                where=where,
                faults=got_over,
                untimed=sum(_untimed(tier) for tier, _ in chosen.values()),
                audio=audio,
                language=self.language,
            )
        return segments_session(
            session_id,
            {role: list(_spoken(tier)) for role, (tier, _) in chosen.items()},
            where=where,
            faults=got_over,
            audio=audio,
            language=self.language,
        )

    def _are_words(self, document: Document) -> bool:
        if self._units is not None:
            return self._units == "words"
        return document.format in WORD_FORMATS

    def _channels(self, path: Path) -> dict[Role, AudioRef]:
        channels = probe(path).channels
        if channels != 2:
            raise DataError(
                "FB251", f"the audio has {channels} channel(s), not two", where=Place(str(path))
            )
        first, second = (1, 0) if self._swap else (0, 1)
        refs: Mapping[Role, FileAudio] = by_role(path, {Role.USER: first, Role.SYSTEM: second})
        return dict(refs)

    def _heard(
        self, session_id: str, audio: Mapping[Role, AudioRef], where: Place
    ) -> TwoChannelSession:
        detector = vad(self._vad or "")
        detector.load()
        parameters = PAUSE[self._vad or ""]
        spans = {
            role: [
                (to_ticks(s.start), to_ticks(s.end))
                for s in speech_spans(
                    detector, audio[role].read(), rate=audio[role].rate, parameters=parameters
                )
            ]
            for role in ROLES
        }
        length = max(to_ticks(ref.frames / ref.rate) for ref in audio.values())
        return segments_session(
            session_id,
            spans,
            where=where,
            source=f"vad {detector.name}({parameters})",
            audio=audio,
            end=length,
            language=self.language,
        )


class OtoSpeechSource(TwoChannelFiles):
    """otoSpeech: stereo FLAC at 48 kHz, channel 0 is speaker A; activity from a declared VAD.

    Parameters
    ----------
    vad : {'silero', 'webrtc'}
        Which VAD labels the activity; it is printed beside every figure.
    """

    reader: ClassVar[str] = "otospeech"
    licence: ClassVar[str] = "CC BY 4.0; do not identify speakers"

    def __init__(self, path: str | Path, *, vad: str = "silero", **shared: Any) -> None:
        super().__init__(path, vad=vad, **shared)

    @classmethod
    def detect(cls, path: Path) -> bool:
        """Tell whether stereo FLAC files without annotations lie here."""
        if not path.is_dir():
            return False
        files = files_below(path, (".flac",), deep=False)[:3]
        return bool(files) and all(_stereo(p) and not _annotations(p) for p in files)


def _stem(path: Path) -> str:
    kind = by_extension(path.name)
    name = path.name
    if kind is not None:
        extension = next(e for e in FORMATS[kind].extensions if name.lower().endswith(e))
        name = name[: -len(extension)]
    else:
        name = path.stem
    return name[:-2] if name[-2:] in (".A", ".B", "_A", "_B") else name


def _kind(path: Path, sounds: Collection[tuple[Path, str]]) -> str | None:
    """Return the format that a file's name tells, or its first lines if a sound is named so."""
    named = by_extension(path.name)
    if named is not None or (path.parent, _stem(path)) not in sounds:
        return named
    try:
        return detect(path)
    except DataError:
        return None


def about_recordings(folder: Path) -> str | None:
    """Say what recordings in a folder lack; ``None`` without stereo recordings.

    Either a file named like one is no annotation of it, and why, or there is none.
    """
    if not folder.is_dir():
        return None
    recordings = [p for p in files_below(folder, AUDIO, deep=False)[:3] if _stereo(p)]
    for audio in recordings:
        named = audio.parent, _stem(audio)
        for path in files_below(folder, _TEXT, deep=False):
            if _stem(path) != named[1] or _kind(path, {named}) is not None:
                continue
            try:
                read(path, format="table" if path.suffix.lower() in (".csv", ".tsv") else None)
            except DataError as error:
                return f"'{path.name}' lies beside '{audio.name}', but: {error.what}"
    return WITHOUT if recordings else None


def _annotations(audio: Path) -> list[Path]:
    named = audio.parent, _stem(audio)
    return [
        p
        for p in files_below(audio.parent, _TEXT, deep=False)
        if _stem(p) == named[1] and _kind(p, {named}) not in _NO_SPEECH
    ]


def _stereo(path: Path) -> bool:
    try:
        return probe(path).channels == 2
    except DataError:
        return False


def _name(tier: Tier, path: Path) -> str:
    name = tier.speaker or tier.name or tier.channel or ""
    return _side(path) or name


def _side(path: Path) -> str:
    """Return A or B for ``X.A.EXT`` and ``X.B.EXT``."""
    side = path.name.removeprefix(_stem(path))[1:2]
    return side if side in ("A", "B") else ""


def _untimed(tier: Tier) -> int:
    from floorbench.events.tokens import is_speech

    return sum(not entry.timed and is_speech(entry.text) for entry in tier.entries)


def _spoken(tier: Tier) -> Iterator[tuple[int, int]]:
    from floorbench.events.tokens import is_speech

    for entry in tier.entries:
        if entry.timed and (not entry.text or is_speech(entry.text)):
            yield entry.ticks
