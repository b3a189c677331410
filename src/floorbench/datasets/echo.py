"""Reader of matched-contrast sets: same insertion, different context, different floor action.

A folder with a ``manifest.json`` of format ``floorbench-echo-1`` (samples table, pairs table, two
channels by role), or with ``echo_mapping.json`` that names the columns of a release.

What a system can hear of a sample ends with the widest observation window, and no channel tells
the role: the user channel has no onset emphasis in it, and the system channel follows one rule in
all three roles. ``planned`` plays the unmodified utterance to its end; ``silent_from_onset`` gives
nothing from the insertion's onset on, for releases whose system channel already shows how the
assistant reacted.

Notes
-----
Cluster: the group. Stratum: language x group type (I-B, I-O, B-O, three-role).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.audio.paths import inside
from floorbench.audio.ref import FileAudio
from floorbench.core.sample import AudioRef, JsonValue, Observation, Sample, Turn, Word
from floorbench.core.time import Span
from floorbench.core.vocab import Role
from floorbench.datasets.echo_audio import SilencedAudio
from floorbench.datasets.echo_integrity import (
    WIDEST_TAIL,
    contrast,
    group_types,
    refuse,
    too_short,
    window_end,
)
from floorbench.datasets.echo_tables import (
    ACTION_OF,
    FORMAT,
    MAPPING,
    SYSTEM_CHANNELS,
    PairRow,
    SampleRow,
    map_pairs,
    map_samples,
    read_mapping,
    read_pairs,
    read_samples,
)
from floorbench.datasets.manifest import MANIFEST, fold, pcm_digests, read_manifest
from floorbench.datasets.strata import Strata
from floorbench.errors import DataError, Place


class EchoSource:
    """A matched-contrast set on disk.

    Parameters
    ----------
    path : Path
        The folder, or a mapping file in it.
    located : str or None
        Name under which the set can be opened again, for sets that ship with floorbench.
    check : bool
        Refuse a set that breaks an integrity rule when its samples are read.

    Raises
    ------
    DataError
        ``FB211`` when there is neither a manifest nor a mapping, ``FB265`` for a bad mapping.
    """

    def __init__(self, path: Path, *, located: str | None = None, check: bool = True) -> None:
        self.path = Path(path)
        self._located = located
        self._check = check
        self.root = self.path.parent if self.path.is_file() else self.path
        mapping = self.path if self.path.is_file() else self.root / MAPPING
        self._mapping = read_mapping(mapping) if mapping.is_file() else None
        self._manifest = read_manifest(self.root)
        head = _head(self.root)
        if self._mapping is not None:
            self.name = self._mapping.name
            self._system_channel = self._mapping.system_channel
        elif head.get("format") == FORMAT and self._manifest is not None:
            self.name = self._manifest.name
            self._system_channel = str(head.get("system_channel"))
            self._tables = (str(head.get("samples")), str(head.get("pairs")))
        else:
            raise DataError(
                "FB211", f"neither a {FORMAT} manifest nor {MAPPING}", where=Place(str(path))
            )
        if self._system_channel not in SYSTEM_CHANNELS:
            raise DataError(
                "FB201",
                f"system_channel '{self._system_channel}' is not one of "
                f"{', '.join(SYSTEM_CHANNELS)}",
                where=Place(str(self.root / MANIFEST)),
            )

    def without_refusal(self) -> None:
        """Let a set that breaks rules be looked at."""
        self._check = False

    @staticmethod
    def detect(path: Path) -> bool:
        """Tell whether this reader knows what lies there."""
        if path.is_file():
            return path.name == MAPPING
        return (path / MAPPING).is_file() or _head(path, quiet=True).get("format") == FORMAT

    def locator(self) -> Mapping[str, JsonValue]:
        """Return what opens the same data again."""
        return {"reader": "echo", "path": self._located or str(self.path)}

    def describe(self) -> Mapping[str, JsonValue]:
        """Return name, version, licence, notices and the rule of the system channel."""
        m, given = self._manifest, self._mapping
        return {
            "name": self.name,
            "version": given.version if given else m.version if m else "unknown",
            "licence": given.licence if given else m.licence if m else "unknown",
            "notices": list(m.notices) if m else [],
            "ranks": m.ranks if m else True,
            "system_channel": self._system_channel,
        }

    def digest(self) -> str:
        """Return the SHA-256 of both tables and of the decoded audio."""
        written = [a for row, _ in self.rows for a in row.audio.values()]
        pcm = pcm_digests(self.root, {a.path for a in written if a.channel is None}, self._manifest)
        for a in written:
            if a.channel is not None:
                inside(self.root, a.path)
                audio = FileAudio(self.root / a.path, channel=a.channel)
                pcm[f"{a.path}:{a.channel}"] = audio.digest()
        lines = [codec.encode(row) for row, _ in self.rows]
        lines += [codec.encode(pair) for pair, _ in self.pairs]
        lines.append(self._system_channel.encode())
        return fold(lines, pcm)

    @cached_property
    def rows(self) -> list[tuple[SampleRow, Place]]:
        """The samples table, in its order."""
        if self._mapping is not None:
            return map_samples(self.root, self._mapping)
        return read_samples(self.root / self._tables[0])

    @cached_property
    def pairs(self) -> list[tuple[PairRow, Place]]:
        """The pairs table, in its order."""
        if self._mapping is not None:
            return map_pairs(self.root, self._mapping)
        return read_pairs(self.root / self._tables[1])

    def samples(self) -> Iterator[Sample]:
        """Yield all samples; the first broken rule is an error.

        Raises
        ------
        DataError
            ``FB203``, ``FB262``, ``FB263`` or ``FB264`` (see
            :func:`floorbench.datasets.echo_integrity.faults`); ``FB263`` for audio that ends before
            the events; ``FB308`` for a path outside.
        """
        if self._check:
            refuse(self.rows, self.pairs)
            for fault in self.short:
                raise fault
        types = group_types(self.rows)
        strata = Strata[str]()
        for row, _ in self.rows:
            strata.add(row.group_id, f"{row.language} x {types[row.group_id]}")
        stratum = strata.final(lambda s: s.split(" x ")[0])
        linked = self._linked()
        for row, place in self.rows:
            yield Sample(
                id=row.sample_id,
                cluster=row.group_id,
                stratum=stratum[row.group_id],
                observation=self._observation(row, place),
                target={
                    "role": row.role,
                    "action": ACTION_OF[row.role],
                    "events": {
                        "insertion_start": row.events.insertion_start,
                        "insertion_end": row.events.insertion_end,
                        "system_start": row.events.system_start,
                        "system_end": row.events.system_end,
                    },
                    "pairs": linked.get(row.sample_id, []),
                },
                tags={"language": row.language, "group_type": types[row.group_id], **row.tags},
            )

    def channel(self, row: SampleRow, role: Role, *, place: Place) -> AudioRef | None:
        """Return one channel as systems get it, to its end, or ``None`` when there is none."""
        written = row.audio.get(role.value)
        if written is None:
            return None
        try:
            inside(self.root, written.path)
        except DataError as error:
            raise DataError(error.code, error.what, where=place, hint=error.hint) from None
        audio = FileAudio(self.root / written.path, channel=written.channel)
        if role is Role.SYSTEM and self._system_channel == "silent_from_onset":
            return SilencedAudio(audio, silent_from=row.events.insertion_start)
        return audio

    @cached_property
    def short(self) -> list[DataError]:
        """A fault for every channel that ends before the events; a missing file is none here.

        A system would be blamed for a window that nobody can hear.
        """
        planned = self._system_channel == "planned"
        found = []
        for row, place in self.rows:
            at = Place(place.file, place.line, row.sample_id)
            for role in (Role.USER, Role.SYSTEM):
                audio = self.channel(row, role, place=place)
                if audio is None or not (self.root / row.audio[role.value].path).is_file():
                    continue
                seconds = audio.frames / audio.rate
                problem = too_short(row, role.value, seconds, planned=planned)
                if problem is not None:
                    found.append(DataError("FB263", problem, where=at))
        return found

    def _observation(self, row: SampleRow, place: Place) -> Observation:
        end = window_end(row.events.insertion_end, row.events.system_end, WIDEST_TAIL)
        channels: dict[Role, AudioRef] = {}
        for role in (Role.USER, Role.SYSTEM):
            audio = self.channel(row, role, place=place)
            if audio is not None:
                channels[role] = audio.narrow(cutoff=end)
        return Observation(
            language=row.language,
            turns=tuple(Turn(role=Role(t.role), text=t.text) for t in row.history),
            channels=channels,
            text=row.insertion,
            words=tuple(Word(text=w.text, span=Span(w.start, w.end)) for w in row.words),
            spoken_prefix=row.spoken_prefix,
            cutoff=end,
        )

    def _linked(self) -> dict[str, list[list[str]]]:
        """Return, per sample, its pairs as (pair id, contrast, side), the side by role order."""
        known = {row.sample_id: row for row, _ in self.rows}
        out: dict[str, list[list[str]]] = {}
        for pair, _ in self.pairs:
            name = contrast(known.get(pair.sample_a), known.get(pair.sample_b))
            if name is None:
                continue
            for sample in (pair.sample_a, pair.sample_b):
                side = "a" if known[sample].role[0].upper() == name[0] else "b"
                out.setdefault(sample, []).append([pair.pair_id, name, side])
        return out


def _head(root: Path, *, quiet: bool = False) -> dict[str, Any]:
    path = root / MANIFEST
    if not path.is_file():
        return {}
    try:
        plain = codec.parse(codec.read_bytes(path), where=Place(str(path)))
    except DataError:
        if quiet:
            return {}
        raise
    return plain if isinstance(plain, dict) else {}
