"""A bench for stages that are tested without the engine."""

from __future__ import annotations

import hashlib

import numpy as np


class FakeBench:
    """Seeds like the engine does, keeps sounds in memory as 16 bits, and keeps what is noted."""

    def __init__(self, item="x", *, stage="write", seed=0, attempt=0):
        self._key = f"{seed}/{stage}/{item}/{attempt}"
        self.seed = seed
        self.attempt = attempt
        self.notes = []
        self.sounds = {}

    @property
    def rng(self):
        digest = hashlib.sha256(self._key.encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "little"))

    def load(self, digest):
        return self.sounds[digest]

    def keep(self, samples, rate):
        pcm = np.round(np.clip(samples, -1, 32767 / 32768) * 32768).astype(np.int16)
        digest = hashlib.sha256(rate.to_bytes(4, "little") + pcm.tobytes()).hexdigest()
        self.sounds[digest] = ((pcm / 32768).astype(np.float32), rate)
        return digest

    def note(self, kind, **facts):
        self.notes.append((kind, facts))
