from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.sample import Observation, Question, Turn
from floorbench.core.vocab import Role
from floorbench.run.batching import AHEAD, Item, Length, batches, length_of


@dataclass(frozen=True)
class Sound:
    """Audio of a length."""

    frames: int
    rate: int = 100
    cutoff: None = None


def heard(number: int, seconds: float) -> Item:
    sound = Sound(round(seconds * 100))
    shown = Observation(language="en", channels={Role.USER: sound})  # type: ignore[dict-item]
    return Item(number, shown)


def read(number: int, text: str) -> Item:
    return Item(number, Observation(language="en", text=text))


def numbers(made: Iterator[list[Item]]) -> list[list[int]]:
    return [[item.number for item in batch] for batch in made]


def test_the_length_is_all_the_sound_that_is_shown() -> None:
    shown = Observation(
        language="en",
        text="words are not counted where there is sound",
        channels={Role.USER: Sound(250), Role.SYSTEM: Sound(100)},  # type: ignore[dict-item]
        turns=(
            Turn(role=Role.USER, audio=Sound(50)),  # type: ignore[arg-type]
            Turn(role=Role.SYSTEM, text="no sound"),
        ),
    )
    assert length_of(shown) == Length(True, 4.0)


def test_without_sound_the_length_is_the_characters() -> None:
    shown = Observation(
        language="en",
        text="abc",
        turns=(Turn(role=Role.USER, text="de"), Turn(role=Role.SYSTEM)),
        spoken_prefix="f",
        question=Question(text="gh", answers=("yes",)),
    )
    assert length_of(shown) == Length(False, 8.0)


def test_inside_a_window_the_longest_go_first_and_equals_keep_their_order() -> None:
    items = [heard(n, s) for n, s in enumerate((1.0, 3.0, 2.0, 3.0, 1.0))]
    assert numbers(batches(items, 2)) == [[1, 3], [2, 0], [4]]


def test_a_batch_is_bounded_by_its_padded_seconds() -> None:
    items = [heard(n, s) for n, s in enumerate((9.0, 4.0, 3.0, 2.0, 2.0, 1.0))]
    assert numbers(batches(items, 4, 8.0)) == [[0], [1, 2], [3, 4, 5]]


def test_seconds_do_not_bind_words_and_the_two_do_not_mix() -> None:
    items = [read(0, "a" * 50), heard(1, 2.0), read(2, "b" * 60), heard(3, 3.0)]
    assert numbers(batches(items, 4, 6.0)) == [[3, 1], [2, 0]]


@pytest.mark.parametrize(("size", "first"), [(1, 1), (3, 3 * AHEAD)])
def test_the_stream_is_looked_ahead_so_far_and_no_further(size: int, first: int) -> None:
    taken = 0

    def stream() -> Iterator[Item]:
        nonlocal taken
        while True:
            taken += 1
            yield heard(taken, 1.0)

    made = batches(stream(), size)
    next(made)
    assert taken == first


def test_a_batch_of_one_measures_nothing() -> None:
    nothing = Item(0, Observation(language="en", channels={Role.USER: object()}))  # type: ignore[dict-item]
    assert list(batches([nothing], 1)) == [[nothing]]


@given(
    st.lists(st.floats(0.01, 30.0), max_size=60),
    st.integers(1, 5),
    st.none() | st.floats(0.5, 60.0),
)
def test_every_item_comes_once_within_the_bounds_and_always_alike(
    lengths: list[float], size: int, seconds: float | None
) -> None:
    items = [heard(n, s) for n, s in enumerate(lengths)]
    made = list(batches(items, size, seconds))
    assert sorted(item.number for batch in made for item in batch) == list(range(len(items)))
    assert made == list(batches(iter(items), size, seconds))
    for batch in made:
        assert 1 <= len(batch) <= size
        longest = max(length_of(item.observation).amount for item in batch)
        if len(batch) > 1 and seconds is not None:
            assert longest * len(batch) <= seconds
    spread = [length_of(b.observation).amount for batch in made[:AHEAD] for b in batch]
    if size > 1 and seconds is None and len(items) <= AHEAD * size:
        assert spread == sorted(spread, reverse=True)
