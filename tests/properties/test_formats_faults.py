# ruff: noqa: E501
"""Bad input: tolerant reading says what and where, strict reading refuses, nothing hangs."""

import re

import pytest

from floorbench.errors import DataError, FloorbenchError, UsageError
from floorbench.formats import FORMATS, read

TEXTGRID = '"ooTextFile"\n"TextGrid"\n0\n9\n<exists>\n1\n"IntervalTier"\n"A"\n0\n9\n'
EAF = (
    '<?xml version="1.0"?>\n<ANNOTATION_DOCUMENT>\n<HEADER TIME_UNITS="milliseconds"/>\n'
    '<TIME_ORDER>\n<TIME_SLOT TIME_SLOT_ID="a" TIME_VALUE="{a}"/>\n'
    '<TIME_SLOT TIME_SLOT_ID="b" TIME_VALUE="{b}"/>\n</TIME_ORDER>\n'
    '<TIER TIER_ID="A">\n<ANNOTATION>\n'
    '<ALIGNABLE_ANNOTATION ANNOTATION_ID="x" TIME_SLOT_REF1="a" TIME_SLOT_REF2="b">\n'
    "<ANNOTATION_VALUE>w</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION>\n</ANNOTATION>\n</TIER>\n"
    '<TIER TIER_ID="{name}"/>\n</ANNOTATION_DOCUMENT>\n'
)
CHAT = "@UTF8\n@Begin\n@Participants:\tA A Participant\n{}@End\n"

