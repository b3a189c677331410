"""The embedded dialogues: insertions, and for each role a context that they fit.

``texts/LANGUAGE.json`` holds ``slots`` and ``groups``. A group has an ``id``, an ``insertion`` and
its ``contexts``: role to ``history`` (turns in order, the last one is the user's) and
``assistant``, the utterance that is overlapped, with ``^`` at every place where the insertion may
start. ``{name}`` is a slot, ``[a|b]`` an alternative.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, cycle, islice
from pathlib import Path

from floorbench.build.pipeline.stage import Item
from floorbench.codec import read_json
from floorbench.core.sample import JsonValue
from floorbench.datasets.echo_tables import ROLES
from floorbench.errors import DataError, Place, UsageError
from floorbench.stats.streams import generator

FOLDER = Path(__file__).parent / "texts"
LANGUAGES = ("en", "zh")
MARK = "^"
TYPES: Mapping[str, tuple[str, ...]] = {
    "I-B": ("interruption", "backchannel"),
    "I-O": ("interruption", "off_talk"),
    "B-O": ("backchannel", "off_talk"),
    "three-role": ROLES,
}
"""Group types and their roles."""
FULL = "three-role"
"""The type whose groups can stand in for any other one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A dialogue around an insertion, as it is written: slots, alternatives and marks in it."""

    history: tuple[str, ...]
    assistant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupText:
    """An insertion and the contexts that give it a role."""

    id: str
    insertion: str
    contexts: Mapping[str, Context]


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All groups of one language, and what fills their slots."""

    groups: tuple[GroupText, ...]
    slots: Mapping[str, tuple[str, ...]]

    def group(self, name: str) -> GroupText:
        """Return a group by its id."""
        return next(g for g in self.groups if g.id == name)


@cache
def read_texts(folder: Path, language: str) -> Texts:
    """Read one language's dialogues and check their rules.

    Raises
    ------
    DataError
        ``FB832`` for a repeated id or insertion, fewer than two roles, a role outside the three, a
        history that does not end with the user, or an utterance without a mark.
    """
    path = folder / f"{language}.json"
    texts = read_json(path, Texts)
    seen: set[str] = set()
    for group in texts.groups:
        place = Place(path.name, None, group.id)
        for name in (group.id, group.insertion):
            if name in seen:
                raise DataError("FB832", f"{name!r} occurs twice", where=place)
            seen.add(name)
        if len(group.contexts) < 2 or not set(group.contexts) <= set(ROLES):
            raise DataError("FB832", f"roles {', '.join(group.contexts)}", where=place)
        for role, context in group.contexts.items():
            if len(context.history) % 2 == 0:
                what = f"the history of {role} does not end with the user"
                raise DataError("FB832", what, where=place)
            if MARK not in context.assistant:
                raise DataError("FB832", f"no '{MARK}' in the utterance of {role}", where=place)
    return texts


def digests(folder: Path, languages: Sequence[str]) -> dict[str, JsonValue]:
    """Return the SHA-256 of the texts of each language."""
    return {
        name: hashlib.sha256((folder / f"{name}.json").read_bytes()).hexdigest()
        for name in languages
    }


def seeds(
    *,
    folder: Path,
    languages: Sequence[str],
    types: Sequence[str],
    groups: int,
    spare: int,
) -> tuple[Item, ...]:
    """Return the groups to be made: fields ``language``, ``text``, ``type`` and ``number``.

    Types take turns; each takes the next insertion, in an order that is random but the same in
    every build, that has its roles. No insertion is used twice.

    Parameters
    ----------
    folder : Path
    languages, types : sequence of str
    groups, spare : int
        Groups per language that are wanted, and how many more are made where there are texts: of
        three roles, if that type is wanted, since those can stand in for any that is lost.

    Raises
    ------
    UsageError
        ``FB831`` when there are fewer insertions than are wanted.
    """
    out: list[Item] = []
    for language in languages:
        texts = read_texts(folder, language)
        order = generator(0, language, "insertions").permutation(len(texts.groups))
        # Insertions with fewer roles first: the others fit everywhere.
        free = sorted((texts.groups[int(i)] for i in order), key=lambda g: len(g.contexts))
        taken: list[tuple[str, str]] = []
        besides = (FULL,) if FULL in types else types
        for kind in chain(islice(cycle(types), groups), islice(cycle(besides), spare)):
            found = next((g for g in free if set(TYPES[kind]) <= set(g.contexts)), None)
            if found is None:
                break
            free.remove(found)
            taken.append((kind, found.id))
        if len(taken) < groups:
            raise UsageError(
                "FB831",
                f"groups={groups}: the {language} texts give {len(taken)} of these types",
                hint="ask for fewer, or name a folder with more texts (setting 'texts')",
            )
        out += [
            Item(
                id=f"{language}-{number:03d}",
                fields={"language": language, "text": name, "type": kind, "number": number},
            )
            for number, (kind, name) in enumerate(taken)
        ]
    return tuple(out)
