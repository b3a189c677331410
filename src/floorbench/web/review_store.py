"""What a review keeps: the plan, a journal per reviewer, and the journal of adjudication.

Every answer is one line, on the disk before the page is told so; the last line about an item
counts. Reviewers write nowhere but to their own journal, so folders of two machines with the same
plan can be put together by copying ``reviewers/``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from floorbench import codec
from floorbench.core.words import counted
from floorbench.errors import DataError, Place, UsageError
from floorbench.web.ids import checked_id
from floorbench.web.journal import (
    append_bytes,
    mend,
    now,
    plain_lines,
    unwritable,
    write_safely,
)
from floorbench.web.review_plan import UNSURE, Sampling

PLAN, PEOPLE, LOG, DECISIONS = "plan.json", "reviewers", "log.jsonl", "adjudication.jsonl"
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """``plan.json``: the data under review and the items drawn from it, in order."""

    schema: int = SCHEMA
    name: str
    data: str
    sampling: Sampling
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A line of a reviewer's journal.

    Parameters
    ----------
    item : str
        Sample id.
    label : str
        A label, ``reject`` or ``unsure``.
    heard : bool
        Whether the page had played the item's own sound before.
    at : str
        UTC.
    """

    item: str
    label: str
    heard: bool
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A line of the adjudication: what was decided, by whom, before or after seeing the gold."""

    item: str
    label: str
    by: str
    after_gold: bool
    at: str


Line = TypeVar("Line", Answer, Decision)


class Verdict(NamedTuple):
    """Where an item stands: labels by reviewer, the adjudicated one, and what counts.

    ``final`` is ``None`` while fewer than two people have answered, or while they disagree and
    nobody has decided.
    """

    labels: Mapping[str, str]
    decision: Decision | None
    final: str | None

    @property
    def disputed(self) -> bool:
        """Tell whether two people answered and did not agree on anything definite."""
        said = set(self.labels.values())
        return len(self.labels) >= 2 and (len(said) > 1 or UNSURE in said)


class Review:
    """A folder of a review.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    DataError
        ``FB893`` when the folder holds no review, ``FB895`` for a damaged journal.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / PLAN).is_file():
            raise DataError("FB893", f"no {PLAN} here", where=Place(str(folder)))
        self.plan = codec.read_json(folder / PLAN, Plan)
        self._place = {name: i for i, name in enumerate(self.plan.items)}
        self._lock = threading.RLock()
        self._answers: dict[str, dict[str, Answer]] = {}
        self._decisions: dict[str, Decision] = {}
        for path in sorted((folder / PEOPLE).glob(f"*/{LOG}")):
            name = checked_id(path.parent.name)
            self._answers[name] = {a.item: a for a in self._read(path, Answer)}
        if (folder / DECISIONS).is_file():
            self._decisions = {d.item: d for d in self._read(folder / DECISIONS, Decision)}

    @classmethod
    def begin(cls, folder: Path, plan: Plan) -> Review:
        """Open a review to go on with it, or begin it.

        Raises
        ------
        UsageError
            ``FB892`` when it was begun with other data or another plan.
        EnvironmentProblem
            ``FB402`` when the folder cannot be written.
        """
        path = folder / PLAN
        if not path.is_file():
            try:
                (folder / PEOPLE).mkdir(parents=True, exist_ok=True)
                write_safely(path, codec.encode_pretty(plan).encode())
            except OSError as error:
                raise unwritable(path, error) from None
        for journal in (*(folder / PEOPLE).glob(f"*/{LOG}"), *folder.glob(DECISIONS)):
            mend(journal)
        review = cls(folder)
        known = review.plan
        if known.data != plan.data:
            what = f"it is about '{known.name}', whose items differ from those of '{plan.name}'"
            raise UsageError("FB892", what, where=Place(str(folder)))
        if (known.sampling, known.items) != (plan.sampling, plan.items):
            raise UsageError("FB892", "it was begun with another plan", where=Place(str(folder)))
        return review

    # ---- reading -----------------------------------------------------------------------------

    def reviewers(self) -> tuple[str, ...]:
        """Return everybody who has answered, in alphabetical order."""
        with self._lock:
            return tuple(sorted(name for name, said in self._answers.items() if said))

    def answers(self, name: str) -> dict[str, Answer]:
        """Return what one reviewer said, by item."""
        with self._lock:
            return dict(self._answers.get(name, {}))

    def verdicts(self) -> dict[str, Verdict]:
        """Return where every item stands, in the order of the plan."""
        with self._lock:
            return {item: self.verdict(item) for item in self.plan.items}

    def verdict(self, item: str) -> Verdict:
        """Return where one item stands."""
        with self._lock:
            labels = {
                name: said[item].label
                for name, said in sorted(self._answers.items())
                if item in said
            }
            decision = self._decisions.get(item)
            found = Verdict(labels, decision, None if decision is None else decision.label)
            if decision is None and len(labels) >= 2 and not found.disputed:
                return found._replace(final=next(iter(labels.values())))
            return found

    # ---- writing -----------------------------------------------------------------------------

    def join(self, name: str) -> dict[str, Answer]:
        """Return what a reviewer has said so far, nothing for a new one.

        Raises
        ------
        UsageError
            ``FB844`` for an id that could be a name; ``FB894`` for somebody who has seen gold
            labels as adjudicator and has not labelled everything before.
        """
        checked_id(name)
        with self._lock:
            said = self.answers(name)
            decided = any(d.by == name for d in self._decisions.values())
            if decided and len(said) < len(self.plan.items):
                raise UsageError("FB894", f"'{name}' has adjudicated and has seen labels")
            return said

    def adjudicator(self, name: str) -> None:
        """Let somebody adjudicate: who still has items to label may not see those of others.

        Raises
        ------
        UsageError
            ``FB844`` for an id that could be a name; ``FB894`` for a reviewer who is not done.
        """
        checked_id(name)
        said = self.answers(name)
        if said and len(said) < len(self.plan.items):
            left = len(self.plan.items) - len(said)
            raise UsageError("FB894", f"'{name}' still has {counted(left, 'item')} to label")

    def answer(self, name: str, item: str, label: str, *, heard: bool) -> None:
        """Keep an answer; it is on the disk when this returns.

        Raises
        ------
        UsageError
            ``FB894`` when the item has been adjudicated, or is not in the plan.
        """
        with self._lock:
            self._known(item)
            self.join(name)
            if item in self._decisions:
                raise UsageError("FB894", "this item has been adjudicated; its answers stand")
            made = Answer(item=item, label=label, heard=heard, at=now())
            append_bytes(self.folder / PEOPLE / name / LOG, codec.encode(made) + b"\n")
            self._answers.setdefault(name, {})[item] = made

    def decide(self, by: str, item: str, label: str) -> Decision:
        """Keep a decision about an item on which reviewers disagree.

        A second decision about an item comes after its gold label was shown, and says so.

        Raises
        ------
        UsageError
            ``FB894`` where there is nothing to decide.
        """
        with self._lock:
            self._known(item)
            self.adjudicator(by)
            if not self.verdict(item).disputed:
                raise UsageError("FB894", "there is no disagreement about this item")
            made = Decision(
                item=item, label=label, by=by, after_gold=item in self._decisions, at=now()
            )
            append_bytes(self.folder / DECISIONS, codec.encode(made) + b"\n")
            self._decisions[item] = made
            return made

    def _known(self, item: str) -> None:
        if item not in self._place:
            raise UsageError("FB894", "the item is not in the plan")

    def _read(self, path: Path, kind: type[Line]) -> list[Line]:
        try:
            out = [
                codec.convert(plain, kind, where=Place(str(path), number))
                for number, plain in plain_lines(path)
            ]
        except DataError as error:
            raise DataError("FB895", error.what, where=error.where) from None
        for number, line in enumerate(out, start=1):
            if line.item not in self._place:
                what = f"the item '{line.item[:80]}' is not in the plan"
                raise DataError("FB895", what, where=Place(str(path), number))
        return out