# name, text, line of the fault, words of the message, entries that are still read
TOLERATED = [
    ("rttm", "SPEAKER r 1 0 1 <NA> <NA> a <NA>\nSPEAKER r 1 0 -1 <NA> <NA> a <NA>\n", 2, "lies before", 1),
    ("rttm", "SPEAKER r 1 nan 1 <NA> <NA> a <NA>\nSPEAKER r 1 0 1 <NA> <NA> a <NA>\n", 1, "'nan'", 1),
    ("rttm", "SPEAKER r 1 0 2 <NA> <NA> a <NA>\nSPEAKER r 1 1 2 <NA> <NA> a <NA>\n", 2, "1 overlapping entry", 2),
    ("rttm", "SPEAKER r 1 0 2 <NA> <NA> a <NA>\nSPEAKER r 1 1\n", 2, "4 columns", 1),
    ("ctm", "r 1 0 1 a\nr 1 * * <ALT_BEGIN>\n", 2, "'*'", 1),
    ("ctm", "r 1 0 1 a\nr 1 1e99 1 b\n", 2, "out of range", 1),
    ("ctm", "r 1 0 1 a\nr 1 1e999999999 1 b\n", 2, "not a finite decimal", 1),
    ("ctm", "r 1 0 1 a\nr 1 ١ 1 b\n", 2, "not a finite decimal", 1),
    ("stm", "r 1 a 0 1 x\nr 1 a 3 2 y\n", 2, "lies before", 1),
    ("uem", "r 1 0 1\nr 1 inf 2\n", 2, "'inf'", 1),
    ("uem", "r 1 0 1\nr 1 5\n", 2, "3 columns", 1),
    ("audacity", "0\t1\ta\n1,5\t2\tb\n", 2, "'1,5'", 1),
    ("audacity", "\\\t1\t2\n0\t1\ta\n", 1, "without a label", 1),
    ("table", "word,start,end\n\na,0,1\nb,1.2.3,2\n", 4, "'1.2.3'", 1),
    ("table", "word,start,end\na,0,1\nb,1\n", 3, "2 cells, 3 columns", 1),
    ("table", "word,start,end\na,0,1\nb,2,1\n", 3, "lies before", 1),
    ("ms98", "s-ms98-a-0001 0 1 a\ns-ms98-a-0001 2 3 b\n", 2, "starts at 2", 2),
    ("ms98", "s-ms98-a-0001 0 1 a\ns-ms98-a-0001 1 2\n", 2, "3 columns", 1),
    ("ms98", "s-ms98-a-0001 0 1 a\nt-ms98-a-0001 1 2 b\n", None, "2 call sides", 2),
    ("seglst", '[{"session_id":"r","speaker":"a","words":"x"},{"speaker":"a"}]', None, "segment 2: no 'session_id'", 1),
    ("seglst", '[{"session_id":"r","speaker":"a","words":"x"},{"session_id":"r","speaker":"a","words":"y","start_time":[1]}]', None, "segment 2: time", 1),
    ("words", '[{"word":"a"},{"word":7}]', None, "word 2: 'word' is not a string", 1),
    ("words", '[{"word":"a"},{"word":"b\\u0000"}]', None, "NUL", 1),
    ("words", '[{"word":"a"},{"word":"\\ud800"}]', None, "surrogate", 1),
    ("words", '[{"word":"a"},{"word":"b","start":"soon"}]', None, "word 2: time 'soon'", 1),
    ("words", '[{"word":"a"},{"word":"b","start":2,"end":1}]', None, "lies before", 1),
    ("words", '{"segments":[{"words":[{"word":"a"}]},{"text":"b"}]}', None, "segment 2 has no list", 1),
    ("srt", "1\n00:00:01,000 --> 00:00:02,000\na\n\n2\n00:00:09,000 --> 00:00:03,000\nb\n", 6, "lies before", 1),
    ("srt", "1\n00:00:01,000 --> 00:00:02,000\na\n\nstray\n", 5, "without a timing line", 1),
    ("srt", "x\n00:00:01,000 --> 00:00:02,000\na\n", 1, "cue number", 1),
    ("srt", "1\n00:00:01,000 --> 00:00:02,000\na\n\n2\n00:61:00,000 --> 01:02:00,000\nb\n", 6, "more than 59", 1),
    ("vtt", "WEBVTT\n\n00:01.000 --> later\na\n\n00:02.000 --> 00:03.000\nb\n", 3, "'later'", 1),
    ("vtt", "WEBVTT\n\n00:01.000 -->\na\n\n00:02.000 --> 00:03.000\nb\n", 3, "not of the form", 1),
    ("vtt", "WEBVTT\n\nno times\n\n00:02.000 --> 00:03.000\nb\n", 3, "without a timing line", 1),
    ("vtt", "WEBVTT\n00:02.000 --> 00:03.000\nb\n", 2, "no blank line", 1),
    ("vtt", "WEBVTT\n\n00:02.000 --> 00:02.000\nb\n", 3, "without length", 1),
    ("textgrid", TEXTGRID + '3\n0\n2\n"a"\n1\n3\n"b"\n3\n9\n""\n', 15, "1 overlapping entry", 2),
    ("textgrid", TEXTGRID + '3\n0\n2\n"a"\n2\n1\n"b"\n2\n9\n""\n', 15, "lies before", 1),
    ("textgrid", TEXTGRID + '2\n0\n2\n"a"\n3\n9\n"b"\n', 15, "nothing between 2 and 3", 2),
    ("textgrid", TEXTGRID + '1\n0\n9\n"a"\n7\n', 15, "more follows", 1),
    ("textgrid", TEXTGRID.replace("\n1\n", "\n2\n") + '1\n0\n9\n"a"\n"TextTier"\n"A"\n0\n9\n0\n', None, "two tiers are named 'A'", 1),
    ("eaf", EAF.format(a="0", b="ten", name="B"), 6, "whole number of milliseconds", 1),
    ("eaf", EAF.format(a="5", b="2", name="B"), 10, "lies before", 0),
    ("eaf", EAF.format(a="5", b="9", name="A"), 14, "two tiers are named 'A'", 1),
    ("eaf", EAF.format(a="5", b="9", name="B").replace('REF2="b"', 'REF2="c"'), 10, "time slot that is not there", 0),
    ("eaf", EAF.format(a="5", b="9", name='B" PARENT_REF="B'), 14, "cannot be used", 1),
    ("eaf", EAF.format(a="5", b="9", name='B" PARENT_REF="Z'), 14, "cannot be used", 1),
    ("chat", CHAT.format("*A:\tx \x155_3\x15\n*A:\ty\n"), 4, "lies before", 1),
    ("chat", CHAT.format("*A:\tx \x155_\x15\n"), 4, "not of the form", 1),
    ("chat", CHAT.format("%mor:\tx\n*A:\ty\n"), 4, "without an utterance", 1),
    ("chat", CHAT.format("*A:\ty\nplain words\n"), 5, "no header, utterance", 1),
    ("chat", CHAT.format("*A:\ty\n%mor:\ta\n%mor:\tb\n"), 6, "a second %mor", 2),
    ("chat", "@UTF8\n@Begin\n*A:\tx\n", None, "no @End line", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "line", "what", "left"), TOLERATED)
