"""Reader of the released CoDeTT layout, and of any set written in it.

``jsonls/{EN,ZH}/{real,syn}/**.jsonl`` beside ``audios/...``; a single JSONL file or a folder of
them is read as well. Audio is opened only when it is read, so checking and scoring predictions
needs no audio files.

Samples stream in file and line order. One light pass before them joins clusters and strata and
finds repeated ids; it keeps hashes only.

Notes
-----
Cluster (the resampling unit): the ``dialogue`` field where the data has one, else the hash of the
normalised history, else the sample itself, tagged ``cluster=sample (dialogue unknown)``.
Stratum: language x label x source. A cluster that touches several strata belongs to one stratum
of its own, named by their joined set, so that every cluster has exactly one; strata of a single
cluster are collapsed per language (:mod:`floorbench.datasets.strata`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from floorbench.audio.ref import FileAudio
from floorbench.core.sample import JsonValue, Observation, Sample, Turn
from floorbench.core.vocab import Role
from floorbench.datasets.codett_labels import find_scenario, find_state, normalise
from floorbench.datasets.codett_lines import (
    Dialogue,
    RawTurn,
    history_key,
    normal_language,
    read_line,
)
from floorbench.datasets.layout import AudioPaths, find_root, jsonl_files
from floorbench.datasets.manifest import Manifest, fold, pcm_digests, read_manifest
from floorbench.datasets.strata import Strata
from floorbench.errors import DataError, Place

SAMPLE_CLUSTER = "sample (dialogue unknown)"


class _FromPath(NamedTuple):
    """What the folders and the name of a file say."""

    language: str | None
    source: str
    state: str | None


class _Index(NamedTuple):
    """What the first pass keeps: strata by cluster, and the number of lines."""

    strata: dict[bytes, str]
    lines: int


class CodettSource:
    """A CoDeTT set on disk.

    Parameters
    ----------
    path : str or Path
        A release (or the folder above it), a folder of JSONL files, or one JSONL file.
    name : str or None
        Name to print; the manifest's or the folder's name by default.
    cache : Path or None
        Folder for audio hashes; the user's cache by default.
    located : str or None
        What ``locator`` says instead of the path, for sets that ship with floorbench.

    Raises
    ------
    DataError
        ``FB211`` when there is no JSONL file there.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        cache: Path | None = None,
        located: str | None = None,
    ) -> None:
        self.path = Path(path)
        self.root = find_root(self.path)
        self.files = jsonl_files(self.path)
        if not self.files:
            from floorbench.datasets.clips import ClipsSource

            raise DataError(
                "FB211",
                "no JSONL file of dialogues here",
                where=Place(str(path)),
                hint="these are labelled clips: name --reader clips, and the task 'clips'"
                if self.path.exists() and ClipsSource.detect(self.path)
                else None,
            )
        self.manifest: Manifest | None = read_manifest(self.root)
        self.name = name or (self.manifest.name if self.manifest else self.root.resolve().name)
        self._cache = cache
        self._located = located
        self._audio = AudioPaths(self.root)
        self._index: _Index | None = None
        self._named: set[str] = set()  # audio that the first pass met, until the digest is made
        self._digest: str | None = None

    @classmethod
    def detect(cls, path: Path) -> bool:
        """Tell whether ``path`` looks like dialogues in this layout."""
        files = jsonl_files(path)
        if not files:
            return False
        with files[0].open("rb") as lines:
            return b'"messages"' in lines.readline()

    def locator(self) -> Mapping[str, JsonValue]:
        """Return reader and path."""
        path = self._located or str(self.path)
        return {"reader": "codett", "path": path, "name": self.name}

    def describe(self) -> Mapping[str, JsonValue]:
        """Return name, version, licence, notices and size."""
        manifest = self.manifest
        return {
            "name": self.name,
            "version": manifest.version if manifest else "unknown",
            "licence": manifest.licence if manifest else "unknown",
            "notices": list(manifest.notices) if manifest else [],
            "ranks": manifest.ranks if manifest else True,
            "samples": self._first_pass().lines,
        }

    def digest(self) -> str:
        """Return the SHA-256 over all lines and the decoded audio they name.

        Raises
        ------
        DataError
            ``FB216`` when audio is neither listed in a manifest nor present.
        """
        if self._digest is None:
            self._first_pass()
            pcm = pcm_digests(self.root, self._named, self.manifest, cache=self._cache)
            self._digest = fold((line for _, line, _ in self._lines()), pcm)
            self._named = set()
        return self._digest

    def samples(self) -> Iterator[Sample]:
        """Yield samples in file and line order."""
        index = self._first_pass()
        for file, line, where in self._lines():
            yield self._sample(file, self._dialogue(line, where), where, index)

    def _audio_of(self, dialogue: Dialogue, where: Place) -> Iterator[str]:
        for turn in (*dialogue.history, dialogue.target):
            if turn.audio is not None:
                yield self._audio.relative(turn.audio, where)

    # ---- lines -------------------------------------------------------------------------------

    def _lines(self) -> Iterator[tuple[str, bytes, Place]]:
        for file in self.files:
            relative = file.relative_to(self.root).as_posix()
            try:
                with file.open("rb") as lines:
                    for number, line in enumerate(lines, start=1):
                        if line.strip():
                            yield relative, line.strip(), Place(relative, number)
            except OSError as error:
                raise DataError(
                    "FB402", f"cannot be read: {error.strerror}", where=Place(str(file))
                ) from None

    def _dialogue(self, line: bytes, where: Place) -> Dialogue:
        return read_line(line, where, hinted_state=from_path(where.file or "").state)

    def _first_pass(self) -> _Index:
        if self._index is None:
            ids: set[bytes] = set()
            strata = Strata[bytes]()
            count = 0
            for file, line, where in self._lines():
                dialogue = self._dialogue(line, where)
                count += 1
                name = hashlib.blake2b(_sample_id(dialogue, where).encode(), digest_size=12)
                if name.digest() in ids:
                    raise DataError(
                        "FB203",
                        f"sample '{_sample_id(dialogue, where)}' appears twice",
                        where=where,
                    )
                ids.add(name.digest())
                self._named.update(self._audio_of(dialogue, where))
                strata.add(
                    _cluster_key(_cluster(dialogue, where)[0]), _stratum(dialogue, file, where)
                )
            self._index = _Index(strata.final(lambda stratum: stratum.split(" x ")[0]), count)
        return self._index

    # ---- samples -----------------------------------------------------------------------------

    def _sample(self, file: str, dialogue: Dialogue, where: Place, index: _Index) -> Sample:
        intent = dialogue.intent
        language = _language(dialogue, file, where)
        cluster, kind = _cluster(dialogue, where)
        target = self._turn(dialogue.target, where)
        return Sample(
            id=_sample_id(dialogue, where),
            cluster=cluster,
            stratum=index.strata[_cluster_key(cluster)],
            observation=Observation(
                language=language,
                state=intent.state,
                turns=tuple(self._turn(turn, where) for turn in dialogue.history),
                channels={Role.USER: target.audio} if target.audio is not None else {},
                text=target.text,
            ),
            target={"label": intent.label, "action": intent.action, "scenario": intent.scenario},
            tags={
                "language": language,
                "state": intent.state,
                "action": intent.action,
                "scenario": intent.scenario,
                "source": from_path(file).source,
                "cluster": kind,
            },
        )

    def _turn(self, turn: RawTurn, where: Place) -> Turn:
        audio = None
        if turn.audio is not None:
            audio = FileAudio(self.root / self._audio.relative(turn.audio, where))
        return Turn(role=turn.role, text=turn.text, audio=audio)


