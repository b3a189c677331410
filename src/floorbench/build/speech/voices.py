"""Who speaks: pools of voices per language and role that never share a voice, and the choice."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from floorbench.build.speech.providers import Reference
from floorbench.build.starter_plan import VOICES
from floorbench.errors import UsageError

Voice = str | Reference
ROLES = ("user", "third_party", "background", "babble")


def blends(pool: Sequence[str]) -> tuple[str, ...]:
    """Return the mean voices of every two of a pool that share accent and sex.

    Examples
    --------
    >>> blends(("af_heart", "am_puck", "af_bella", "bf_emma"))
    ('af_heart+af_bella',)
    """
    return tuple(f"{a}+{b}" for a, b in combinations(pool, 2) if a[:2] == b[:2])


KOKORO: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    language: {**pools, "user": (*pools["user"], *blends(pools["user"]))}
    for language, pools in VOICES.items()
}
"""The embedded voices; ``a+b`` is the mean of two, both from the same pool."""


def disjoint(pools: Mapping[str, Sequence[Voice]]) -> None:
    """Check that no voice, alone or in a blend, is in two pools that are heard as people.

    Blends count as their parts, except in the babble, where nobody is to be recognised.

    Raises
    ------
    UsageError
        ``FB875`` naming the voice and the two roles.
    """
    owner: dict[str, str] = {}
    for role in dict.fromkeys((*ROLES, *pools)):
        for voice in pools.get(role, ()):
            name = voice if isinstance(voice, str) else str(voice.path)
            parts = [name] if role == "babble" else name.split("+")
            for part in parts:
                if owner.setdefault(part, role) != role:
                    raise UsageError("FB875", f"voice {part!r} is both {owner[part]} and {role}")


def generator(*parts: object) -> np.random.Generator:
    """Return a generator that depends on nothing but these values."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def choose(pool: Sequence[Voice], *, seed: int, family: str, role: str, turn: int = 0) -> Voice:
    """Return the voice of a role in a dialogue family; ``turn`` counts on to the next one.

    Siblings of one family hear the same speaker, whatever else differs between them.
    """
    if not pool:
        raise UsageError("FB875", f"there is no voice for {role}")
    order = generator(seed, family, role).permutation(len(pool))
    return pool[int(order[turn % len(pool)])]
