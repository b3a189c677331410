"""Who speaks: pools of voices per language and role that never share a voice, and the choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from floorbench.build.kokoro_voices import VOICES
from floorbench.build.speech.providers import Reference
from floorbench.errors import UsageError
from floorbench.stats.streams import generator

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


def choose(
    pool: Sequence[Voice],
    *,
    seed: int,
    family: str,
    role: str,
    turn: int = 0,
    casts: int = 1,
) -> Voice:
    """Return the voice of a role in a dialogue family; ``turn`` counts on to the next one.

    Siblings of one family hear the same speaker, whatever else differs between them. With several
    casts (:func:`casts_of`) a family belongs to one of them in all of its roles.
    """
    if not pool:
        raise UsageError("FB875", f"there is no voice for {role}")
    own = _cast(pool, int(generator(seed, family, "cast").integers(casts)), casts)
    order = generator(seed, family, role).permutation(len(own))
    return own[int(order[turn % len(own)])]


def casts_of(pools: Mapping[str, Sequence[Voice]]) -> int:
    """Return into how many casts without a common voice the pools can be parted.

    Without casts almost every two families meet in some voice, so that no split of them could keep
    its speakers to itself.

    Examples
    --------
    >>> casts_of(KOKORO["en"]), casts_of(KOKORO["zh"])
    (4, 2)
    """
    sizes = [len(_single(pool)) for role, pool in pools.items() if role != "babble"]
    return max(1, min(sizes, default=1))


def _single(pool: Sequence[Voice]) -> list[Voice]:
    return [v for v in pool if not (isinstance(v, str) and "+" in v)]


def _cast(pool: Sequence[Voice], part: int, casts: int) -> Sequence[Voice]:
    """Return the voices of one cast: neighbours of the pool, and the blends of them alone."""
    if casts == 1:
        return pool
    single = _single(pool)
    own = single[part * len(single) // casts : (part + 1) * len(single) // casts]
    mixed = [v for v in pool if v not in single and set(str(v).split("+")) <= set(own)]
    return [*own, *mixed]