def test_a_fault_is_named_with_its_line_and_refused_when_strict(
    tmp_path, name, text, line, what, left
):
    path = tmp_path / "call"
    path.write_text(text, encoding="utf-8")
    document = read(path, format=name)
    faults = [notice for notice in document.warnings if notice.fault]
    assert [n for n in faults if what in n.what and n.line == line], [str(n) for n in faults]
    assert sum(len(tier.entries) for tier in document.tiers) == left
    with pytest.raises(DataError) as caught:
        read(path, format=name, strict=True)
    assert caught.value.code in ("FB702", "FB703", "FB704", "FB707")
    assert caught.value.where.file == str(path)
    assert caught.value.where.line is not None or line is None


REFUSED = [
    ("textgrid", "", "FB703", "header"),
    ("textgrid", "0 1 2", "FB703", "header"),
    ("textgrid", '"ooTextFile" "Pitch"', "FB703", "header"),
    ("textgrid", TEXTGRID + "2\n0\n1\n", "FB703", "ends where a label"),
    ("textgrid", TEXTGRID + '2\n0\n1\n"a', "FB703", "does not end"),
    ("textgrid", TEXTGRID + '1\n0\nnan\n"a"\n', "FB704", "'nan'"),
    ("textgrid", TEXTGRID + '1\n0\n--undefined--\n"a"\n', "FB704", "undefined"),
    ("textgrid", TEXTGRID + '1\n0\nabc\n"a"\n', "FB703", "where a time should be"),
    ("textgrid", TEXTGRID + "99999999999\n", "FB703", "where a count"),
    ("textgrid", TEXTGRID + "999999999\n", "FB703", "ends where a time"),
    ("textgrid", TEXTGRID.replace("IntervalTier", "SpeechTier") + "0\n", "FB703", "no tier class"),
    ("textgrid", "ooBinaryFile\x08TextGrid\x00", "FB702", "binary TextGrid"),
    ("eaf", "", "FB703", "no element found"),
    ("eaf", "<TRANSCRIPT/>", "FB703", "not ANNOTATION_DOCUMENT"),
    ("eaf", EAF.format(a=1, b=2, name="B")[:300], "FB703", "not well-formed"),
    ("eaf", EAF.replace("milliseconds", "PAL-frames"), "FB703", "PAL-frames"),
    ("eaf", '<?xml version="1.0" encoding="klingon"?><A/>', "FB702", "encoding"),
    ("chat", "", "FB703", "neither @Begin"),
    ("chat", "hello\n", "FB703", "neither @Begin"),
    ("vtt", "", "FB703", "WEBVTT"),
    ("vtt", "00:01.000 --> 00:02.000\nx\n", "FB703", "WEBVTT"),
    ("srt", "no cues here\n", "FB703", "no cue can be read"),
    ("seglst", "", "FB703", "not JSON"),
    ("seglst", '[{"session_id":', "FB703", "not JSON"),
    ("seglst", '{"a": 1}', "FB703", "not a list"),
    ("seglst", "[1, 2]", "FB703", "no segment can be read"),
    ("words", '[{"word": "a", "start": NaN}]', "FB704", "NaN"),
    ("words", '[{"word": "a", "start": -Infinity}]', "FB704", "Infinity"),
    ("words", '{"text": "a"}', "FB703", "neither a list of words"),
    ("words", '[{"start": 1}]', "FB703", "no 'word'"),
    ("words", "[" * 200_000, "FB705", "nested too deep"),
    ("words", f'[{{"word": "a", "start": {"9" * 100_000}}}]', "FB704", "100000 digits"),
    ("ms98", "", "FB703", "no rows"),
    ("ctm", "just some words of prose\nand more\n", "FB703", "no line can be read"),
    ("rttm", "this is not rttm\n", "FB703", "no SPEAKER line"),
    ("rttm", "a\n", "FB703", "no SPEAKER line"),
    ("audacity", "label without times\n", "FB703", "no line can be read"),
    ("table", "", "FB703", "no column for word, start, end; columns: none"),
    ("table", "word,start\na,1\n", "FB703", "no column for end; columns: 'word', 'start'"),
    ("table", "word,start,end,Start\n", "FB703", "column 'start' stands twice"),
    ("table", 'word,start,end\n"a,1,2\n', "FB703", "not a table"),
    ("table", "word,start,end\na,one,2\n", "FB703", "no line can be read"),
]


