"""What a construction stage is: a pure function of one item, its settings and a seed.

A recipe is a list of stages. The engine (:mod:`floorbench.build.pipeline.engine`) feeds every item
through them, keeps each result under a key made of all that went in, and writes down where it came
from. Because a stage sees one item and nothing else, results do not depend on the number of
processes, on their order, or on what was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from floorbench.core.sample import JsonValue

Audio = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing under construction.

    Parameters
    ----------
    id : str
        Unique in its recipe and stable between runs; letters, digits, ``-``, ``_`` and ``.``.
    fields : mapping
        Everything known of it, as JSON values. Stages add fields; they do not change the item they
        were given.
    audio : mapping of str to str
        Name of a track (``target``, ``history-1-user``) to the digest of its samples in the store.
    """

    id: str
    fields: Mapping[str, JsonValue] = field(default_factory=dict)
    audio: Mapping[str, str] = field(default_factory=dict)

    def having(
        self,
        *,
        audio: Mapping[str, str] | None = None,
        **fields: JsonValue,
    ) -> Item:
        """Return the item with more fields and tracks; those of the same name are replaced."""
        return Item(
            id=self.id,
            fields={**self.fields, **fields},
            audio={**self.audio, **(audio or {})},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The items that a stage made of one: usually one, several where a recording is mined."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """An item that a stage refuses.

    Parameters
    ----------
    reason : str
        A short word that the report counts by: ``wer``, ``judge``, ``clipped``, ``refused``.
    detail : str
        The figures, for the person who wants to know about this item.
    """

    reason: str
    detail: str


Outcome = Made | Rejected


def made(item: Item) -> Made:
    """Return the outcome of a stage that made one item of one."""
    return Made(items=(item,))


class Bench(Protocol):
    """What a stage may use beside the item: a seed, the audio store and the lineage."""

    @property
    def rng(self) -> np.random.Generator:
        """A generator seeded by the recipe's seed, the stage's name, the item's id and the attempt.

        Every access starts the same sequence anew: take it once.
        """
        ...

    @property
    def seed(self) -> int:
        """The build's seed, for what several items draw together (a voice, a history)."""
        ...

    @property
    def attempt(self) -> int:
        """0 at the first try, counting up where :class:`Retried` asks again."""
        ...

    def load(self, digest: str) -> tuple[Audio, int]:
        """Return mono samples in [-1, 1] and their rate in Hz."""
        ...

    def keep(self, samples: Audio, rate: int) -> str:
        """Store mono samples as 16-bit FLAC and return the digest of the rate and the PCM."""
        ...

    def note(self, kind: str, **facts: JsonValue) -> None:
        """Add a line of lineage.

        Parameters
        ----------
        kind : str
            ``call`` (model, prompt digest, reply digest, seed, tokens), ``voice``, ``noise``,
            ``room``, ``recogniser``, ``recording``, ``judge``, ``attempt``.
        facts : JSON values
        """
        ...


@runtime_checkable
class Stage(Protocol):
    """One step that treats every item by itself.

    Attributes
    ----------
    name : str
        Unique in its recipe.
    version : int
        Raised when the code changes what comes out; part of the key.
    deterministic : bool
        Whether the same inputs give the same outputs when nothing is cached (a remote model does
        not). Only a deterministic recipe is promised to give equal bytes twice.
    """

    name: str
    version: int
    deterministic: bool

    def settings(self) -> Mapping[str, JsonValue]:
        """Return everything that changes the result: thresholds, model digests, prompt digests."""
        ...

    def start(self) -> None:
        """Load models; called once in every process before the first item."""
        ...

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Treat one item.

        Raises
        ------
        FloorbenchError
            The engine counts it as a failure of this item and goes on; nothing of it is cached, so
            the next run tries again. An :class:`~floorbench.errors.EnvironmentProblem` (no key, a
            full disk, a missing extra) stops the build with what is done kept.
        """
        ...


@runtime_checkable
class Gather(Protocol):
    """One step that must see all items at once: balancing, splitting, near-duplicates."""

    name: str
    version: int
    deterministic: bool

    def settings(self) -> Mapping[str, JsonValue]:
        """Return everything that changes the result."""
        ...

    def gather(self, items: Sequence[Item]) -> Gathered:
        """Treat all items, in the order of their ids."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What a gathering step kept, and why each other item was left out."""

    items: tuple[Item, ...]
    rejected: Mapping[str, Rejected] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """A maker and its checker, asked again while the checker rejects.

    Both are cached by themselves, once per attempt. A deterministic maker must change something
    with ``bench.attempt``; the last rejection is the outcome.

    Parameters
    ----------
    maker, checker : Stage
        The checker gets what the maker made.
    attempts : int
        At least 1.
    """

    maker: Stage
    checker: Stage
    attempts: int


Step = Stage | Gather | Retried


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A recipe with its settings filled in: what it starts from and what is done to it.

    Nothing is built inside the ``sources``, folders of recordings that it was given to read: the
    next build would take its own work for some of them.
    """

    seeds: tuple[Item, ...]
    steps: tuple[Step, ...]
    sources: tuple[Path, ...] = ()


class Recipe(Protocol):
    """A named way of making a dataset; found by name in the registry (kind ``recipe``).

    Attributes
    ----------
    name : str
    presets : mapping of str to mapping
        Name of a preset to the settings that it fills in; a user's settings win.
    """

    name: str
    presets: Mapping[str, Mapping[str, JsonValue]]

    def work(self, settings: Mapping[str, JsonValue]) -> Work:
        """Return seeds and steps.

        It must be cheap (no model is loaded) and equal in every process that calls it with equal
        settings: workers build their own stages from it.

        Raises
        ------
        UsageError
            FB851 for an unknown setting or a value out of range.
        """
        ...

    def export(self, items: Sequence[Item], store: Store, out: Export) -> None:
        """Write the finished dataset from the items that came through all steps."""
        ...


class Store(Protocol):
    """The reading side of the audio store."""

    def load(self, digest: str) -> tuple[Audio, int]:
        """Return mono samples in [-1, 1] and their rate in Hz."""
        ...


class Export(Protocol):
    """The folder that is being written; it appears under its name only when it is whole.

    Attributes
    ----------
    root : Path
        Where it is written for now: a recipe may read what it has written, to audit it.
    """

    root: Path

    def text(self, path: str, content: str) -> None:
        """Write a text file, UTF-8, at a path relative to the dataset."""
        ...

    def lines(self, path: str, rows: Iterable[Mapping[str, JsonValue]]) -> None:
        """Write a JSONL file."""
        ...

    def sound(self, path: str, digest: str, *, rate: int | None = None) -> None:
        """Write a stored track; ``.flac`` keeps its samples, ``.opus`` and ``.wav`` are made."""
        ...
