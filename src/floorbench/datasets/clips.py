"""Reader of labelled clips: one short recording of a user turn each, judged without a dialogue.

Three layouts are read:

* a table ``labels.tsv`` or ``labels.csv`` (or any ``.tsv``/``.csv`` given as the path) whose first
  line names the columns: ``path`` and ``label``, optional ``text``, ``language``, ``source``,
  ``cluster``, ``end`` (where in the clip its last word ends, in seconds);
* one folder per label;
* one folder of files named ``{label}_{source}_{number}.wav`` or ``{label}_{number}.wav``.

Labels are those of the field's four endpointing classes; other spellings of them are folded.

Notes
-----
Cluster: the table's ``cluster`` column (speaker or conversation) where there is one, else the
clip itself, tagged ``cluster=sample (dialogue unknown)``. Stratum: label x source; a cluster that
touches several belongs to their joined set, and strata of a single cluster are collapsed.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from floorbench.audio.decode import Channel
from floorbench.audio.ref import FileAudio
from floorbench.core.numbers import number_of
from floorbench.core.sample import JsonValue, Observation, Sample
from floorbench.core.vocab import Role
from floorbench.datasets.codett_labels import normalise
from floorbench.datasets.codett_lines import normal_language
from floorbench.datasets.layout import AudioPaths, files_below, jsonl_files
from floorbench.datasets.manifest import Manifest, fold, pcm_digests, read_manifest
from floorbench.datasets.strata import Strata
from floorbench.errors import DataError, Place, did_you_mean

LABELS = ("complete", "incomplete", "backchannel", "wait")
SAMPLE_CLUSTER = "sample (dialogue unknown)"
# Kinds that cannot be read are listed too: they are refused when opened, not left out silently.
AUDIO_SUFFIXES = (
    *(".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".sph"),
    *(".aif", ".aiff", ".aac", ".m4a", ".wma"),
)

_ALIASES = {
    **{label: label for label in LABELS},
    "finished": "complete",
    "completion": "complete",
    "unfinished": "incomplete",
    "bc": "backchannel",
}
_NAMED = re.compile(r"^(?P<label>[A-Za-z]+)(?:_(?P<source>[A-Za-z]+))?_\d+$")
_SOURCES = {"real": "real", "synthetic": "syn", "syn": "syn"}


class Clip(NamedTuple):
    """One labelled recording; ``path`` is relative to the root."""

    path: str
    label: str
    language: str
    source: str
    text: str | None
    cluster: str | None
    end: float | None = None


class ClipsSource:
    """Labelled clips on disk.

    Parameters
    ----------
    path : str or Path
        A folder in one of the layouts above, or a table.
    language : str
        Language of clips that do not name one; ``und`` when unknown.
    channel : int, "mix" or None
        Channel of files that have several, counted from 0, or their mean.
    name : str or None
    cache : Path or None
        Folder for audio hashes; the user's cache by default.

    Raises
    ------
    DataError
        ``FB211`` when no clip is found, ``FB213`` unknown label, ``FB217`` malformed table.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        language: str = "und",
        channel: Channel | None = None,
        name: str | None = None,
        cache: Path | None = None,
    ) -> None:
        self.path = Path(path)
        self.language = normal_language(language)
        table = _table(self.path)
        self.root = self.path.parent if table == self.path else self.path
        self._audio = AudioPaths(self.root)
        self.clips = tuple(self._from_table(table) if table else self._from_names())
        if not self.clips:
            raise DataError("FB211", "no labelled clip here", where=Place(str(path)))
        self.manifest: Manifest | None = read_manifest(self.root)
        self.name = name or (self.manifest.name if self.manifest else self.root.resolve().name)
        self._cache = cache
        self._channel = channel
        self._strata = self._join_strata()

    @classmethod
    def detect(cls, path: Path) -> bool:
        """Tell whether ``path`` looks like labelled clips."""
        if _table(path) is not None:
            return True
        if not path.is_dir() or jsonl_files(path):
            return False
        return any(_label_of(file, path) is not None for file in files_below(path, AUDIO_SUFFIXES))

    def locator(self) -> Mapping[str, JsonValue]:
        """Return reader, path, language and the channel chosen."""
        located: dict[str, JsonValue] = {
            "reader": "clips",
            "path": str(self.path),
            "name": self.name,
            "language": self.language,
        }
        if self._channel is not None:
            located["channel"] = self._channel
        return located

    def describe(self) -> Mapping[str, JsonValue]:
        """Return name, version, licence, notices and size."""
        manifest = self.manifest
        return {
            "name": self.name,
            "version": manifest.version if manifest else "unknown",
            "licence": manifest.licence if manifest else "unknown",
            "notices": list(manifest.notices) if manifest else [],
            "samples": len(self.clips),
        }

    def digest(self) -> str:
        """Return the SHA-256 over labels, texts, ends, decoded audio and the channel chosen."""
        files = {c.path for c in self.clips}
        pcm = pcm_digests(self.root, files, self.manifest, cache=self._cache, channel=self._channel)
        lines = [repr(tuple(clip)[: 6 + (clip.end is not None)]).encode() for clip in self.clips]
        if self._channel is not None:
            lines.append(f"channel {self._channel}".encode())
        return fold(lines, pcm)

    def samples(self) -> Iterator[Sample]:
        """Yield one sample per clip, in table order or by path."""
        for clip in self.clips:
            yield Sample(
                id=clip.path,
                cluster=_cluster(clip),
                stratum=self._strata[_cluster(clip)],
                observation=Observation(
                    language=clip.language,
                    channels={Role.USER: FileAudio(self.root / clip.path, channel=self._channel)},
                    text=clip.text,
                ),
                target={"label": clip.label} | ({} if clip.end is None else {"end": clip.end}),
                tags={
                    "language": clip.language,
                    "label": clip.label,
                    "source": clip.source,
                    "cluster": "given" if clip.cluster is not None else SAMPLE_CLUSTER,
                },
            )

    def _join_strata(self) -> dict[str, str]:
        strata = Strata[str]()
        for clip in self.clips:
            strata.add(_cluster(clip), f"{clip.label} x {clip.source}")
        return strata.final()

    def _from_names(self) -> Iterator[Clip]:
        for file in files_below(self.path, AUDIO_SUFFIXES):
            named = _label_of(file, self.path)
            if named is None:
                below = file.relative_to(self.root)
                name = below.parts[-2] if len(below.parts) > 1 else file.stem
                raise _unknown_label(name, Place(below.as_posix()))
            label, source = named
            relative = self._audio.relative(
                file.relative_to(self.root).as_posix(), Place(str(file))
            )
            yield Clip(relative, label, self.language, source, None, None)

    def _from_table(self, table: Path) -> Iterator[Clip]:
        name = table.relative_to(self.root).as_posix()
        delimiter = "\t" if table.suffix == ".tsv" else ","
        seen: dict[str, int] = {}
        try:
            with table.open(encoding="utf-8-sig", newline="") as lines:
                rows = csv.DictReader(lines, delimiter=delimiter, strict=True)
                columns = rows.fieldnames or []
                twice = [c for c in dict.fromkeys(columns) if columns.count(c) > 1]
                if twice:
                    where = Place(name, 1)
                    raise DataError("FB217", f"column '{twice[0]}' stands twice", where=where)
                for needed in ("path", "label"):
                    if needed not in columns:
                        near = did_you_mean(needed, columns)
                        raise DataError(
                            "FB217",
                            f"no column '{needed}'",
                            where=Place(name, 1),
                            hint=f"'{near}' looks like it" if near else None,
                        )
                for row in rows:
                    where = Place(name, rows.line_num)
                    clip = self._row(row, where)
                    if clip.path in seen:
                        raise DataError("FB217", f"clip '{clip.path}' stands twice", where=where)
                    seen[clip.path] = rows.line_num
                    yield clip
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise DataError("FB402", f"cannot be read: {error}", where=Place(name)) from None

    def _row(self, row: Mapping[str | None, str | None], where: Place) -> Clip:
        if None in row or any(value is None for value in row.values()):
            raise DataError("FB217", "the row has more or fewer cells than columns", where=where)
        label = _ALIASES.get(normalise(row["label"] or ""))
        if label is None:
            raise _unknown_label(row["label"] or "", where)
        language = row.get("language")
        return Clip(
            path=self._audio.relative(row["path"] or "", where),
            label=label,
            language=normal_language(language) if language else self.language,
            source=_SOURCES.get(normalise(row.get("source") or ""), "unknown"),
            text=row.get("text"),
            cluster=row.get("cluster") or None,
            end=_seconds(row.get("end") or "", where),
        )


