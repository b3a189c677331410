import time
from typing import Any

import pytest

from floorbench.core.prediction import Decision, Event, Served
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError, SystemProblem, UsageError
from floorbench.run.deciding import (
    REASON_LENGTH,
    SystemChoice,
    checked,
    decide_all,
    encodable,
    short_reason,
)
from support.engine_toys import Bad, Batched, System, Unloadable, choice


def shown(*numbers: int) -> list[Observation]:
    return [Observation(language="en", text=str(n)) for n in numbers]


def decided(system: Any, *numbers: int, timeout: float | None = None) -> list[Decision]:
    return [a.decision for a in decide_all(system, shown(*numbers), timeout=timeout)]


NONSENSE: list[tuple[Any, str]] = [
    (None, "returned NoneType, not a Decision"),
    ({"label": "yes"}, "returned dict, not a Decision"),
    (Decision(label=3), "label is int, not text"),  # type: ignore[arg-type]
    (Decision(raw=b"yes"), "raw is bytes, not text"),  # type: ignore[arg-type]
    (Decision(reason=1), "reason is int, not text"),  # type: ignore[arg-type]
    (Decision(outcome="great"), "outcome 'great' is not one of ok"),  # type: ignore[arg-type]
    (Decision(outcome=None), "outcome None is not one of ok"),  # type: ignore[arg-type]
    (Decision(scores=[0.5]), "scores is list, not a mapping"),  # type: ignore[arg-type]
    (Decision(scores={1: 0.5}), "score name 1 is not text"),  # type: ignore[dict-item]
    (Decision(scores={"yes": float("nan")}), "score 'yes' is nan, not a finite number"),
    (Decision(scores={"yes": float("-inf")}), "score 'yes' is -inf, not a finite number"),
    (Decision(scores={"yes": "0.5"}), "score 'yes' is '0.5', not a finite"),  # type: ignore[dict-item]
    (Decision(scores={"yes": True}), "score 'yes' is True, not a finite number"),
    (Decision(scores={"yes": None}), "score 'yes' is None, not a finite"),  # type: ignore[dict-item]
    (Decision(served="gpt-4o"), "served is str, not a Served"),  # type: ignore[arg-type]
    (Decision(commit=float("inf")), "commit is inf, not a finite number"),
    (Decision(events=7), "events is int, not a sequence"),  # type: ignore[arg-type]
    (Decision(events=("x",)), "an event is str, not an Event"),  # type: ignore[arg-type]
    (Decision(events=(Event(kind="x", time=float("nan")),)), "event 'x' has a time or score"),
    (Decision(events=(Event(kind="x", time=None),)), "event 'x' has a time"),  # type: ignore[arg-type]
    (Decision(events=(Event(kind=1, time=0.0),)), "event kind 1"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("nonsense", "reason"), NONSENSE, ids=[r for _, r in NONSENSE])
def test_nonsense_is_invalid_and_says_why(nonsense: Any, reason: str) -> None:
    found = checked(nonsense)
    assert found.outcome is Outcome.INVALID
    assert found.reason is not None
    assert found.reason.startswith(reason)


def test_a_sound_decision_passes_unchanged() -> None:
    sound = Decision(
        label="yes", scores={"yes": 0.5}, events=(Event(kind="x", time=1.0),), commit=1.0, raw="Y",
        served=Served(snapshot="m"),
    )  # fmt: skip
    assert checked(sound) == sound


def test_plain_text_is_an_outcome() -> None:
    assert checked(Decision(outcome="abstained")).outcome is Outcome.ABSTAINED  # type: ignore[arg-type]


def test_the_raw_answer_of_nonsense_is_kept() -> None:
    assert checked(Decision(label=3, raw="three")).raw == "three"  # type: ignore[arg-type]


def test_what_json_cannot_hold_is_invalid() -> None:
    assert encodable(Decision(label="yes")) == Decision(label="yes")
    assert encodable(Decision(raw="\ud800")).outcome is Outcome.INVALID


def test_raising_is_failed_with_one_line() -> None:
    raised, left = decided(Bad(), 12, 13)
    assert (raised.outcome, raised.reason) == (Outcome.FAILED, "ValueError: first line")
    assert (left.outcome, left.reason) == (Outcome.FAILED, "SystemExit: 3")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KeyError("x"), "KeyError: 'x'"),
        (MemoryError(), "MemoryError"),
        (ValueError("\ud800"), "ValueError: ?"),
        (DataError("FB202", "no"), "FB202 no"),
    ],
)
def test_reasons_are_short(error: Exception, reason: str) -> None:
    assert short_reason(error) == reason


def test_long_reasons_are_cut() -> None:
    assert len(short_reason(ValueError("x" * 10_000))) == REASON_LENGTH


def test_interrupts_are_not_swallowed() -> None:
    class Stopped(System):
        def decide(self, observation: Observation) -> Decision:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        decided(Stopped(), 1)


def test_a_failing_batch_is_asked_item_by_item() -> None:
    alone = decided(System(), *range(5, 10))
    assert decided(Batched(), *range(5, 10)) == alone
    assert decided(Batched(), 1, 2) == decided(System(), 1, 2)


def test_a_batch_of_the_wrong_length_is_asked_item_by_item() -> None:
    class Short(System):
        def decide_batch(self, observations: list[Observation]) -> list[Decision]:
            return [Decision(label="no")]

    assert decided(Short(), 1, 2, 3) == decided(System(), 1, 2, 3)


