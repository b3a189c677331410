"""Table 1 and the lexical-closure audit: how big a set is, and what its words alone give away.

Source
------
ECHO, Tables 1 and 2. Deviation: the audit covers backchannel items alone, punctuation and spaces
are removed first, and the 15 most frequent characters are counted within the audited items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from floorbench.datasets.echo_integrity import contrast, group_types
from floorbench.datasets.echo_tables import CONTRASTS, ROLES, PairRow, SampleRow
from floorbench.errors import Place

FREQUENT = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Table 1: groups by type, samples by role, pairs by contrast."""

    groups: Mapping[str, int]
    samples: Mapping[str, int]
    pairs: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """Table 2 for one language.

    Attributes
    ----------
    instances : int
        Backchannel items.
    vocabulary : int
        Different characters in them.
    frequent_only : float or None
        Share of items made of the 15 most frequent characters alone (an item without a character
        is made of none); ``None`` without items.
    unique : float or None
        Share of items whose text occurs once.
    mean_length : mapping of str to float or None
        Mean number of characters per role.
    """

    instances: int
    vocabulary: int
    frequent_only: float | None
    unique: float | None
    mean_length: Mapping[str, float | None]


def size(
    samples: Sequence[tuple[SampleRow, Place]], pairs: Sequence[tuple[PairRow, Place]]
) -> Size:
    """Count groups, samples and pairs."""
    known = {row.sample_id: row for row, _ in samples}
    types = Counter(group_types(samples).values())
    roles = Counter(row.role for row, _ in samples)
    contrasts = Counter(contrast(known.get(p.sample_a), known.get(p.sample_b)) for p, _ in pairs)
    return Size(
        groups={t: types[t] for t in (*CONTRASTS.values(), "three-role")},
        samples={r: roles[r] for r in ROLES},
        pairs={c: contrasts[c] for c in CONTRASTS.values()},
    )


def closure(samples: Sequence[SampleRow]) -> Closure:
    """Audit one language's insertions."""
    texts = {r: [bare(s.insertion) for s in samples if s.role == r] for r in ROLES}
    audited = texts["backchannel"]
    count = Counter(letter for text in audited for letter in text)
    # Equal counts are ordered by character, so that the audit does not depend on row order.
    ranked = sorted(count, key=lambda c: (-count[c], c))
    frequent = set(ranked[:FREQUENT])
    repeats = Counter(audited)
    n = len(audited)
    return Closure(
        instances=n,
        vocabulary=len(count),
        frequent_only=sum(bool(t) and set(t) <= frequent for t in audited) / n if n else None,
        unique=sum(repeats[t] == 1 for t in audited) / n if n else None,
        mean_length={
            r: sum(map(len, group)) / len(group) if group else None for r, group in texts.items()
        },
    )


def bare(text: str) -> str:
    """Return letters and digits alone, in lower case.

    Examples
    --------
    >>> bare("慢一点，慢 一点。"), bare("It's Eight!")
    ('慢一点慢一点', 'itseight')
    """
    return "".join(c for c in text.lower() if c.isalnum())
