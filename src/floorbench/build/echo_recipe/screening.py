"""What is left out: groups whose words give the role away, and samples without their partner.

Source
------
ECHO, data construction and Table 2: every backchannel lexically unique, none of the most frequent
characters alone, matched lengths over the roles, pairs balanced over the contrasts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from floorbench.build.echo_recipe.rewriting import contexts_of
from floorbench.build.echo_recipe.texts import FULL, TYPES
from floorbench.build.pipeline.stage import Gathered, Item, Rejected
from floorbench.build.text import grammar
from floorbench.build.text.similarity import similarity
from floorbench.core.sample import JsonValue
from floorbench.datasets.echo_closure import FREQUENT, bare
from floorbench.datasets.echo_tables import ROLES

LETTERS = {"en": (9, 26), "zh": (4, 9)}
"""Letters and digits that an insertion may have, both ends included."""
ALIKE_INSERTION = 0.7
ALIKE_CONTEXT = 0.7
CLOSURE_LANGUAGES = ("zh",)
"""Languages whose characters carry meaning; of an alphabet, fifteen letters spell nearly all."""
FEWEST_SPOKEN = 8
"""Backchannels from which on frequent characters mean something: of a few, all are frequent."""
LENGTH_GAP = 0.06
"""Wanted largest difference of two roles' mean lengths, as a share of the mean length."""