@cache
def from_path(relative: str) -> _FromPath:
    """Read language, source and state from a path such as ``jsonls/EN/real/x.jsonl``.

    Source is ``real``, ``syn`` or ``unknown``. The state is taken from a file name or folder in
    the release's spelling ``State_Action_Scenario`` only.
    """
    language = state = None
    source = "unknown"
    for part in relative.removesuffix(".jsonl").split("/"):
        folded = normalise(part)
        if folded in ("en", "zh", "english", "chinese"):
            language = normal_language(folded)
        elif folded in ("real", "syn", "synthetic"):
            source = "real" if folded == "real" else "syn"
        for known in ("systemidle", "systemspeaking"):
            if folded == known or (folded.startswith(known) and _names_label(folded, known)):
                state = find_state(known)
    return _FromPath(language, source, state)


def _names_label(folded: str, state: str) -> bool:
    rest = folded.removeprefix(state)
    actions = ("maintain", "stoplisten", "takeover", "dismiss")
    return any(
        rest == a or (rest.startswith(a) and find_scenario(rest.removeprefix(a)) is not None)
        for a in actions
    )


def _language(dialogue: Dialogue, file: str, where: Place) -> str:
    language = dialogue.language or from_path(file).language
    if language is None:
        raise DataError("FB215", "no 'language' and no EN or ZH folder", where=where)
    return language


def _stratum(dialogue: Dialogue, file: str, where: Place) -> str:
    language = _language(dialogue, file, where)
    return f"{language} x {dialogue.intent.label} x {from_path(file).source}"


def _sample_id(dialogue: Dialogue, where: Place) -> str:
    return dialogue.id if dialogue.id is not None else str(where)


def _cluster(dialogue: Dialogue, where: Place) -> tuple[str, str]:
    if dialogue.dialogue is not None:
        return f"dialogue:{dialogue.dialogue}", "dialogue"
    key = history_key(dialogue.history)
    if key is not None:
        return f"history:{key.hex()}", "history"
    return f"sample:{_sample_id(dialogue, where)}", SAMPLE_CLUSTER


def _cluster_key(cluster: str) -> bytes:
    return hashlib.blake2b(cluster.encode(), digest_size=12).digest()
