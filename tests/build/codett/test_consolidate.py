from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.build.codett import consolidate
from floorbench.build.pipeline.stage import Item
from floorbench.errors import UsageError


def item(name, scenario="Completion", **more):
    fields = {"language": "en", "state": "SystemIdle", "action": "Takeover", "scenario": scenario}
    return Item(id=name, fields={**fields, **more})


def test_the_rarest_label_decides_how_many_are_kept():
    items = [item(f"c{i}") for i in range(5)] + [item(f"k{i}", "Cooperation") for i in range(3)]
    out = consolidate.Balance().gather(items)
    assert Counter(i.fields["scenario"] for i in out.items) == {"Completion": 3, "Cooperation": 3}
    assert {r.reason for r in out.rejected.values()} == {"surplus"}
    assert len(out.items) + len(out.rejected) == len(items)


def test_languages_and_origins_are_balanced_apart():
    items = [item(f"e{i}") for i in range(4)]
    items += [item(f"z{i}", language="zh") for i in range(2)]
    items += [item(f"r{i}", origin="real") for i in range(3)]
    assert len(consolidate.Balance().gather(items).items) == 9
    assert len(consolidate.Balance(per_label=2).gather(items).items) == 6


def test_what_is_kept_does_not_depend_on_the_order_or_on_other_labels():
    items = [item(f"c{i}") for i in range(9)]
    kept = {i.id for i in consolidate.Balance(per_label=4).gather(items).items}
    more = [item("x", "Cooperation"), *reversed(items)]
    again = {i.id for i in consolidate.Balance(per_label=4).gather(more).items}
    assert again == kept | {"x"}


NAMES = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"),
        st.lists(st.sampled_from("STUVWXYZ"), max_size=2),
        st.sampled_from(["", "Yes.", "yes!", "No", "What now?", "好的。"]),
    ),
    min_size=1,
    max_size=25,
)


def made(rows):
    return [
        item(f"i{n:02}", family=family, speakers=speakers, text=text)
        for n, (family, speakers, text) in enumerate(rows)
    ]


@given(NAMES)
def test_no_tie_crosses_a_split(rows):
    split = consolidate.Split(shares={"train": 0.6, "validation": 0.2, "test": 0.2})
    out = split.gather(made(rows)).items
    assert consolidate.leaks(out) == []
    assert len(out) == len(rows)


@given(NAMES)
def test_groups_are_the_connected_components(rows):
    items = made(rows)
    reach = {i.id: {i.id} for i in items}
    for _ in items:  # as many rounds as a path can be long
        for a in items:
            for b in items:
                if set(consolidate.keys_of(a)) & set(consolidate.keys_of(b)):
                    reach[a.id] |= reach[b.id]
    expected = {frozenset(ids) for ids in reach.values()}
    assert {frozenset(ids) for ids in consolidate.tied(items)} == expected


def test_untied_items_reach_the_shares():
    items = [item(f"i{n}", family=f"f{n}") for n in range(100)]
    out = consolidate.Split(shares={"train": 0.7, "test": 0.3}).gather(items).items
    assert Counter(i.fields["split"] for i in out) == {"train": 70, "test": 30}


def test_every_language_has_its_own_shares():
    """One knot of a language does not push all of another into the other split."""
    items = [item(f"e{n}", language="en", family="f") for n in range(50)]
    items += [item(f"z{n}", language="zh", family=f"f{n}") for n in range(10)]
    out = consolidate.Split(shares={"train": 0.5, "test": 0.5}).gather(items).items
    found = Counter((i.fields["language"], i.fields["split"]) for i in out)
    assert found == {("en", "train"): 50, ("zh", "train"): 5, ("zh", "test"): 5}


def test_a_leak_that_an_edit_brings_is_found():
    items = [item("a", family="f", split="train"), item("b", family="f", split="test")]
    (leak,) = consolidate.leaks(items)
    assert leak.tie == "family f"
    assert leak.splits == ("test", "train")
    assert leak.items == ("a", "b")


@pytest.mark.parametrize("shares", [{}, {"a": 0.5}, {"a": 1.5, "b": -0.5}])
def test_shares_must_sum_to_one(shares):
    with pytest.raises(UsageError, match="FB851"):
        consolidate.Split(shares=shares)


def test_a_label_needs_an_item():
    with pytest.raises(UsageError, match="FB851"):
        consolidate.Balance(per_label=0)


def test_how_many_are_kept_is_known_from_seeds_with_labels():
    seeds = [item(f"a{i}", label="one") for i in range(5)] + [item("b", label="two")]
    assert consolidate.Balance(per_label=3).at_most(seeds) == 4
    assert consolidate.Balance().at_most(seeds) is None
    assert consolidate.Balance(per_label=3).at_most([*seeds, item("call")]) is None