def test_a_late_batch_is_asked_item_by_item() -> None:
    class Together(System):
        def decide_batch(self, observations: list[Observation]) -> list[Decision]:
            time.sleep(0.5)
            return [self.decide(o) for o in observations]

    found = decide_all(Together(), shown(1, 2, 3), timeout=0.1)
    assert [a.decision for a in found] == decided(System(), 1, 2, 3)
    assert [a.compute.batch for a in found] == [1, 1, 1]


def test_a_late_answer_is_a_timeout() -> None:
    found = decided(System(pause=0.02), 1, timeout=0.001)[0]
    assert (found.outcome, found.label) == (Outcome.TIMEOUT, None)
    assert found.reason == "no answer within 0.001 s"


def test_wall_time_is_recorded() -> None:
    wall = decide_all(System(pause=0.01), shown(1), timeout=None)[0].compute.wall
    assert wall is not None
    assert wall >= 0.01


def test_in_a_batch_every_figure_is_an_equal_share() -> None:
    class Costly(Spending):
        def decide_batch(self, observations: list[Observation]) -> list[Decision]:
            return [self.decide(o) for o in observations]

    found = [a.compute for a in decide_all(Costly((7, 2)), shown(2, 3, 4), timeout=None)]
    assert {c.batch for c in found} == {3}
    assert len({(c.wall, c.cpu) for c in found}) == 1
    assert [(c.tokens_in, c.tokens_out) for c in found] == [(3, 1), (2, 1), (2, 0)]
    (alone,) = decide_all(Costly((7, 2)), shown(2), timeout=None)
    assert (alone.compute.batch, alone.compute.tokens_in) == (1, 7)


def test_processor_seconds_are_those_of_a_process_of_its_own() -> None:
    (alone,) = decide_all(System(), shown(1), timeout=None)
    assert alone.compute.cpu is not None
    assert alone.compute.cpu >= 0
    for answered in (
        *decide_all(System(), shown(1), timeout=None, alone=False),
        *decide_all(Batched(), shown(1, 2), timeout=None, alone=False),
    ):
        assert answered.compute.cpu is None


def test_choices_build_what_they_name() -> None:
    assert choice(System, wrong_every=3).build().spec.parameters == {"wrong_every": 3}
    assert SystemChoice(name="here", factory=System).build().spec.name == "toy-system"


def test_what_cannot_be_built_says_why() -> None:
    with pytest.raises(SystemProblem, match=r"FB501 .*Unloadable.*OSError: weights are gone"):
        choice(Unloadable).build()
    with pytest.raises(UsageError, match=r"FB513 .*no parameter 'colour'"):
        choice(System, colour="red").build()
    for name in ("support.engine_toys:Nobody", "no.such.module:System"):
        with pytest.raises(SystemProblem, match="FB511"):
            SystemChoice(name=name).build()


def test_a_system_without_decide_is_refused() -> None:
    class Streams:
        spec = System().spec

        def load(self) -> None:
            pass

    with pytest.raises(SystemProblem, match="FB501 system 'streams' has no `decide`"):
        SystemChoice(name="streams", factory=Streams).build()  # type: ignore[arg-type]


class Spending(System):
    """Tells its tokens, or nonsense."""

    def __init__(self, told: Any) -> None:
        super().__init__()
        self._told = told

    def spent(self) -> Any:
        if isinstance(self._told, Exception):
            raise self._told
        return self._told


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        ((7, 1), (7, 1)),
        ((-1, 0), (None, None)),
        ((1.5, 0), (None, None)),
        (None, (None, None)),
        (ValueError("x"), (None, None)),
    ],
)
def test_tokens_are_recorded_and_nonsense_is_not(told: Any, tokens: Any) -> None:
    (answered,) = decide_all(Spending(told), shown(2), timeout=None)
    assert (answered.compute.tokens_in, answered.compute.tokens_out) == tokens
    assert answered.decision.outcome is Outcome.OK


class _Odd(BaseException):
    def __str__(self) -> str:
        raise RuntimeError("no text either")


@pytest.mark.parametrize("error", [GeneratorExit(), SystemExit(3), _Odd()])
def test_whatever_a_system_raises_is_failed(error: BaseException) -> None:
    class Raising(System):
        def decide(self, observation: Observation) -> Decision:
            raise error

        def decide_batch(self, observations: list[Observation]) -> list[Decision]:
            raise error

    found = decided(Raising(), 1, 2)
    assert [d.outcome for d in found] == [Outcome.FAILED] * 2
    assert str(found[0].reason).startswith(type(error).__name__)


class _Renamed(System):
    """Says another thing about itself once loaded."""

    def load(self) -> None:
        super().load()
        self.spec = self.becomes  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("becomes", "message"),
    [
        ("a text", "is not a SystemSpec"),
        (
            SystemSpec(name="x", version="1", parameters={"t": float("nan")}),
            "cannot be written down",
        ),
    ],
    ids=["no spec", "not finite"],
)
def test_a_spec_that_loading_changed_is_checked_again(becomes: object, message: str) -> None:
    def make() -> Any:
        system = _Renamed()
        system.becomes = becomes  # type: ignore[attr-defined]
        return system

    with pytest.raises(SystemProblem, match=message) as caught:
        SystemChoice(name="toy", factory=make).build()
    assert caught.value.code == "FB512"
