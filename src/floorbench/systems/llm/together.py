"""Asking a model about several observations at once: what each wants to ask, in step.

A system writes its way of asking once, as a generator that yields calls and is sent their answers.
One observation drives one generator; several drive theirs side by side, and the calls of a round go
to the model together where it takes them so (``complete_all``).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from floorbench.core.prediction import Decision
from floorbench.systems.llm.protocol import Completion, ModelFault, Prompt, TextModel
from floorbench.systems.llm.snapshots import marked


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Arguments of one :meth:`floorbench.systems.llm.protocol.TextModel.complete`."""

    prompt: Prompt
    max_tokens: int
    temperature: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    top: int = 0


Steps = Generator[Call, Completion, Decision]
"""One observation's way to its decision."""


class Together(Protocol):
    """A model that takes several calls at once; a :class:`TextModel` need not."""

    def complete_all(self, calls: Sequence[Call]) -> Sequence[Completion | ModelFault]:
        """Answer every call, in order; a call without an answer gets its fault."""
        ...


def decide_together(model: TextModel, steps: Sequence[Steps]) -> list[Decision]:
    """Drive some observations to their decisions; a fault ends one of them only.

    Parameters
    ----------
    model : TextModel
        Asked once a round where it has ``complete_all``, else call by call.
    steps : sequence of generator
        One per observation, not yet started.
    """
    found: dict[int, Decision] = {}
    waiting: dict[int, Call] = {}

    def go_on(number: int, answer: Completion | ModelFault | None) -> None:
        waiting.pop(number, None)
        step = steps[number]
        try:
            if isinstance(answer, ModelFault):
                waiting[number] = step.throw(answer)
            else:
                waiting[number] = next(step) if answer is None else step.send(answer)
        except StopIteration as done:
            found[number] = marked(done.value, answer)
        except ModelFault as fault:
            found[number] = marked(Decision(outcome=fault.outcome, reason=fault.reason), fault)

    for number in range(len(steps)):
        go_on(number, None)
    while waiting:
        numbers = list(waiting)
        answers = _ask(model, [waiting[n] for n in numbers])
        for number, answer in zip(numbers, answers, strict=True):
            go_on(number, answer)
    return [found[number] for number in range(len(steps))]


def _ask(model: Any, calls: Sequence[Call]) -> Sequence[Completion | ModelFault]:
    if len(calls) > 1 and callable(getattr(model, "complete_all", None)):
        answers: Sequence[Completion | ModelFault] = model.complete_all(calls)
        return answers
    return [_one(model, call) for call in calls]


def _one(model: TextModel, call: Call) -> Completion | ModelFault:
    try:
        return model.complete(**{**asdict(call), "prompt": call.prompt})
    except ModelFault as fault:
        return fault


def takes_batches(model: object) -> bool:
    """Tell whether a model answers several calls at once."""
    return callable(getattr(model, "complete_all", None))