class Screen:
    """Leave out groups before anything is spoken.

    ``length``: the insertion is too short or too long. ``closed-class``: it is one of the listener
    responses that everybody uses. ``frequent-only``: as a backchannel it would be made of the 15
    most frequent characters alone (Mandarin). ``duplicate``: its insertion or one of its contexts
    is near to one kept before.
    """

    name = "screen"
    version = 1
    deterministic = True

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the bounds."""
        letters: dict[str, JsonValue] = {k: list(v) for k, v in LETTERS.items()}
        return {
            "letters": letters,
            "insertion": ALIKE_INSERTION,
            "context": ALIKE_CONTEXT,
            "frequent": FREQUENT,
            "fewest": FEWEST_SPOKEN,
            "closed": {**grammar.digests()},
        }

    def gather(self, items: Sequence[Item]) -> Gathered:
        """Keep what breaks no rule."""
        rejected: dict[str, Rejected] = {}
        for language in sorted({str(i.fields["language"]) for i in items}):
            rejected |= _screened([i for i in items if i.fields["language"] == language], language)
        return Gathered(items=tuple(i for i in items if i.id not in rejected), rejected=rejected)


def _screened(items: Sequence[Item], language: str) -> dict[str, Rejected]:
    closed = {bare(text) for text in grammar.texts_of(language)[1]["backchannel"]}
    rejected: dict[str, Rejected] = {}
    kept: list[Item] = []
    low, high = LETTERS[language]
    for item in items:
        insertion = str(item.fields["insertion"])
        letters = len(bare(insertion))
        if not low <= letters <= high:
            found = Rejected(reason="length", detail=f"{insertion!r}: {letters} letters")
        elif bare(insertion) in closed:
            found = Rejected(reason="closed-class", detail=f"{insertion!r} is said by everybody")
        else:
            near = _near(item, kept)
            if near is None:
                kept.append(item)
                continue
            found = near
        rejected[item.id] = found
    if language in CLOSURE_LANGUAGES:
        spoken = {i.id: bare(str(i.fields["insertion"])) for i in kept if _has(i, "backchannel")}
        frequent = most_frequent(spoken.values()) if len(spoken) >= FEWEST_SPOKEN else set()
        for name, text in spoken.items():
            if set(text) <= frequent:
                detail = f"{text!r} has only the {FREQUENT} most frequent characters"
                rejected[name] = Rejected(reason="frequent-only", detail=detail)
    return rejected


def _has(item: Item, role: str) -> bool:
    return role in TYPES[str(item.fields["type"])]


def most_frequent(texts: Iterable[str]) -> set[str]:
    """Return the most frequent characters; of equally frequent ones those that sort first.

    Examples
    --------
    >>> most_frequent(["aab", "ac"]) == {"a", "b", "c"}
    True
    """
    count = Counter(letter for text in texts for letter in text)
    return set(sorted(count, key=lambda c: (-count[c], c))[:FREQUENT])


def _near(item: Item, kept: Sequence[Item]) -> Rejected | None:
    own = contexts_of(item).values()
    for other in kept:
        value = similarity(str(item.fields["insertion"]), str(other.fields["insertion"]))
        if value is not None and value >= ALIKE_INSERTION:
            return Rejected(reason="duplicate", detail=f"insertion {value:.2f} like {other.id}")
        for a in own:
            for b in contexts_of(other).values():
                value = similarity(a.before + a.after, b.before + b.after)
                if value is not None and value >= ALIKE_CONTEXT:
                    detail = f"utterance {value:.2f} like one of {other.id}"
                    return Rejected(reason="duplicate", detail=detail)
    return None


class Match:
    """Keep whole groups, as many of each type as are wanted, with lengths matched over the roles.

    Items are samples here. A group of three that has lost one role becomes a pair; one that has
    lost all but one goes (``one-role``). Where a pair is lacking, a group of three that is not
    needed stands in without its third role. Where a type has more groups than wanted, groups are
    exchanged as long as that brings the roles' mean lengths nearer to each other; the others are
    ``surplus``.

    Parameters
    ----------
    groups : int
        Wanted groups per language.
    types : sequence of str
        Among which they are shared out, the first ones getting what is left over.
    """

    name = "match"
    version = 2
    deterministic = True

    def __init__(self, *, groups: int, types: Sequence[str]) -> None:
        share, rest = divmod(groups, len(types))
        self._wanted = {kind: share + (n < rest) for n, kind in enumerate(types)}

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the wanted groups per type."""
        wanted: dict[str, JsonValue] = {**self._wanted}
        return {"wanted": wanted, "gap": LENGTH_GAP}

    def at_most(self, seeds: Sequence[Item]) -> int:
        """Return how many samples the wanted groups have, in the languages of the seeds."""
        languages = {seed.fields["language"] for seed in seeds}
        return len(languages) * sum(n * len(TYPES[kind]) for kind, n in self._wanted.items())

    def gather(self, items: Sequence[Item]) -> Gathered:
        """Choose the groups."""
        groups: dict[str, list[Item]] = defaultdict(list)
        for item in items:
            groups[str(item.fields["group"])].append(item)
        rejected: dict[str, Rejected] = {}
        pool: dict[tuple[str, str], list[str]] = defaultdict(list)
        for name, members in sorted(groups.items()):
            kind = type_of(str(m.fields["role"]) for m in members)
            if kind is None:
                for m in members:
                    rejected[m.id] = Rejected(reason="one-role", detail=f"{name} has lost the rest")
            else:
                pool[str(members[0].fields["language"]), kind].append(name)
        kept: set[str] = set()
        for language in sorted({key[0] for key in pool}):
            for name, kind in self._stand_ins(language, pool).items():
                for m in groups[name]:
                    if m.fields["role"] not in TYPES[kind]:
                        detail = f"{name} stands in for a group of type {kind}"
                        rejected[m.id] = Rejected(reason="surplus", detail=detail)
                groups[name] = [m for m in groups[name] if m.id not in rejected]
            kept |= self._chosen(
                {kind: names for (lang, kind), names in pool.items() if lang == language}, groups
            )
        out = []
        for name, members in sorted(groups.items()):
            for m in members:
                if name in kept:
                    kind = type_of(str(x.fields["role"]) for x in members)
                    out.append(m.having(type=kind))
                elif m.id not in rejected:
                    rejected[m.id] = Rejected(reason="surplus", detail=f"{name} is not needed")
        return Gathered(items=tuple(sorted(out, key=lambda i: i.id)), rejected=rejected)

    def _stand_ins(
        self, language: str, pool: dict[tuple[str, str], list[str]]
    ) -> Mapping[str, str]:
        """Move groups of three that are not needed to the types that lack some."""
        moved: dict[str, str] = {}
        full = pool[language, FULL]
        for kind, wanted in self._wanted.items():
            while len(pool[language, kind]) < wanted and len(full) > self._wanted.get(FULL, 0):
                moved[full[-1]] = kind
                pool[language, kind].append(full.pop())
        return moved

    def _chosen(
        self, pool: Mapping[str, Sequence[str]], groups: Mapping[str, Sequence[Item]]
    ) -> set[str]:
        chosen = {kind: list(names)[: self._wanted.get(kind, 0)] for kind, names in pool.items()}

        def gap(of: Mapping[str, Sequence[str]]) -> float:
            return length_gap(m for names in of.values() for n in names for m in groups[n])

        now = gap(chosen)
        while now > LENGTH_GAP:
            best: tuple[float, dict[str, list[str]]] | None = None
            for kind, names in chosen.items():
                for leaves in names:
                    for enters in (n for n in pool[kind] if n not in names):
                        changed = [enters if n == leaves else n for n in names]
                        other = {**chosen, kind: changed}
                        value = gap(other)
                        if value < now - 1e-9 and (best is None or value < best[0] - 1e-9):
                            best = value, other
            if best is None:
                break
            now, chosen = best
        return {name for names in chosen.values() for name in names}


def type_of(roles: Iterable[str]) -> str | None:
    """Return the group type of some roles, ``None`` for fewer than two.

    Examples
    --------
    >>> type_of(["off_talk", "interruption"]), type_of(["off_talk"])
    ('I-O', None)
    """
    found = set(roles)
    return next((kind for kind, wanted in TYPES.items() if set(wanted) == found), None)


def length_gap(items: Iterable[Item]) -> float:
    """Return the largest difference of two roles' mean insertion lengths, over the mean length.

    0 when fewer than two roles are there.
    """
    lengths: dict[str, list[int]] = defaultdict(list)
    for item in items:
        lengths[str(item.fields["role"])].append(len(bare(str(item.fields["insertion"]))))
    means = [sum(lengths[r]) / len(lengths[r]) for r in ROLES if lengths[r]]
    if len(means) < 2:
        return 0.0
    return max(abs(a - b) for a, b in combinations(means, 2)) / (sum(means) / len(means))
