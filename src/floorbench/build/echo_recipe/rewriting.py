"""From a dialogue to matched contexts: skeleton, place of the overlap, rewriting, its check.

An item is a group here. The field ``contexts`` maps each role of its type to an object with
``history`` (turns, the last one the user's), ``before`` and ``after`` (the assistant's utterance up
to the insertion's onset and from it on) and ``insertion``, as the rewriter gave it back.

Source
------
ECHO, data construction: skeleton dialogues, candidate positions and insertions, contexts rewritten
up to and including the overlapped utterance with the insertion text unchanged.

Deviations
----------
Skeletons and rewritten contexts are embedded texts by default; a chat model may rewrite instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from floorbench.build.echo_recipe.texts import MARK, TYPES, Context, digests, read_texts
from floorbench.build.echo_texts import halves
from floorbench.build.pipeline.stage import Bench, Item, Outcome, Rejected, made
from floorbench.build.text.dialogue import units
from floorbench.build.text.grammar import say
from floorbench.build.text.rules import foreign
from floorbench.build.text.similarity import similarity
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.errors import DataError, Place

LEAST_BEFORE = {"en": 4, "zh": 6}
LEAST_AFTER = {"en": 7, "zh": 9}
"""Words (characters) of the assistant's utterance on either side of the insertion's onset."""
MOST = {"en": 80, "zh": 130}
"""Words (characters) of a turn, and of the assistant's utterance on one side, at most."""
SAME = 0.8
"""Likeness of two contexts from which on one is no rewriting of the other."""
_STAGE_MARKS = "()[]{}<>（）【】《》*^|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A context as a rewriter gives it: the insertion included, so that it can be checked."""

    history: tuple[str, ...]
    before: str
    insertion: str
    after: str


class RewriteFault(Exception):
    """A rewriter gave no context; the reason is what the report counts by."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Rewriter(Protocol):
    """Gives an insertion another context.

    Attributes
    ----------
    deterministic : bool
    """

    deterministic: bool

    def settings(self) -> Mapping[str, JsonValue]:
        """Return everything that changes the result."""
        ...

    def start(self) -> None:
        """Load what is needed."""
        ...

    def rewrite(self, item: Item, source: Written, role: str, bench: Bench) -> Written:
        """Return a context in which the insertion has a role.

        Parameters
        ----------
        item : Item
            The group.
        source : Written
            The skeleton with its insertion.
        role : str
        bench : Bench

        Raises
        ------
        RewriteFault
        """
        ...


class Skeletons:
    """Take the skeleton dialogue of a group and fill its slots.

    Adds ``skeleton`` (``role``, ``history``, ``assistant`` with marks) and ``insertion``. The role
    is that of the first Keep role of the group's type.
    """

    name = "skeletons"
    version = 1
    deterministic = True

    def __init__(self, *, folder: Path, languages: Sequence[str]) -> None:
        self._folder = folder
        self._digests = digests(folder, languages)

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the digests of the texts."""
        return {"texts": self._digests}

    def start(self) -> None:
        """Nothing to load."""

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Write the skeleton."""
        texts = read_texts(self._folder, str(item.fields["language"]))
        group = texts.group(str(item.fields["text"]))
        role = next(r for r in TYPES[str(item.fields["type"])] if r != "interruption")
        context = filled(self._folder, item, role, bench.rng)
        bench.note("text", writer="embedded", skeleton=group.id, role=role)
        skeleton: dict[str, JsonValue] = {
            "role": role,
            "history": list(context.history),
            "assistant": context.assistant,
        }
        return made(item.having(skeleton=skeleton, insertion=group.insertion))


def filled(folder: Path, item: Item, role: str, rng: np.random.Generator) -> Context:
    """Return one written context of a group with its slots and alternatives filled.

    All contexts of a group have the same fillings, so that nothing but the rewriting differs.
    """
    language = str(item.fields["language"])
    texts = read_texts(folder, language)
    context = texts.group(str(item.fields["text"])).contexts[role]
    number = cast(int, item.fields["number"])
    slots = {
        name: values[(number + turn) % len(values)]
        for turn, (name, values) in enumerate(texts.slots.items())
    }
    return Context(
        history=tuple(say(text, slots, rng, language) for text in context.history),
        assistant=say(context.assistant, slots, rng, language),
    )


class Candidates:
    """Choose where the insertion starts among the places that leave room on either side.

    Adds ``places`` (how many there are) and ``source`` (the skeleton cut at the chosen one).
    """

    name = "candidates"
    version = 1
    deterministic = True

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the least words on either side."""
        return {"before": dict(LEAST_BEFORE), "after": dict(LEAST_AFTER)}

    def start(self) -> None:
        """Nothing to load."""

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Choose a place."""
        skeleton = cast(Mapping[str, Any], item.fields["skeleton"])
        language = str(item.fields["language"])
        places = usable(skeleton["assistant"], language)
        if not places:
            return Rejected(reason="no-place", detail=f"in {skeleton['assistant']!r}")
        before, after = places[int(bench.rng.integers(len(places)))]
        source: dict[str, JsonValue] = {
            "history": list(skeleton["history"]),
            "before": before,
            "insertion": str(item.fields["insertion"]),
            "after": after,
        }
        return made(item.having(places=len(places), source=source))


def usable(marked: str, language: str) -> list[tuple[str, str]]:
    """Return the utterance cut at each mark that leaves room on either side.

    Examples
    --------
    >>> usable("I go ^ to the shop on the corner and then ^ I walk home by the old road.", "en")
    [('I go to the shop on the corner and then', ' I walk home by the old road.')]
    """
    pieces = marked.split(MARK)
    found = []
    for number in range(1, len(pieces)):
        # A mark that is not chosen goes with one of its two spaces.
        first, second = (
            " ".join(piece.strip() for piece in part) if language == "en" else "".join(part)
            for part in (pieces[:number], pieces[number:])
        )
        space = " " if language == "en" else ""
        before, after = halves(f"{first}{space}{MARK}{space}{second}", MARK)
        if roomy(before, after, language):
            found.append((before, after))
    return found


def roomy(before: str, after: str, language: str) -> bool:
    """Tell whether enough is said on either side of the insertion's onset."""
    return (
        len(units(before, language)) >= LEAST_BEFORE[language]
        and len(units(after, language)) >= LEAST_AFTER[language]
    )


