"""Content hashes of a dataset's audio: from its manifest, or computed once and kept in a cache.

A dataset's digest covers texts and decoded audio, never containers or file times. Decoding a
large set is slow, so a ``manifest.json`` beside it may list the hashes; without one they are
computed and remembered per file, keyed by path, size and modification time.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from floorbench.audio.assets import cache_dir
from floorbench.audio.decode import Channel
from floorbench.audio.ref import FileAudio
from floorbench.codec import convert, encode_pretty, parse, read_bytes
from floorbench.errors import DataError, Place

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What ``manifest.json`` says about a dataset.

    Parameters
    ----------
    name, version, licence : str
    notices : tuple of str
        Lines to print beside every table.
    ranks : bool
        Whether systems may be ranked on it; a starter set says no.
    pcm : mapping of str to str
        Relative audio path to the SHA-256 of its decoded samples.
    """

    name: str
    version: str = "unknown"
    licence: str = "unknown"
    notices: tuple[str, ...] = ()
    ranks: bool = True
    pcm: Mapping[str, str] = field(default_factory=dict)


def read_manifest(root: Path) -> Manifest | None:
    """Return the manifest beside a dataset, or ``None``.

    Hashes stand in ``pcm`` (path to hash), or per clip in ``clips`` (with ``audio`` and
    ``pcm_sha256``), as the construction recipes write them. Other keys are theirs and ignored.

    Raises
    ------
    DataError
        ``FB201`` when the file is not JSON or one of the keys above has the wrong type.
    """
    path = root / MANIFEST
    if not path.is_file():
        return None
    where = Place(str(path))
    plain = parse(read_bytes(path), where=where)
    if not isinstance(plain, dict) or not isinstance(plain.get("name"), str):
        raise DataError("FB201", "the manifest names no dataset", where=where)
    notices = plain.get("notices", [plain["notice"]] if "notice" in plain else [])
    try:
        pcm = {
            **{clip["audio"]: clip["pcm_sha256"] for clip in plain.get("clips", {}).values()},
            **plain.get("pcm", {}),
        }
    except (AttributeError, KeyError, TypeError):
        raise DataError("FB201", "a clip lacks 'audio' or 'pcm_sha256'", where=where) from None
    known = {k: plain[k] for k in ("name", "version", "licence", "ranks") if k in plain}
    return convert({**known, "notices": notices, "pcm": pcm}, Manifest, where=where)


def write_manifest(root: Path, manifest: Manifest) -> None:
    """Write ``manifest.json``."""
    (root / MANIFEST).write_text(encode_pretty(manifest), encoding="utf-8")


def pcm_digests(
    root: Path,
    files: Iterable[str],
    manifest: Manifest | None,
    *,
    cache: Path | None = None,
    channel: Channel | None = None,
) -> dict[str, str]:
    """Return the content hash of each audio file, sorted by path.

    Parameters
    ----------
    root : Path
    files : iterable of str
        Relative paths.
    manifest : Manifest or None
        Its hashes are taken as they are; only files it does not list are decoded.
    cache : Path or None
        Folder of the hash cache; the user's cache folder when ``None``.
    channel : int, "mix" or None
        Channel that is heard, of files that have several.

    Raises
    ------
    DataError
        ``FB216`` when a file is neither listed nor readable.
    """
    known = manifest.pcm if manifest is not None else {}
    store = _Store((cache or cache_dir()) / "pcm", root, channel)
    out: dict[str, str] = {}
    for name in sorted(files):
        out[name] = known[name] if name in known else store.digest(name)
    store.save()
    return out


def fold(lines: Iterable[bytes], pcm: Mapping[str, str]) -> str:
    """Return one SHA-256 over texts, in order, and audio hashes, by path."""
    total = hashlib.sha256()
    for line in lines:
        total.update(hashlib.sha256(line).digest())
    for name, value in sorted(pcm.items()):
        total.update(f"{name}\0{value}\n".encode())
    return total.hexdigest()


class _Store:
    """Hashes of one dataset's files on this machine; a broken or unwritable cache is no error."""

    def __init__(self, folder: Path, root: Path, channel: Channel | None) -> None:
        self._root = root
        self._channel = channel
        key = str(root.resolve()) if channel is None else f"{root.resolve()}\0{channel}"
        self._file = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"
        self._entries: dict[str, list[object]] = {}
        self._changed = False
        try:
            loaded = json.loads(self._file.read_text(encoding="utf-8"))
            self._entries = loaded if isinstance(loaded, dict) else {}
        except (OSError, ValueError, RecursionError):
            pass

    def digest(self, name: str) -> str:
        path = self._root / name
        try:
            stat = path.stat()
        except OSError as error:
            raise DataError(
                "FB216",
                f"audio '{name}' is neither in the manifest nor on this machine ({error.strerror})",
                where=Place(str(self._root)),
            ) from None
        stamp = [stat.st_size, stat.st_mtime_ns]
        entry = self._entries.get(name)
        if isinstance(entry, list) and entry[:2] == stamp and isinstance(entry[-1], str):
            return entry[-1]
        value = FileAudio(path, channel=self._channel).digest()
        self._entries[name] = [*stamp, value]
        self._changed = True
        return value

    def save(self) -> None:
        if not self._changed:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._file.with_suffix(f".{os.getpid()}.tmp")
            temporary.write_text(json.dumps(self._entries), encoding="utf-8")
            temporary.replace(self._file)
        except OSError:
            return
