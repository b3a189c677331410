from decimal import Decimal

import pytest

from floorbench.core.time import Span
from floorbench.errors import DataError
from floorbench.formats import Document, Entry, Tier
from floorbench.formats.tiers import add, ordered, parse_time, plain, subtract


@pytest.mark.parametrize("text", ["1", "-0.5", "+2.", ".25", "1e3", "0.41156462585", "-0"])
def test_times_are_exact_decimals(text):
    assert parse_time(text) == Decimal(text)
    assert Decimal(plain(parse_time(text))) == Decimal(text)


@pytest.mark.parametrize(
    "text",
    ["", "nan", "inf", "1,5", "1_0", "0x1", "١", "1 ", "1e10", "1e-31", "1e99999", "9" * 65, "--1"],
)
def test_other_times_are_refused(text):
    with pytest.raises(DataError) as caught:
        parse_time(text)
    assert caught.value.code == "FB704"


def test_sums_stay_exact():
    start, length = Decimal("999999999.1"), Decimal("1e-30")
    assert subtract(add(start, length), start) == length
    assert add(Decimal("0.1"), Decimal("0.2")) == Decimal("0.3")


def test_an_entry_hands_out_floats_and_ticks():
    entry = Entry(start=Decimal("0.1"), end=Decimal("0.3000005"))
    assert entry.span == Span(0.1, 0.3000005)
    assert entry.ticks == (100_000, 300_001)
    with pytest.raises(DataError, match="has no times"):
        _ = Entry(start=None, end=Decimal(1)).span


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (Decimal(2), Decimal(1)),
        (Decimal("nan"), None),
        (None, Decimal("inf")),
        (Decimal("1e9999"), None),
    ],
)
def test_bad_entries_are_refused(start, end):
    with pytest.raises(DataError) as caught:
        Entry(start=start, end=end)
    assert caught.value.code == "FB704"


@pytest.mark.parametrize("text", ["a\0", "\ud800"])
def test_texts_that_no_file_can_hold_are_refused(text):
    for make in (
        lambda: Entry(start=None, end=None, text=text),
        lambda: Entry(start=None, end=None, extra={"x": text}),
        lambda: Tier(name=text),
        lambda: Tier(name="a", speaker=text),
        lambda: Document(metadata={text: ""}),
    ):
        with pytest.raises(DataError, match="FB702"):
            make()


def test_points_have_no_length():
    with pytest.raises(DataError, match="a point from 1 to 2"):
        Tier(name="a", kind="point", entries=(Entry(start=Decimal(1), end=Decimal(2)),))


def test_untimed_entries_stay_behind_their_predecessor():
    def entry(text, start=None):
        time = None if start is None else Decimal(start)
        return Entry(start=time, end=time, text=text)

    mixed = [entry("first"), entry("c", 3), entry("after c"), entry("a", 1), entry("after a")]
    assert [e.text for e in ordered(mixed)] == ["first", "a", "after a", "c", "after c"]
    assert ordered(ordered(mixed)) == ordered(mixed)


def test_documents_find_tiers_by_name():
    document = Document(tiers=(Tier(name="a"), Tier(name="b", speaker="x"), Tier(name="b")))
    assert document.tier("b").speaker == "x"
    with pytest.raises(KeyError):
        document.tier("c")
