import threading
from collections.abc import Iterator

import pytest

from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError, UsageError
from floorbench.run.batching import Item
from floorbench.run.deciding import SystemChoice
from floorbench.run.executors import Answer, Executor, make_executor
from floorbench.run.wire import observation_hash
from support.engine_toys import Bad, Batched, System, choice

KINDS = ("serial", "thread", "process")


def items(n: int) -> Iterator[Item]:
    return (Item(i, Observation(language="en", text=str(i))) for i in range(n))


def answers(executor: Executor, system: SystemChoice, n: int) -> dict[int, Answer]:
    try:
        executor.start(system)
        found = list(executor.answers(items(n)))
    finally:
        executor.close()
        executor.close()
    assert len(found) == n
    return {a.number: a for a in found}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", [1, 4])
def test_every_item_is_answered_alike_everywhere(kind: str, batch: int) -> None:
    found = answers(make_executor(kind, workers=2, batch=batch), choice(Batched), 21)
    expected = answers(make_executor("serial"), choice(), 21)
    assert {i: a.decision for i, a in found.items()} == {i: a.decision for i, a in expected.items()}
    assert all(found[i.number].observed == observation_hash(i.observation) for i in items(21))


def test_misbehaviour_is_judged_alike_everywhere() -> None:
    serial, thread, process = (
        {i: a.decision for i, a in answers(make_executor(k, workers=2), choice(Bad), 16).items()}
        for k in KINDS
    )
    assert serial == thread == process
    assert {d.outcome for d in serial.values()} == {
        Outcome.OK,
        Outcome.ABSTAINED,
        Outcome.INVALID,
        Outcome.FAILED,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_system_without_batches_is_asked_one_by_one(kind: str) -> None:
    executor = make_executor(kind, batch=4)
    assert {a.compute.batch for a in answers(executor, choice(), 6).values()} == {1}
    assert executor.batch == 1
    executor = make_executor(kind, batch=2)
    assert {a.compute.batch for a in answers(executor, choice(Batched), 6).values()} == {2}
    assert executor.batch == 2


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_do_is_done_at_once(kind: str) -> None:
    assert answers(make_executor(kind, workers=2), choice(), 0) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_items_are_taken_as_they_are_needed(kind: str) -> None:
    taken: list[int] = []

    def source() -> Iterator[Item]:
        for item in items(50):
            taken.append(item.number)
            yield item

    executor = make_executor(kind, workers=2)
    try:
        executor.start(choice())
        found = executor.answers(source())
        for done in range(1, 20):
            next(found)
            assert len(taken) <= done + 3
    finally:
        executor.close()


def test_serial_keeps_the_order() -> None:
    executor = make_executor("serial", batch=3)
    executor.start(choice())
    assert [a.number for a in executor.answers(items(10))] == list(range(10))


def test_only_process_can_cut_and_the_others_say_what_to_do_where_a_timeout_was_asked_for() -> None:
    for kind in ("serial", "thread"):
        warning = make_executor(kind, timeout=2).warning
        assert warning is not None
        for words in (f"the {kind} executor waits", "2 s", "--executor process"):
            assert words in warning
        assert make_executor(kind).warning is None
    assert make_executor("process", timeout=2).warning is None


def test_each_thread_has_a_system_of_its_own() -> None:
    built: list[System] = []

    def factory() -> System:
        built.append(System())
        return built[-1]

    answers(make_executor("thread", workers=3), SystemChoice(name="own", factory=factory), 9)
    assert len(built) == 3


def test_threads_end() -> None:
    before = threading.active_count()
    answers(make_executor("thread", workers=3), choice(), 5)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(timeout=5)
    assert threading.active_count() <= before


class Broken:
    rate, frames, cutoff = 8000, 8, None

    def digest(self) -> str:
        raise DataError("FB202", "sample 3 is nan")


@pytest.mark.parametrize("kind", ["serial", "thread"])
def test_broken_data_stops_the_run(kind: str) -> None:
    from floorbench.core.vocab import Role

    shown = Observation(language="en", channels={Role.USER: Broken()})  # type: ignore[dict-item]
    executor = make_executor(kind)
    try:
        executor.start(choice())
        with pytest.raises(DataError, match="FB202 sample 3 is nan"):
            list(executor.answers([Item(0, shown)]))
    finally:
        executor.close()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cloud", {}),
        ("ray", {"workers": 0}),
        ("thread", {"workers": 0}),
        ("serial", {"batch": 0}),
        ("serial", {"batch_seconds": 10.0}),
        ("serial", {"batch": 2, "batch_seconds": float("inf")}),
        ("serial", {"batch": 10**20}),
        ("thread", {"batch": 2, "batch_seconds": 0.0}),
        ("process", {"timeout": 0.0}),
        ("process", {"timeout": float("nan")}),
    ],
)
def test_bad_options_are_refused(name: str, options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="FB509"):
        make_executor(name, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("timeout", [float("nan"), float("inf"), 1e308, 0.0])
def test_a_timeout_must_be_one_that_can_be_waited_for(timeout: float) -> None:
    with pytest.raises(UsageError, match="FB509"):
        make_executor("process", timeout=timeout)


@pytest.mark.parametrize("kind", ["serial", "thread"])
def test_who_cannot_stop_loading_takes_no_limit_of_it(kind: str) -> None:
    with pytest.raises(UsageError, match=r"FB103 .*hangs while it loads"):
        make_executor(kind, load_timeout=5.0)


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_a_limit_of_loading_is_a_time(limit: float) -> None:
    with pytest.raises(UsageError, match=r"FB509 .*load timeout"):
        make_executor("process", load_timeout=limit)
