"""Stage F: equal counts per label, and splits that share no dialogue, speaker or sentence.

Both steps see all items, and both decide by digests of ids, so an item's fate does not depend on
the order in which others were made.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from floorbench.build.pipeline.stage import Gathered, Item, Rejected
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.errors import UsageError


def label_of(item: Item) -> tuple[str, str, str, str]:
    """Return language, state, action and scenario."""
    given = item.fields
    language, state = str(given["language"]), str(given["state"])
    return language, state, str(given["action"]), str(given["scenario"])


class Balance:
    """Keep the same number of items of every label within a language and an origin.

    Parameters
    ----------
    per_label : int or None
        Items of each label to keep; ``None`` keeps as many as the rarest label has. A label with
        fewer stays whole and is short; the statistics say so. Items of another ``origin`` than
        ``syn`` are balanced among themselves, over the labels that they have.
    """

    name = "balance"
    version = 1
    deterministic = True

    def __init__(self, *, per_label: int | None = None) -> None:
        if per_label is not None and per_label < 1:
            raise UsageError("FB851", f"per_label is {per_label}; at least 1 is needed")
        self._per_label = per_label

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the number per label."""
        return {"per_label": self._per_label}

    def at_most(self, seeds: Sequence[Item]) -> int | None:
        """Return how many items are kept of seeds that all have a label, if none is short."""
        labels = Counter((s.fields.get("language"), s.fields.get("label")) for s in seeds)
        if self._per_label is None or any(label is None for _, label in labels):
            return None
        return sum(min(count, self._per_label) for count in labels.values())

    def gather(self, items: Sequence[Item]) -> Gathered:
        """Keep the items whose ids have the lowest digests; the rest are ``surplus``."""
        pools: dict[tuple[str, str], dict[tuple[str, ...], list[Item]]] = defaultdict(dict)
        for item in items:
            origin = str(item.fields.get("origin", "syn"))
            label: tuple[str, ...] = label_of(item)
            pools[label[0], origin].setdefault(label, []).append(item)
        kept: set[str] = set()
        rejected: dict[str, Rejected] = {}
        for labels in pools.values():
            limit = self._per_label or min(len(of_label) for of_label in labels.values())
            for label, of_label in labels.items():
                order = sorted(of_label, key=lambda item: _digest(item.id))
                kept.update(item.id for item in order[:limit])
                for item in order[limit:]:
                    rejected[item.id] = Rejected(
                        reason="surplus",
                        detail=f"{'/'.join(label)} has "
                        f"{counted(len(of_label), 'item')}, {limit} are kept",
                    )
        return Gathered(items=tuple(i for i in items if i.id in kept), rejected=rejected)


class Split:
    """Give every item a field ``split`` so that no tie crosses from one split to another.

    Items with the same ``family`` (they share a history), one of the same ``speakers`` or the same
    target ``text`` are tied, and so are items tied to tied items. Within each language, groups are
    dealt from the largest to the smallest, each to the split that is furthest below its share;
    where one group is larger than a share, the shares that are reached differ from those asked
    for. The statistics of the finished set give the counts.

    Parameters
    ----------
    shares : mapping of str to float
        Name of each split to its share of the items; positive, summing to 1.
    """

    name = "split"
    version = 2
    deterministic = True

    def __init__(self, *, shares: Mapping[str, float]) -> None:
        total = sum(shares.values())
        if not shares or abs(total - 1) > 1e-9 or any(v <= 0 for v in shares.values()):
            raise UsageError("FB851", f"the shares of the splits sum to {total}, not to 1")
        self._shares = dict(shares)

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the shares."""
        return {"shares": self._shares}

    def gather(self, items: Sequence[Item]) -> Gathered:
        """Deal whole groups to the splits."""
        spoken = {item.id: str(item.fields.get("language", "")) for item in items}
        sizes = Counter(spoken.values())
        filled: Counter[tuple[str, str]] = Counter()
        split_of: dict[str, str] = {}
        for ids in sorted(tied(items), key=lambda ids: (-len(ids), _digest(min(ids)))):
            language = spoken[min(ids)]
            lacks = {s: x * sizes[language] - filled[language, s] for s, x in self._shares.items()}
            name = max(lacks, key=lambda s: lacks[s])
            filled[language, name] += len(ids)
            split_of |= dict.fromkeys(ids, name)
        return Gathered(items=tuple(item.having(split=split_of[item.id]) for item in items))


def tied(items: Iterable[Item]) -> list[list[str]]:
    """Return the ids of each group of items that are tied to each other, directly or not."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    members: list[str] = []
    for item in items:
        members.append(item.id)
        own = root(f"id {item.id}")
        for key in keys_of(item):
            parent[root(key)] = own
            own = root(own)
    groups: dict[str, list[str]] = defaultdict(list)
    for name in members:
        groups[root(f"id {name}")].append(name)
    return list(groups.values())


def keys_of(item: Item) -> list[str]:
    """Return what ties an item to others: its family, each speaker, its normalised text."""
    language = str(item.fields.get("language", ""))
    keys = []
    if item.fields.get("family"):
        keys.append(f"family {item.fields['family']}")
    keys += [f"speaker {name}" for name in item.fields.get("speakers") or ()]
    text = bare(str(item.fields.get("text") or ""))
    if text:
        keys.append(f"text {language} {text}")
    return keys


def bare(text: str) -> str:
    """Return a text without case, width, spaces and punctuation.

    Examples
    --------
    >>> bare("Wait -- no, STOP!")
    'waitnostop'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in folded if unicodedata.category(c)[0] in "LN")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A family, speaker or text that two splits share."""

    tie: str
    splits: tuple[str, ...]
    items: tuple[str, ...]


def leaks(items: Iterable[Item]) -> list[Leak]:
    """Return every tie that occurs in more than one split.

    It is computed from the finished items alone, so it also finds what an edit by hand has
    brought back.
    """
    splits: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        for key in keys_of(item):
            splits[key][str(item.fields.get("split", ""))].append(item.id)
    return [
        Leak(
            tie=key,
            splits=tuple(sorted(found)),
            items=tuple(sorted(name for ids in found.values() for name in ids)),
        )
        for key, found in sorted(splits.items())
        if len(found) > 1
    ]


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
