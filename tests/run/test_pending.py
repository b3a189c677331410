from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome
from floorbench.run.executors import Item
from floorbench.run.pending import Pending, unpacked

FAILED = Decision(outcome=Outcome.FAILED, reason="gone")
ITEMS = [Item(i, Observation(language="en", text=str(i))) for i in range(4)]


def test_what_was_lost_comes_first_and_one_by_one() -> None:
    pending = Pending(iter([ITEMS[:2], ITEMS[2:]]))
    batch = pending.next()
    assert batch == ITEMS[:2]
    assert list(pending.lost(batch, None, FAILED)) == []
    assert [pending.next() for _ in range(3)] == [[ITEMS[0]], [ITEMS[1]], ITEMS[2:]]
    assert not pending.exhausted
    assert pending.next() is None
    assert pending.exhausted


def test_an_item_that_is_lost_alone_is_answered() -> None:
    pending = Pending(iter([]))
    (answer,) = pending.lost([ITEMS[1]], ["hash"], FAILED)
    assert (answer.number, answer.observed, answer.decision) == (1, "hash", FAILED)
    assert pending.next() is None


def test_an_item_may_be_asked_again_before_it_is_given_up() -> None:
    pending = Pending(iter([]))
    assert list(pending.lost([ITEMS[1]], None, FAILED, again=1)) == []
    assert pending.next() == [ITEMS[1]]
    assert list(pending.lost([ITEMS[2]], None, FAILED, again=1)) == []  # counted by itself
    (answer,) = pending.lost([ITEMS[1]], None, FAILED, again=1)
    assert (answer.number, answer.observed) == (1, None)


def test_a_batch_comes_back_whole_so_many_times() -> None:
    pending = Pending(iter([]))
    for _ in range(2):
        assert pending.put_back(ITEMS, "node", times=2)
        assert pending.next() == ITEMS
    assert not pending.put_back(ITEMS, "node", times=2)
    assert pending.put_back(ITEMS, "other", times=1)


def test_nothing_is_taken_before_it_is_asked_for() -> None:
    taken = []

    def stream():
        for item in ITEMS:
            taken.append(item.number)
            yield [item]

    pending = Pending(stream())
    assert taken == []
    pending.next()
    assert taken == [0]


def test_answers_are_unpacked_in_the_order_of_the_batch() -> None:
    pairs = [[{"label": "yes"}, {"wall": 0.5}], [{"outcome": "failed"}, {}]]
    first, second = unpacked(ITEMS[:2], ["a", "b"], pairs)
    assert (first.number, first.observed, first.decision.label, first.compute.wall) == (
        0, "a", "yes", 0.5,
    )  # fmt: skip
    assert (second.number, second.decision.outcome) == (1, Outcome.FAILED)