@pytest.mark.parametrize(("name", "text", "code", "what"), REFUSED)
def test_a_file_that_cannot_be_trusted_is_refused(tmp_path, name, text, code, what):
    path = tmp_path / "call"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(what)) as caught:
        read(path, format=name)
    assert caught.value.code == code
    assert caught.value.where.file == str(path)
    assert "\n" not in caught.value.what


HOSTILE = {
    "NUL bytes": b"SPEAKER r 1 0 1\0\0\0 x\n",
    "random binary": bytes(range(256)) * 40,
    "an ELF header": b"\x7fELF\x02\x01\x01" + bytes(400),
    "half of UTF-16": "\ufeff@UTF8\n@Begin\n".encode("utf-16")[:-1],
    "one line of 10 MB": b"a" * 10_000_000,
    "one quote of 10 MB": b'"ooTextFile" "' + b"a" * 10_000_000,
    "10 MB of quotes": b'"' * 10_000_001,
    "10 MB of digits": b"1" * 10_000_000,
    "10 MB of brackets": b"<" * 10_000_000,
    "10 MB of tags": b"<v " * 3_000_000,
    "a broken surrogate": b"\xff\xfe\x00\xd8\x00\xd8",
}


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_hostile_bytes_give_one_error(tmp_path, name, what):
    path = tmp_path / "call"
    path.write_bytes(HOSTILE[what])
    with pytest.raises(DataError) as caught:
        read(path, format=name)
    assert caught.value.code in ("FB702", "FB703", "FB704", "FB705")
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_truncation_of_a_golden_file_reads_or_fails_cleanly(name, golden_bytes, tmp_path):
    data = golden_bytes[name]
    path = tmp_path / "call"
    for cut in range(0, len(data), 7):
        path.write_bytes(data[:cut])
        try:
            read(path, format=name)
        except FloorbenchError as error:
            assert error.code.startswith("FB7")  # noqa: PT017


def test_wrong_encoding_is_read_with_a_warning_and_refused_when_strict(tmp_path):
    path = tmp_path / "old.labels.txt"
    path.write_bytes("0\t1\tok\n1\t2\tété\n".encode("latin-1"))
    document = read(path)
    assert [e.text for e in document.tiers[0].entries] == ["ok", "été"]
    assert [(n.line, n.fault) for n in document.warnings] == [(2, True)]
    with pytest.raises(DataError, match="not UTF-8"):
        read(path, strict=True)


def test_empty_files_of_line_formats_have_no_entries(tmp_path):
    for name in ("rttm", "ctm", "stm", "uem", "audacity", "srt"):
        path = tmp_path / "call"
        path.write_text("\n", encoding="utf-8")
        document = read(path, format=name, strict=True)
        assert document.tiers == ()
        assert [n.what for n in document.warnings] == ["the file has no entries"]


def test_many_faults_are_counted_not_hoarded(tmp_path):
    path = tmp_path / "call"
    path.write_text("r 1 0 1 a\n" + "bad\n" * 5000, encoding="utf-8")
    warnings = read(path, format="ctm").warnings
    assert len(warnings) == 1001
    assert warnings[-1].what == "and 4000 more"


def test_a_missing_file_a_folder_and_an_unknown_format(tmp_path):
    with pytest.raises(DataError, match="FB709") as caught:
        read(tmp_path / "none.rttm")
    assert "No such file" in caught.value.what
    with pytest.raises(DataError, match="FB709"):
        read(tmp_path)
    with pytest.raises(DataError, match="FB709"):
        read("a\0b.rttm")
    with pytest.raises(UsageError, match="did you mean 'textgrid'"):
        read(__file__, format="textgird")
