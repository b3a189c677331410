"""Which items of a dataset people review, in which order, and which labels an item can have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from floorbench.core.sample import Sample
from floorbench.core.words import counted
from floorbench.datasets.codett_labels import BY_LABEL, LABELS
from floorbench.datasets.echo_tables import ACTIONS
from floorbench.errors import DataError, UsageError
from floorbench.stats.streams import generator

REJECT, UNSURE = "reject", "unsure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How items are drawn: a share of all, or so many of each label in each language.

    Parameters
    ----------
    share : float or None
        In (0, 1]; the number of items is rounded up.
    per_scenario : int or None
        1 or more; a label with fewer items gives all it has.
    seed : int
        0 or more.

    Raises
    ------
    UsageError
        ``FB891`` for both or neither, or a number out of range.
    """

    share: float | None = None
    per_scenario: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.share is None) == (self.per_scenario is None):
            raise UsageError("FB891", "a plan draws a share, or a number per scenario")
        if self.share is not None and not 0 < self.share <= 1:
            raise UsageError("FB891", f"share {self.share:g} is not above 0 and at most 1")
        if self.per_scenario is not None and self.per_scenario < 1:
            raise UsageError("FB891", f"{counted(self.per_scenario, 'item')} per scenario")
        if self.seed < 0:
            raise UsageError("FB891", f"seed {self.seed} is negative")


def draw(samples: Iterable[Sample], sampling: Sampling) -> tuple[str, ...]:
    """Return the ids to review, in an order that tells nothing about their labels.

    All ids are put into one order by lot, whatever their order in the files; the plan takes the
    first ones that it has room for. A larger plan of the same seed holds the smaller one.

    Raises
    ------
    DataError
        ``FB891`` when there is no item, or one without a label to review.
    """
    cells = {sample.id: (gold_label(sample), sample.observation.language) for sample in samples}
    if not cells:
        raise DataError("FB891", "there is no item to review")
    names = sorted(cells)
    order = generator(sampling.seed, "review").permutation(len(names))
    lot = [names[i] for i in order]
    if sampling.share is not None:
        return tuple(lot[: math.ceil(round(sampling.share * len(lot), 9))])
    room = Counter(dict.fromkeys(cells.values(), sampling.per_scenario))
    out = []
    for name in lot:
        if room[cells[name]] > 0:
            room[cells[name]] -= 1
            out.append(name)
    return tuple(out)


def gold_label(sample: Sample) -> str:
    """Return the label that the dataset gives, which reviewers are not shown.

    Raises
    ------
    DataError
        ``FB891`` for a dataset whose labels are neither CoDeTT's nor Keep and Yield.
    """
    target = sample.target
    if target.get("label") in BY_LABEL:
        return str(target["label"])
    if target.get("action") in ACTIONS:
        return str(target["action"])
    raise DataError("FB891", f"the item '{sample.id[:80]}' has no label that can be reviewed")


def possible_labels(sample: Sample) -> tuple[str, ...]:
    """Return the labels that the item can have, by what is known before it is heard.

    CoDeTT: the labels of the system's state. Matched contrasts: the two actions.
    """
    intent = BY_LABEL.get(gold_label(sample))
    if intent is None:
        return tuple(ACTIONS)
    return tuple(label for label in LABELS if BY_LABEL[label].state == intent.state)
