import pytest

from floorbench.errors import DataError
from floorbench.formats import convert, read

GRID = """"ooTextFile" "TextGrid" 0 5.00005 <exists> 3
"IntervalTier" "ann" 0 5.00005 3 0 1 "" 1 2.00005 "well
then" 2.00005 5.00005 ""
"TextTier" "marks" 0 5.00005 1 1.5 "peak"
"IntervalTier" "none" 0 5.00005 1 0 5.00005 ""
"""


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "call.TextGrid"
    path.write_text(GRID, encoding="utf-8")
    return path


def test_losses_name_what_and_where(grid, tmp_path):
    report = convert(grid, tmp_path / "call.rttm")
    assert report.warnings == ()
    assert {str(loss) for loss in report.losses} == {
        "tier 'ann': texts not written",
        "tier 'marks': texts not written",
        "tier 'marks': points written as intervals of length 0",
        "tier 'none': not written: it has no entries",
        "no recording named; 'call' written (2 tiers)",
        "no channel named; '1' written (2 tiers)",
        "the media's duration not written",
    }
    text = (tmp_path / "call.rttm").read_text(encoding="utf-8")
    assert text == (
        "SPEAKER call 1 1 1.00005 <NA> <NA> ann <NA> <NA>\n"
        "SPEAKER call 1 1.5 0.0 <NA> <NA> marks <NA> <NA>\n"
    )


def test_rounding_is_reported(grid, tmp_path):
    report = convert(grid, tmp_path / "call.eaf")
    assert "tier 'ann': times rounded to 3 decimals" in {str(loss) for loss in report.losses}
    assert str(read(tmp_path / "call.eaf").tiers[0].entries[0].end) == "2.000"


def test_silence_does_not_become_speech(grid, tmp_path):
    convert(grid, tmp_path / "call.stm")
    assert [len(t.entries) for t in read(tmp_path / "call.stm").tiers] == [1, 1]


def test_speech_without_text_does_not_become_silence(tmp_path):
    rttm = tmp_path / "call.rttm"
    rttm.write_text("SPEAKER c 1 1 1 <NA> <NA> a <NA> <NA>\n", encoding="utf-8")
    report = convert(rttm, tmp_path / "call.TextGrid")
    assert "tier 'a': entries without text labelled 'speech'" in map(str, report.losses)
    assert [e.text for e in read(tmp_path / "call.TextGrid").tiers[0].entries] == ["speech"]


def test_overlaps_move_to_a_tier_of_their_own(tmp_path):
    rttm = tmp_path / "call.rttm"
    rttm.write_text(
        "SPEAKER c 1 0 3 <NA> <NA> a <NA>\nSPEAKER c 1 1 1 <NA> <NA> a <NA>\n"
        "SPEAKER c 1 4 0 <NA> <NA> a <NA>\n",
        encoding="utf-8",
    )
    convert(rttm, tmp_path / "call.TextGrid")
    tiers = read(tmp_path / "call.TextGrid", strict=True).tiers
    assert [(t.name, t.kind, len(t.entries)) for t in tiers] == [
        ("a", "interval", 1),
        ("a (2)", "interval", 1),
        ("a (points)", "point", 1),
    ]


def test_untimed_words_are_counted_not_placed(tmp_path):
    words = tmp_path / "call.words.json"
    words.write_text('[{"word": "a", "start": 0, "end": 1}, {"word": "b"}]', encoding="utf-8")
    report = convert(words, tmp_path / "call.ctm")
    assert "tier 'words': untimed entries not written" in map(str, report.losses)
    assert len(read(tmp_path / "call.ctm").tiers[0].entries) == 1


def test_strict_refuses_losses_and_writes_nothing(grid, tmp_path):
    with pytest.raises(DataError) as caught:
        convert(grid, tmp_path / "call.rttm", strict=True)
    assert caught.value.code == "FB708"
    assert "and " in caught.value.what
    assert not (tmp_path / "call.rttm").exists()


def test_strict_refuses_a_faulty_source(tmp_path):
    (tmp_path / "a.stm").write_text("c 1 a 0 1 x\nc 1 a 2 1 y\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"a\.stm:2"):
        convert(tmp_path / "a.stm", tmp_path / "b.stm", strict=True)
    report = convert(tmp_path / "a.stm", tmp_path / "b.stm")
    assert [notice.line for notice in report.warnings] == [2]


def test_in_place_and_lossless(grid):
    before = read(grid)
    report = convert(grid, grid, strict=True)
    assert report.losses == ()
    assert read(grid).tiers == before.tiers


def test_recordings_on_one_clock_are_told_apart_by_name(tmp_path):
    rttm = tmp_path / "call.rttm"
    rttm.write_text(
        "SPEAKER one 1 0 3 <NA> <NA> a <NA>\nSPEAKER two 1 1 1 <NA> <NA> a <NA>\n",
        encoding="utf-8",
    )
    report = convert(rttm, tmp_path / "call.words.json")
    assert [t.name for t in read(tmp_path / "call.words.json").tiers] == ["one a", "two a"]
    assert "recordings mixed on one clock (2 tiers)" in map(str, report.losses)
