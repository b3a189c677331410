"""Reading byte ranges from local files, web servers and any other store that fsspec knows.

Faults of a network are tried again a few times; what is not there, not allowed or shorter than it
should be is an error at once. Ranges read one after the other are fetched in growing blocks, so
that one pass over a file takes few requests; ranges read here and there are fetched exactly.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

from floorbench.audio.addresses import is_url, shown
from floorbench.audio.http import HttpStore
from floorbench.core.words import counted
from floorbench.errors import DataError, EnvironmentProblem, Place, missing_extra

TRIES = 4
FIRST_PAUSE = 0.25
"""Seconds before a second try; each later pause is twice as long."""
BLOCK = 1 << 20
AHEAD = 8 << 20
"""Most bytes that are fetched at once beyond those asked for."""
KEPT = 4
_GAP = 1 << 20

T = TypeVar("T")


class Store(Protocol):
    """Where the bytes of one file come from; faults are ``OSError``."""

    def read(self, offset: int, size: int) -> bytes:
        """Return the bytes of ``[offset, offset + size)``, fewer where the file ends."""
        ...


def read_range(address: str, *, offset: int, size: int) -> bytes:
    """Return exactly ``size`` bytes.

    Raises
    ------
    DataError
        ``FB282`` missing or not permitted, ``FB283`` when the file ends before, ``FB286`` when it
        cannot be read.
    """
    if not is_url(address):
        data = _checked(address, lambda: _LocalStore(address).read(offset, size))
    else:
        data = _AHEAD.read(address, offset, size)
    if len(data) < size:
        raise DataError(
            "FB283",
            f"the file ends {'at' if data else 'before'} byte {offset + len(data)}, "
            f"bytes up to {offset + size} are needed",
            where=Place(shown(address)),
        )
    return data


def read_whole(address: str, *, limit: int) -> bytes:
    """Return a whole file of at most ``limit`` bytes.

    Raises
    ------
    DataError
        ``FB287`` when it is larger; else as :func:`read_range`.
    """
    store = open_store(address)
    parts: list[bytes] = []
    held = 0
    while True:
        at, wanted = held, min(AHEAD, limit + 1 - held)
        part = _checked(address, lambda at=at, n=wanted: store.read(at, n))  # type: ignore[misc]
        parts.append(part)
        held += len(part)
        if held > limit:
            raise DataError(
                "FB287",
                f"the file holds more than {counted(limit, 'byte')}",
                where=Place(shown(address)),
            )
        if len(part) < wanted:
            return b"".join(parts)


def stream(address: str, *, limit: int) -> Iterator[bytes]:
    """Yield a file from its beginning in blocks, up to ``limit`` bytes (errors as above)."""
    store = open_store(address)
    block = BLOCK if not is_url(address) else AHEAD
    held = 0
    while held < limit:
        at, wanted = held, min(block, limit - held)
        part = _checked(address, lambda at=at, n=wanted: store.read(at, n))  # type: ignore[misc]
        held += len(part)
        if part:
            yield part
        if len(part) < wanted:
            return


def open_store(address: str) -> Store:
    """Return where an address is read from.

    Raises
    ------
    DataError
        ``FB286`` for a kind of address that is not known.
    EnvironmentProblem
        ``FB401`` when fsspec, or the library for this kind of address, is not installed.
    """
    if not is_url(address):
        return _LocalStore(address)
    if address.startswith(("http://", "https://")) and "::" not in address:
        return HttpStore(address)
    return _FsspecStore(address)


class _LocalStore:
    def __init__(self, address: str) -> None:
        self._path = Path(address)

    def read(self, offset: int, size: int) -> bytes:
        with self._path.open("rb") as file:
            file.seek(offset)
            return file.read(size)


class _FsspecStore:
    """Any address that fsspec opens; its credentials come from its own settings."""

    def __init__(self, address: str) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise missing_extra("fsspec", "remote") from None
        where = Place(shown(address))
        try:
            self._files, self._path = url_to_fs(address)
        except ImportError as error:
            raise EnvironmentProblem(
                "FB401",
                f"this kind of address needs another package ({shown(str(error))})",
                where=where,
                hint="install the package that fsspec names",
            ) from None
        except ValueError as error:
            raise DataError("FB286", shown(str(error)), where=where) from None
        except OSError as error:
            raise _refused(address, error) from None

    def read(self, offset: int, size: int) -> bytes:
        data: bytes = self._files.cat_file(self._path, start=offset, end=offset + size)
        return data


class _ReadAhead:
    """The last block of a few addresses, and how far ahead it pays to read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: OrderedDict[str, tuple[int, bytes, int]] = OrderedDict()
        self._stores: OrderedDict[str, Store] = OrderedDict()

    def read(self, address: str, offset: int, size: int) -> bytes:
        with self._lock:
            start, block, ahead = self._blocks.get(address, (-1, b"", 0))
            store = self._stores.get(address)
        end = start + len(block)
        if start >= 0 and start <= offset and offset + size <= end:
            return block[offset - start : offset - start + size]
        onward = (start >= 0 and 0 <= offset - end <= _GAP) or start <= offset < end
        ahead = min(AHEAD, max(BLOCK, 2 * ahead)) if onward else 0
        if store is None:
            store = open_store(address)
        held = store
        fetched = _checked(address, lambda: held.read(offset, max(size, ahead)))
        with self._lock:
            self._blocks[address] = (offset, fetched, ahead)
            self._blocks.move_to_end(address)
            self._stores[address] = store
            while len(self._blocks) > KEPT:
                old, _ = self._blocks.popitem(last=False)
                self._stores.pop(old, None)
        return fetched[:size]


_AHEAD = _ReadAhead()


def _checked(address: str, read: Callable[[], T]) -> T:
    """Try a read a few times; turn what it raises into one clear error."""
    pause = FIRST_PAUSE
    for attempt in range(1, TRIES + 1):
        try:
            return read()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
            raise _refused(address, error) from None
        except OSError as error:
            if attempt == TRIES or not is_url(address):
                tries = f" in {TRIES} tries" if is_url(address) else ""
                what = f"cannot be read{tries}: {_reason(error)}"
                raise DataError("FB286", what, where=Place(shown(address))) from None
        except (KeyError, ValueError, RuntimeError) as error:  # stores of other people's making
            what = f"cannot be read: {shown(str(error))}"
            raise DataError("FB286", what, where=Place(shown(address))) from None
        time.sleep(pause)
        pause *= 2
    raise AssertionError("unreachable")


def _refused(address: str, error: OSError) -> DataError:
    return DataError("FB282", f"cannot be opened: {_reason(error)}", where=Place(shown(address)))


def _reason(error: OSError) -> str:
    return shown(error.strerror or str(error) or type(error).__name__)
