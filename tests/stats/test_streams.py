import subprocess
import sys

import numpy as np
import pytest

from floorbench.errors import UsageError
from floorbench.stats.streams import coins, generator, indices
from oracles import stats_resampling as oracle


def test_the_first_words_are_pinned():
    # A change here changes every interval ever printed.
    words = generator(17, "bootstrap", "stratum", "0").bit_generator.random_raw(3)
    expected = oracle.stream(17, "bootstrap", "stratum", "0")
    assert [int(w) for w in words] == [next(expected) for _ in range(3)]
    assert indices(generator(17, "a"), 100, (6,)).tolist() == PINNED_INDICES
    assert coins(generator(17, "a"), (6,)).tolist() == [i >= 50 for i in PINNED_INDICES]


PINNED_INDICES = [30, 43, 95, 49, 66, 91]


def test_names_and_seeds_give_different_streams():
    seen = {
        int(generator(seed, *path).bit_generator.random_raw())
        for seed in (0, 1, 2**70)
        for path in ((), ("a",), ("b",), ("a", "b"), ("ab",))
    }
    assert len(seen) == 15


def test_the_same_in_another_process():
    code = (
        "from floorbench.stats.streams import generator;"
        "print(int(generator(5, 'x').bit_generator.random_raw()))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": "src", "PYTHONHASHSEED": "77"},
    )  # fmt: skip
    assert int(out.stdout) == int(generator(5, "x").bit_generator.random_raw())


@pytest.mark.parametrize("n", [1, 2, 3, 7, 1000, 2**31])
def test_indices_are_exact_integer_arithmetic(n):
    words = oracle.stream(3, "i")
    found = indices(generator(3, "i"), n, (50,))
    assert found.tolist() == [((next(words) >> 32) * n) >> 32 for _ in range(50)]
    assert found.dtype == np.int64


def test_indices_do_not_depend_on_portions():
    whole = indices(generator(1, "p"), 9, (10, 3))
    source = generator(1, "p")
    parts = [indices(source, 9, (k, 3)) for k in (1, 4, 5)]
    assert np.array_equal(whole, np.concatenate(parts))


def test_indices_and_coins_are_fair():
    counts = np.bincount(indices(generator(4, "fair"), 6, (60_000,)), minlength=6)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 20.5  # chi2, 5 df, .999
    assert abs(coins(generator(4, "coin"), (60_000,)).mean() - 0.5) < 0.007


@pytest.mark.parametrize("seed", [-1, 1.5, "7", None])
def test_bad_seed(seed):
    with pytest.raises(UsageError, match="FB650"):
        generator(seed, "a")
