"""What the golden files do not show of ELAN files."""

from decimal import Decimal
from pathlib import Path

import pytest

from floorbench.formats import Document, Entry, Tier, read, write

ORIGIN = Path(__file__).parents[1] / "golden" / "formats" / "origin.eaf"


def test_time_origin_and_parts_left_out_are_reported():
    notes = [str(notice) for notice in read(ORIGIN).warnings]
    assert "line 5: TIME_ORIGIN: 1.500 s added to all times" in notes
    assert any("media files have different TIME_ORIGINs: 1.500, 0.020 s" in n for n in notes)
    assert "not read: 1 LICENSE" in notes
    read(ORIGIN, strict=True)


def test_written_slots_without_value_stay_without_value(tmp_path):
    write(read(ORIGIN), tmp_path / "a.eaf")
    text = (tmp_path / "a.eaf").read_text(encoding="utf-8")
    assert text.count("TIME_VALUE") == 6
    assert text.count("<TIME_SLOT ") == 10
    assert "TIME_ORIGIN" not in text


@pytest.mark.parametrize(
    ("start", "end", "kept"),
    [("1", "3", True), ("1", "2.5", False)],
)
def test_a_dependence_that_elan_would_not_show_is_dropped_and_reported(start, end, kept, tmp_path):
    parent = Tier(name="A", entries=(Entry(start=Decimal(1), end=Decimal(3), text="x y"),))
    child = Entry(start=Decimal(start), end=Decimal(end), text="n", parent=0)
    tier = Tier(name="T", parent="A", constraint="Symbolic_Association", entries=(child,))
    losses = write(Document(tiers=(parent, tier)), tmp_path / "a.eaf")
    again = read(tmp_path / "a.eaf").tier("T")
    assert (again.parent == "A") is kept
    assert (again.entries[0].edges) == (Decimal(start), Decimal(end))
    assert [str(loss) for loss in losses] == (
        [] if kept else ["tier 'T': its dependence on tier 'A' not written"]
    )


def test_tiers_with_one_name_are_told_apart(tmp_path):
    losses = write(Document(tiers=(Tier(name="A"), Tier(name="A"))), tmp_path / "a.eaf")
    assert [tier.name for tier in read(tmp_path / "a.eaf", strict=True).tiers] == ["A", "A (2)"]
    assert [str(loss) for loss in losses] == [
        "tier 'A': name written as 'A (2)', since another tier has it"
    ]


def test_broken_chains_and_lost_parents_are_faults(tmp_path):
    text = ORIGIN.read_text(encoding="utf-8")
    path = tmp_path / "a.eaf"
    path.write_text(text.replace('PREVIOUS_ANNOTATION="a6"', ""), encoding="utf-8")
    document = read(path)
    assert [e.text for e in document.tier("parts").entries] == ["second", "first", "only"]
    assert any("not one chain" in n.what for n in document.warnings)
    path.write_text(text.replace('ANNOTATION_REF="a2"', 'ANNOTATION_REF="zz"'), encoding="utf-8")
    document = read(path)
    assert [e.text for e in document.tier("parts").entries] == ["first", "second"]
    assert any("refers to no annotation" in n.what for n in document.warnings)


def test_slots_that_nothing_bounds_stay_untimed(tmp_path):
    text = ORIGIN.read_text(encoding="utf-8").replace(' TIME_VALUE="2600"', "")
    (tmp_path / "a.eaf").write_text(text, encoding="utf-8")
    document = read(tmp_path / "a.eaf")
    assert [e.timed for e in document.tier("A").entries] == [True, False]
    assert [e.timed for e in document.tier("parts").entries] == [True, True, False]


def test_tiers_that_depend_on_each_other_end(tmp_path):
    text = ORIGIN.read_text(encoding="utf-8").replace(
        'PARTICIPANT="Ann" TIER_ID="A"', 'PARENT_REF="pos" TIER_ID="A"'
    )
    (tmp_path / "a.eaf").write_text(text, encoding="utf-8")
    assert any("cannot be used" in n.what for n in read(tmp_path / "a.eaf").warnings)