def _seconds(cell: str, where: Place) -> float | None:
    if not cell.strip():
        return None
    try:
        value = number_of(cell)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise DataError("FB217", f"end '{cell[:40]}' is no time in seconds", where=where)
    return value


def _table(path: Path) -> Path | None:
    if path.is_file():
        return path if path.suffix in (".tsv", ".csv") else None
    for name in ("labels.tsv", "labels.csv"):
        if (path / name).is_file():
            return path / name
    return None


def _label_of(file: Path, root: Path) -> tuple[str, str] | None:
    """Return label and source from the nearest folder that is a label, else from the file name."""
    folders = file.relative_to(root).parts[:-1]
    match = _NAMED.match(file.stem)
    source = _SOURCES.get(normalise(match["source"] or ""), "unknown") if match else "unknown"
    for folder in reversed(folders):
        if normalise(folder) in _SOURCES:
            source = _SOURCES[normalise(folder)]
    for folder in reversed(folders):
        if normalise(folder) in _ALIASES:
            return _ALIASES[normalise(folder)], source
    if match and normalise(match["label"]) in _ALIASES:
        return _ALIASES[normalise(match["label"])], source
    return None


def _cluster(clip: Clip) -> str:
    return f"given:{clip.cluster}" if clip.cluster is not None else f"sample:{clip.path}"


def _unknown_label(name: str, where: Place) -> DataError:
    near = did_you_mean(name, _ALIASES)
    return DataError(
        "FB213",
        f"'{name}' is not a clip label",
        where=where,
        hint=f"did you mean '{near}'?" if near else f"known: {', '.join(LABELS)}",
    )
