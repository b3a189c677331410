"""The work of one sitting: which items are still to be asked, and the line each answer becomes."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from floorbench.core.ports import DatasetSource
from floorbench.core.prediction import Decision, Prediction, Served
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome
from floorbench.core.words import counted
from floorbench.errors import DataError, Place, UsageError
from floorbench.metrics.base import ScoringTask
from floorbench.run import provenance
from floorbench.run.batching import Item
from floorbench.run.due import Due, Plan, due_items
from floorbench.run.executors import Answer
from floorbench.run.journal import Journal, cut_torn_line, read_journal
from floorbench.run.keys import KeyTable, key_code, observation_code
from floorbench.run.served import Tally
from floorbench.run.signals import Signals
from floorbench.run.store import RunFolder
from floorbench.run.traces import put
from floorbench.run.wire import observation_hash


class Progress(NamedTuple):
    """How far a run is."""

    done: int
    total: int
    outcomes: Mapping[str, int]


REASONS = 100
"""Different reasons that are counted."""


class Job:
    """The items of one sitting and what has become of them.

    Parameters
    ----------
    task : ScoringTask
    source : DatasetSource
    spec : SystemSpec
    plan : Plan
    folder : RunFolder
    secrets : tuple of str
        Values that must not reach the journal.
    notify : callable
        Takes remarks for the user.
    """

    def __init__(
        self,
        task: ScoringTask,
        source: DatasetSource,
        spec: SystemSpec,
        plan: Plan,
        folder: RunFolder,
        secrets: tuple[str, ...],
        notify: Callable[[str], None],
    ) -> None:
        self._task = task
        self._source = source
        self._spec = spec
        self._plan = plan
        self._folder = folder
        self._secrets = secrets
        self._notify = notify
        self._keys = KeyTable()
        self._in_flight: dict[int, Due] = {}
        self.outcomes: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self.served = Tally()
        self.written = 0

    @property
    def done(self) -> int:
        """Number of predictions in the journal."""
        return sum(self.outcomes.values())

    def shortfall(self) -> str | None:
        """Say how many questions have no answer and why; ``None`` when all are answered.

        The reasons are those of this sitting.
        """
        missed = {name: n for name, n in sorted(self.outcomes.items()) if name != Outcome.OK}
        if not missed:
            return None
        counts = ", ".join(f"{n} {name}" for name, n in missed.items())
        text = f"{sum(missed.values())} of {self.done} without an answer: {counts}"
        if self._reasons:
            reason, n = min(self._reasons.items(), key=lambda item: (-item[1], item[0]))
            text += f"; most often ({n}): {reason}"
        return text

    def take_up(self, recompute_changed: bool) -> None:
        """Read what the journal holds, cutting a torn line and dropping changed ones on demand."""
        torn = cut_torn_line(self._folder.journal)
        if torn:
            self._notify(
                f"cut an unfinished last line of {counted(torn, 'byte')}; it is computed again"
            )
        for line in read_journal(self._folder.journal):
            prediction = line.prediction
            code = key_code(prediction.key)
            if not self._keys.add(code, observation_code(prediction.observed)):
                raise DataError(
                    "FB203",
                    f"sample '{prediction.sample_id}' appears twice",
                    where=Place(str(self._folder.journal), line.number),
                )
            self.outcomes[prediction.decision.outcome.value] += 1
            if prediction.decision.served is not None:
                self.served.add(prediction.decision.served)
        if recompute_changed:
            self._drop_changed()
        self._notify(f"resuming: {counted(self.done, 'prediction is', 'predictions are')} kept")

    def _drop_changed(self) -> None:
        changed = set()
        for due in due_items(self._task, self._source, self._spec, self._plan):
            known = self._keys.get(key_code(due.key))
            if known and known != observation_code(self._observed(due)):
                changed.add(due.key)
        if not changed:
            return
        fresh = self._folder.path / ".predictions.jsonl.new"
        fresh.unlink(missing_ok=True)
        self._keys, self.outcomes, self.served = KeyTable(), Counter(), Tally()
        with contextlib.closing(Journal(fresh)) as journal:
            for prediction in self._folder.predictions():
                if prediction.key not in changed:
                    journal.append(prediction)
                    code = observation_code(prediction.observed)
                    self._keys.add(key_code(prediction.key), code)
                    self.outcomes[prediction.decision.outcome.value] += 1
                    if prediction.decision.served is not None:
                        self.served.add(prediction.decision.served)
        fresh.replace(self._folder.journal)
        self._notify(
            f"{counted(len(changed), 'prediction')} saw another observation; computing them again"
        )

    def _shown(self, due: Due) -> Observation:
        shown = self._task.observe(due.sample, due.condition, system=self._spec)
        return shown if shown.repeat == due.trial else replace(shown, repeat=due.trial)

    def _observed(self, due: Due) -> str:
        return observation_hash(self._shown(due))

    def due(self) -> Iterator[Due]:
        """Yield what is not yet in the journal; check what is."""
        for due in due_items(self._task, self._source, self._spec, self._plan):
            code = key_code(due.key)
            known = self._keys.get(code)
            if known is None:
                self._keys.add(code)
                self._keys.mark(code)
                yield due
                continue
            if not self._keys.mark(code):
                raise DataError("FB203", f"sample '{due.sample.id}' appears twice in the data")
            if known and known != observation_code(self._observed(due)):
                raise UsageError(
                    "FB508",
                    f"sample '{due.sample.id}' condition '{due.condition}' is shown otherwise than"
                    " when its prediction was written",
                    hint="Start a new run, or resume with --recompute-changed.",
                )

    def items(self) -> Iterator[Item]:
        """Yield the questions for an executor."""
        for number, due in enumerate(self.due()):
            self._in_flight[number] = due
            yield Item(number, self._shown(due))

    def ask(self, number: int, due: Due) -> None:
        """Note an item that is answered without an executor."""
        self._in_flight[number] = due

    def write(
        self,
        answers: Iterable[Answer],
        signals: Signals,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        """Write one line per answer until there are no more."""
        total = 0
        if progress is not None:
            total = sum(1 for _ in due_items(self._task, self._source, self._spec, self._plan))
            progress(Progress(self.done, total, self.outcomes))
        with contextlib.closing(Journal(self._folder.journal)) as journal:
            for answer in answers:
                due = self._in_flight.pop(answer.number)
                prediction = Prediction(
                    sample_id=due.sample.id,
                    condition=due.condition,
                    trial=due.trial,
                    decision=put(self._folder.path, self._judged(due, answer.decision)),
                    compute=answer.compute,
                    observed=answer.observed,
                )
                with signals.held():
                    journal.append(prediction)
                    self.written += 1
                    self.outcomes[prediction.decision.outcome.value] += 1
                    if prediction.decision.served is not None:
                        self.served.add(prediction.decision.served)
                self._explain(prediction.decision)
                if progress is not None:
                    progress(Progress(self.done, total, self.outcomes))

    def _explain(self, decision: Decision) -> None:
        """Count why there is no answer; reasons that all differ are not gathered without end."""
        reason = decision.reason
        if decision.outcome is Outcome.OK or reason is None:
            return
        if reason in self._reasons or len(self._reasons) < REASONS:
            self._reasons[reason] += 1

    def _judged(self, due: Due, decision: Decision) -> Decision:
        """Mark a label that the task does not know, and keep secrets out of the reasons.

        Free text is kept as it is: the parser belongs to scoring, and another one may read it.
        """
        free = decision.label is None and decision.raw is not None
        if decision.outcome is Outcome.OK and not free:
            problem = self._task.problem(due.sample, decision)
            if problem is not None:
                decision = replace(decision, outcome=Outcome.INVALID, reason=problem)
        if decision.reason is not None:
            reason = provenance.scrub(decision.reason, self._secrets)
            decision = replace(decision, reason=reason)
        if decision.served is not None:
            decision = replace(decision, served=self._clean(decision.served))
        return decision

    def _clean(self, served: Served) -> Served:
        """Forget a name that holds a secret."""
        said = (served.snapshot, served.build)
        if all(t is None or provenance.scrub(t, self._secrets) == t for t in said):
            return served
        return Served(at=served.at)
