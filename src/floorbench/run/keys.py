"""Compact memory of which keys are done: 16 bytes a slot instead of a dict of tuples."""

from __future__ import annotations

import hashlib
from array import array

from floorbench.core.prediction import PredictionKey

_SEEN = 1 << 63
_MASK = _SEEN - 1


def key_code(key: PredictionKey) -> int:
    """Return a 64-bit code of a key, never 0; two keys of a run share one with p < 1e-7."""
    text = f"{key.sample_id}\x00{key.condition}\x00{key.trial}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) or 1


def observation_code(observed: str | None) -> int:
    """Return 63 bits of an observation hash, 0 when there is none."""
    return int(observed[:16], 16) & _MASK if observed else 0


class KeyTable:
    """Open-addressing map of key code to observation code, with a mark for "seen this pass".

    Memory is 16 bytes a slot at a load of at most 4/5, so a million keys cost 32 MiB; a dict of
    the keys themselves would cost ten times that.
    """

    __slots__ = ("_codes", "_size", "_values")

    def __init__(self, capacity: int = 1024) -> None:
        self._size = 0
        self._codes = array("Q", bytes(8 * capacity))
        self._values = array("Q", bytes(8 * capacity))

    def __len__(self) -> int:
        return self._size

    def _slot(self, code: int) -> int:
        mask = len(self._codes) - 1
        slot = code & mask
        while self._codes[slot] not in (0, code):
            slot = (slot + 1) & mask
        return slot

    def add(self, code: int, value: int = 0) -> bool:
        """Insert a key; return False when it was there already (it is then left alone)."""
        if 5 * (self._size + 1) > 4 * len(self._codes):
            self._grow()
        slot = self._slot(code)
        if self._codes[slot]:
            return False
        self._codes[slot] = code
        self._values[slot] = value
        self._size += 1
        return True

    def get(self, code: int) -> int | None:
        """Return the observation code of a key, or None when the key is unknown."""
        slot = self._slot(code)
        return self._values[slot] & _MASK if self._codes[slot] else None

    def mark(self, code: int) -> bool:
        """Mark a known key as seen; return False when it was marked before."""
        slot = self._slot(code)
        fresh = not self._values[slot] & _SEEN
        self._values[slot] |= _SEEN
        return fresh

    def _grow(self) -> None:
        codes, values = self._codes, self._values
        self._codes = array("Q", bytes(16 * len(codes)))
        self._values = array("Q", bytes(16 * len(codes)))
        for code, value in zip(codes, values, strict=True):
            if code:
                slot = self._slot(code)
                self._codes[slot] = code
                self._values[slot] = value
