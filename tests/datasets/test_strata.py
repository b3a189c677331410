from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from floorbench.datasets.strata import COLLAPSED, Strata


def final(*pairs: tuple[str, str], **options: object) -> dict[str, str]:
    strata = Strata[str]()
    for cluster, stratum in pairs:
        strata.add(cluster, stratum)
    return strata.final(**options)


def test_a_cluster_that_touches_several_gets_their_joined_set() -> None:
    found = final(("a", "y"), ("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "x"))
    assert found["a"] == found["b"] == "x + y"


def test_strata_of_one_are_collapsed_within_their_group() -> None:
    found = final(
        ("a", "en x 1"), ("b", "en x 2"), ("c", "zh x 1"), ("d", "zh x 2"), ("e", "zh x 2"),
        group=lambda s: s[:2],
    )  # fmt: skip
    assert found["a"] == found["b"] == f"en x {COLLAPSED}"
    assert found["c"] == "zh x 1"
    assert found["d"] == "zh x 2"


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("xyz"))))
def test_at_most_one_stratum_of_one_is_left(pairs: list[tuple[str, str]]) -> None:
    found = final(*pairs)
    assert set(found) == {cluster for cluster, _ in pairs}
    assert sum(n == 1 for n in Counter(found.values()).values()) <= 1


@given(st.permutations([("a", "x"), ("a", "y"), ("b", "y"), ("b", "x"), ("c", "z"), ("d", "z")]))
def test_the_order_of_units_does_not_matter(pairs: list[tuple[str, str]]) -> None:
    assert final(*pairs) == {"a": "x + y", "b": "x + y", "c": "z", "d": "z"}
