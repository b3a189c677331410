"""The source texts of the ECHO starter set: one insertion, two or three dialogues around it.

``texts/LANGUAGE.json`` holds ``groups``; a group has an ``id``, the insertion ``text`` and, per
role, a ``history`` (turns in order, the last one is the user's) and the ``assistant`` utterance,
with ``|`` where the insertion starts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from floorbench.codec import read_json
from floorbench.core.vocab import Role
from floorbench.core.words import counted
from floorbench.errors import DataError, Place

ROLES = ("interruption", "backchannel", "off_talk")
CUT = "|"
LEAST_GROUPS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One dialogue around an insertion: turns before, and the utterance that is overlapped."""

    history: tuple[str, ...]
    assistant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """An insertion and the roles that its dialogues give it."""

    id: str
    text: str
    variants: dict[str, Variant]


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All groups of one language."""

    language: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One sample to be spoken.

    Attributes
    ----------
    before, after : str
        The assistant's utterance up to the insertion's onset, and the rest of it.
    """

    id: str
    group: str
    language: str
    role: str
    insertion: str
    history: tuple[tuple[Role, str], ...]
    before: str
    after: str

    @property
    def planned(self) -> str:
        """The assistant's whole utterance."""
        return self.before + self.after


def read_texts(path: Path) -> Texts:
    """Read one language's texts and check their rules.

    Raises
    ------
    DataError
        ``FB905`` for too few groups, a repeated text, a role outside the three, a history that
        does not end with the user, or an utterance without exactly one mark.
    """
    texts = read_json(path, Texts)
    where = path.name
    if len(texts.groups) < LEAST_GROUPS:
        raise _wrong(where, None, f"{counted(len(texts.groups), 'group')}, need {LEAST_GROUPS}")
    for names in (
        Counter(g.id for g in texts.groups),
        Counter(g.text for g in texts.groups),
        Counter(v.assistant for g in texts.groups for v in g.variants.values()),
    ):
        for text, times in names.items():
            if times > 1:
                raise _wrong(where, None, f"'{text}' occurs {times} times")
    for group in texts.groups:
        if len(group.variants) < 2 or not set(group.variants) <= set(ROLES):
            raise _wrong(where, group.id, f"roles {', '.join(group.variants)}")
        for role, variant in group.variants.items():
            if len(variant.history) % 2 == 0:
                raise _wrong(where, group.id, f"the history of {role} does not end with the user")
            if variant.assistant.count(CUT) != 1:
                raise _wrong(where, group.id, f"not one '{CUT}' in the utterance of {role}")
    return texts


def scenes(texts: Texts) -> tuple[Scene, ...]:
    """Return the samples of one language in the order of the file, roles in a fixed order."""
    out = []
    for group in texts.groups:
        for role in ROLES:
            variant = group.variants.get(role)
            if variant is None:
                continue
            before, after = halves(variant.assistant)
            turns = tuple(
                (Role.SYSTEM if i % 2 else Role.USER, text)
                for i, text in enumerate(variant.history)
            )
            out.append(
                Scene(
                    id=f"{group.id}-{role[0]}",
                    group=group.id,
                    language=texts.language,
                    role=role,
                    insertion=group.text,
                    history=turns,
                    before=before,
                    after=after,
                )
            )
    return tuple(out)


def halves(marked: str, mark: str = CUT) -> tuple[str, str]:
    """Return an utterance up to its only mark, and the rest with the space before it.

    Examples
    --------
    >>> halves("one two | three"), halves("一二，|三")
    (('one two', ' three'), ('一二，', '三'))
    """
    before, after = marked.split(mark)
    spaced = before.rstrip()
    return spaced, (before[len(spaced) :] + after.lstrip()) if spaced != before else after


def _wrong(where: str, item: str | None, what: str) -> DataError:
    return DataError("FB905", what, where=Place(where, None, item))
