"""Named random streams from one recorded seed.

Every random number of a report comes from ``generator(seed, *path)``. A path names what the
numbers are for, so that a new metric, slice or comparison takes a new path and moves no other
figure. Indices and coins are cut from the raw 64-bit words of PCG64: numpy promises those words
for good, but may change what the methods of ``Generator`` make of them.
"""

from __future__ import annotations

import hashlib
import math
import operator

import numpy as np

from floorbench.errors import UsageError
from floorbench.metrics.base import Bools, Ints

BLOCK = 1 << 15  # indices to draw at once: they and what is made of them stay in the cache


def generator(seed: int, *path: str) -> np.random.Generator:
    """Return the random stream of that name.

    Parameters
    ----------
    seed : int
        The recorded seed, 0 or more.
    path : str
        Names from the general to the special, for example ``"bootstrap", "stratum", "3"``.

    Returns
    -------
    numpy.random.Generator
        PCG64 seeded by ``SeedSequence(seed, spawn_key=...)`` with the first 128 bits of the
        SHA-256 of the path, the same on every machine and in every process.

    Raises
    ------
    UsageError
        ``FB650`` when the seed is not an integer of 0 or more.
    """
    try:
        whole = operator.index(seed)
    except TypeError:
        raise UsageError("FB650", f"the seed is {seed!r}, not an integer") from None
    if whole < 0:
        raise UsageError("FB650", f"the seed is {whole}; it must be 0 or more")
    digest = hashlib.sha256("\0".join(path).encode()).digest()
    key = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4)]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(whole, spawn_key=key)))


def indices(source: np.random.Generator, n: int, shape: tuple[int, ...]) -> Ints:
    """Draw indices in ``[0, n)``, one raw word each.

    The upper 32 bits of a word are multiplied by ``n`` and shifted down by 32, so an index has a
    probability within 2**-32 of 1/n. Asking for the same number of indices in several portions
    gives the same sequence.
    """
    words = _words(source, shape)
    words >>= np.uint64(32)
    words *= np.uint64(n)
    words >>= np.uint64(32)
    return words.view(np.int64)


def coins(source: np.random.Generator, shape: tuple[int, ...]) -> Bools:
    """Draw fair coins, the top bit of one raw word each."""
    return _words(source, shape) >= np.uint64(1 << 63)


def _words(
    source: np.random.Generator, shape: tuple[int, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    return np.asarray(source.bit_generator.random_raw(math.prod(shape))).reshape(shape)