class EmbeddedRewriter:
    """The contexts that were written for the insertion."""

    deterministic = True

    def __init__(self, *, folder: Path, languages: Sequence[str]) -> None:
        self._folder = folder
        self._digests = digests(folder, languages)

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the digests of the texts."""
        return {"rewriter": "embedded", "texts": self._digests}

    def start(self) -> None:
        """Nothing to load."""

    def rewrite(self, item: Item, source: Written, role: str, bench: Bench) -> Written:
        """Return the written context; another attempt takes another place and alternatives."""
        language = str(item.fields["language"])
        rng = np.random.default_rng(bench.rng.integers(2**31, size=2))
        context = filled(self._folder, item, role, rng)
        places = usable(context.assistant, language)
        if not places:
            raise RewriteFault("no-place", f"in {context.assistant!r}")
        before, after = places[int(rng.integers(len(places)))]
        return Written(
            history=context.history, before=before, insertion=source.insertion, after=after
        )


class Rewrite:
    """Give the insertion the other roles of the group's type.

    Adds ``contexts``. A rewriter that gives none rejects the group for its reason: ``broken-json``,
    ``refused``, ``no-place``.
    """

    name = "rewrite"
    version = 1

    def __init__(self, *, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self.deterministic = rewriter.deterministic

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the rewriter's settings."""
        return self._rewriter.settings()

    def start(self) -> None:
        """Load the rewriter."""
        self._rewriter.start()

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Rewrite one group."""
        source = written(cast(Mapping[str, Any], item.fields["source"]))
        given = cast(Mapping[str, Any], item.fields["skeleton"])["role"]
        contexts: dict[str, JsonValue] = {}
        for role in TYPES[str(item.fields["type"])]:
            if role == given:
                contexts[role] = plain(source)
                continue
            try:
                contexts[role] = plain(self._rewriter.rewrite(item, source, role, bench))
            except RewriteFault as fault:
                return Rejected(reason=fault.reason, detail=f"{role}: {fault.detail}")
        return made(item.having(contexts=contexts))


class CheckRewrite:
    """Refuse a group one of whose contexts breaks a rule.

    ``insertion-changed``: the insertion is not the same, character for character. ``history``: it
    is empty, does not end with the user, or has an empty turn. ``no-room``: too little is said
    before or after the onset. ``too-long``: a turn is a speech. ``stage-direction``: brackets or
    marks that nobody says, or characters that cannot be seen. ``language``: letters of another
    script. ``repeats``: the insertion stands in the context. ``same-context``: two contexts are as
    good as one.
    """

    name = "check-rewrite"
    version = 2
    deterministic = True

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the bounds."""
        return {
            "before": dict(LEAST_BEFORE),
            "after": dict(LEAST_AFTER),
            "most": dict(MOST),
            "same": SAME,
        }

    def start(self) -> None:
        """Nothing to load."""

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Check one group."""
        contexts = contexts_of(item)
        language, insertion = str(item.fields["language"]), str(item.fields["insertion"])
        for role, context in contexts.items():
            problem = problem_of(context, insertion=insertion, language=language)
            if problem is not None:
                return Rejected(reason=problem.reason, detail=f"{role}: {problem.detail}")
        said = [(role, "\n".join((*c.history, c.before, c.after))) for role, c in contexts.items()]
        for i, (role, text) in enumerate(said):
            for other, before in said[:i]:
                value = similarity(text, before)
                if value is not None and value >= SAME:
                    detail = f"{role} and {other} are {value:.2f} alike"
                    return Rejected(reason="same-context", detail=detail)
        bench.note("judge", by="rules", reason=None)
        return made(item)


def problem_of(context: Written, *, insertion: str, language: str) -> Rejected | None:
    """Return the first rule that a context breaks, or ``None``."""
    if context.insertion != insertion:
        return Rejected(reason="insertion-changed", detail=f"{insertion!r}: {context.insertion!r}")
    turns = context.history
    if len(turns) % 2 == 0 or not all(turn.strip() for turn in turns):
        return Rejected(reason="history", detail=f"{counted(len(turns), 'turn')}: {turns!r}")
    if not roomy(context.before, context.after, language):
        return Rejected(reason="no-room", detail=f"{context.before!r} ^ {context.after!r}")
    longest = max(len(units(text, language)) for text in (*turns, context.before, context.after))
    if longest > MOST[language]:
        return Rejected(reason="too-long", detail=f"{longest} words in one piece")
    everything = "".join((*turns, context.before, context.after))
    found = sorted({c for c in everything if c in _STAGE_MARKS or not c.isprintable()})
    if found:
        return Rejected(reason="stage-direction", detail=f"{''.join(found)!a} in it")
    strange = foreign(everything, language)
    if strange is not None:
        return Rejected(reason="language", detail=f"{strange!r} in it")
    bare = insertion.rstrip(".。!！?？").casefold()
    if bare and bare in everything.casefold():
        return Rejected(reason="repeats", detail=f"{insertion!r} stands in the context")
    return None


def written(raw: Mapping[str, Any]) -> Written:
    """Read a context from an item's field."""
    return Written(
        history=tuple(raw["history"]),
        before=raw["before"],
        insertion=raw["insertion"],
        after=raw["after"],
    )


def plain(context: Written) -> dict[str, JsonValue]:
    """Return a context as an item's field."""
    return {
        "history": list(context.history),
        "before": context.before,
        "insertion": context.insertion,
        "after": context.after,
    }


def contexts_of(item: Item) -> dict[str, Written]:
    """Return the contexts of a group by role.

    Raises
    ------
    DataError
        ``FB832`` when the item holds none.
    """
    try:
        raw = cast(Mapping[str, Mapping[str, Any]], item.fields["contexts"])
        return {role: written(context) for role, context in raw.items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            "FB832", f"no contexts: {type(error).__name__} {error}", where=Place(item=item.id)
        ) from None
