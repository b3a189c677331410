import os
import stat
from decimal import Decimal
from pathlib import Path

import pytest

from floorbench.errors import DataError
from floorbench.formats import FORMATS, Document, Entry, Tier, detect, read, write

ONE = Document(
    tiers=(Tier(name="A", entries=(Entry(start=Decimal(1), end=Decimal(2), text="hi"),)),)
)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_content_tells_the_format_where_the_name_does_not(name, golden_bytes, tmp_path):
    path = tmp_path / "mystery.dat"
    path.write_bytes(golden_bytes[name])
    assert detect(path) == name


@pytest.mark.parametrize(
    ("file_name", "text", "name"),
    [
        ("a.RTTM", "", "rttm"),
        ("a.TextGrid", "", "textgrid"),
        ("a.stm", "r 1 0 1 word", "stm"),
        ("a.rttm", "WEBVTT\n\n", "vtt"),
        ("a.eaf", "\ufeff@UTF8\n", "chat"),
        ("a.json", '[{"start": 1, "word": "a"}]', "words"),
        ("a.json", '[{"session_id": "a"}]', "seglst"),
        ("a.txt", "1\t2\n", "audacity"),
        ("a.csv", "speaker,word,start,end\n", "table"),
        ("a.csv", '"Start Time";"Word";"End"\n', "table"),
        ("a.tsv", "onset\toffset\tTEXT\n", "table"),
        ("a.text", "sw2001A-ms98-a-0001 0 1 [silence]\n", "ms98"),
        ("a.txt", ";; note\nr 1 0 1\n", "uem"),
    ],
)
def test_detect(file_name, text, name, tmp_path):
    (tmp_path / file_name).write_text(text, encoding="utf-8")
    assert detect(tmp_path / file_name) == name


def test_detect_reads_utf16_heads_cut_inside_a_character(tmp_path):
    path = tmp_path / "a.dat"
    path.write_bytes(("@UTF8\n" + "\U0001f600" * 5000).encode("utf-16"))
    assert detect(path) == "chat"
    path.write_bytes(("@UTF8\n" + "x" + "é" * 5000).encode())
    assert detect(path) == "chat"


@pytest.mark.parametrize("data", [b"", b"some prose\n", b"\x89PNG\r\n\x1a\n\0\0\0"])
def test_unknown_content_is_refused(data, tmp_path):
    (tmp_path / "a.dat").write_bytes(data)
    with pytest.raises(DataError) as caught:
        detect(tmp_path / "a.dat")
    assert caught.value.code in ("FB701", "FB702")


def test_write_takes_the_format_from_the_name_and_leaves_nothing_else(tmp_path):
    assert write(ONE, tmp_path / "a.srt") != []
    assert [p.name for p in tmp_path.iterdir()] == ["a.srt"]
    assert stat.S_IMODE((tmp_path / "a.srt").stat().st_mode) & 0o600 == 0o600
    with pytest.raises(DataError, match="FB701"):
        write(ONE, tmp_path / "a.docx")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.srt"
    path.write_text("old", encoding="utf-8")

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="No space left"):
        write(ONE, path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.srt"]


def test_writing_into_a_missing_folder_is_one_error(tmp_path):
    with pytest.raises(DataError, match="FB709"):
        write(ONE, tmp_path / "none" / "a.srt")


def test_reading_the_same_clock_in_every_encoding(tmp_path):
    text = "1\n00:00:01,000 --> 00:00:02,000\nété 中\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        path = Path(tmp_path) / "a.srt"
        path.write_bytes(text.encode(encoding))
        assert read(path, strict=True).tiers[0].entries[0].text == "été 中", encoding


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("seglst", '[{"session_id": "a", "speaker": "b", "words": "c", "words": "d"}]'),
        ("words", '[{"word": "a", "start": 1, "start": 2, "end": 3}]'),
        ("words", '{"words": [{"word": "a", "start": 1, "end": 3, "\\u0065nd": 3}]}'),
    ],
)
def test_a_key_that_stands_twice_in_one_object_is_refused(name, text, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"FB703 .*a\.json: the key '\w+' stands twice"):
        read(path, format=name)
