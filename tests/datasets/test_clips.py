from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.core.vocab import Role
from floorbench.datasets.clips import ClipsSource
from floorbench.datasets.open import open_dataset
from floorbench.errors import DataError
from support import codett_tiny as tiny


def touch(root: Path, *names: str) -> None:
    for name in names:
        tiny.tone(root / name, hertz=300, rate=24_000)


def test_named_files(tmp_path: Path) -> None:
    touch(tmp_path, "complete_real_1.wav", "wait_synthetic_1.wav", "incomplete_2.wav")
    samples = list(ClipsSource(tmp_path, language="zh").samples())
    assert [(s.id, s.target["label"], s.tags["source"]) for s in samples] == [
        ("complete_real_1.wav", "complete", "real"),
        ("incomplete_2.wav", "incomplete", "unknown"),
        ("wait_synthetic_1.wav", "wait", "syn"),
    ]
    assert samples[0].observation.channels[Role.USER].rate == 24_000
    assert samples[0].observation.language == "zh"
    assert len({s.cluster for s in samples}) == 3


def test_a_folder_per_label(tmp_path: Path) -> None:
    touch(tmp_path, "Complete/real/x.wav", "incomplete/syn/y.wav", "backchannel/z.flac")
    found = [(s.target["label"], s.tags["source"]) for s in ClipsSource(tmp_path).samples()]
    assert found == [("complete", "real"), ("backchannel", "unknown"), ("incomplete", "syn")]


def test_a_table(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav", "b.wav")
    (tmp_path / "labels.tsv").write_text(
        "path\tlabel\ttext\tlanguage\tcluster\na.wav\tfinished\t10:30见\tZH\tspk1\n"
        "b.wav\twait\t\ten\tspk1\n",
        encoding="utf-8",
    )
    source = ClipsSource(tmp_path)
    first, second = source.samples()
    assert (first.target["label"], first.observation.text, first.tags["language"]) == (
        "complete", "10:30见", "zh",
    )  # fmt: skip
    assert second.observation.text == ""
    assert first.cluster == second.cluster
    assert first.stratum == second.stratum == "complete x unknown + wait x unknown"
    assert ClipsSource(tmp_path / "labels.tsv").describe()["samples"] == 2


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("file,label\na.wav,complete\n", r"FB217 labels\.csv:1: no column 'path'"),
        ("path,label\na.wav\n", r"FB217 labels\.csv:2"),
        ("path,label\na.wav,wait,x\n", r"FB217 labels\.csv:2"),
        ("path,label\na.wav,wait\na.wav,wait\n", r"FB217 labels\.csv:3: clip .* stands twice"),
        ("path,label\na.wav,complet\n", r"(?s)FB213 labels\.csv:2.*did you mean 'complete'"),
        ("path,label\n../a.wav,wait\n", r"FB308 labels\.csv:2"),
        ("path,label\n", "FB211"),
    ],
)  # fmt: skip
def test_table_faults_name_the_line(tmp_path: Path, table: str, message: str) -> None:
    (tmp_path / "labels.csv").write_text(table)
    with pytest.raises(DataError, match=message):
        ClipsSource(tmp_path)


def test_an_unlabelled_clip_among_labelled_ones_is_an_error(tmp_path: Path) -> None:
    touch(tmp_path, "complete_1.wav", "what_1.wav")
    assert ClipsSource.detect(tmp_path)
    with pytest.raises(DataError, match=r"FB213 what_1\.wav"):
        ClipsSource(tmp_path)


def test_detection(tmp_path: Path) -> None:
    assert not ClipsSource.detect(tmp_path)
    touch(tmp_path, "x.wav")
    assert not ClipsSource.detect(tmp_path)
    assert not ClipsSource.detect(tmp_path / "x.wav")


def test_digest_covers_labels_and_audio(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav")
    digests = set()
    for label, hertz in (("wait", 300), ("complete", 300), ("complete", 400)):
        tiny.tone(tmp_path / "a.wav", hertz=hertz, seconds=hertz / 1000)
        (tmp_path / "labels.csv").write_text(f"path,label\na.wav,{label}\n")
        digests.add(ClipsSource(tmp_path, cache=tmp_path / "c").digest())
    assert len(digests) == 3


def test_real_clips(real_data: Path) -> None:
    source = ClipsSource(real_data / "easy_turn_clips", language="zh")
    samples = list(source.samples())
    assert Counter(s.target["label"] for s in samples) == dict.fromkeys(
        ("backchannel", "complete", "incomplete", "wait"), 2
    )
    assert all(s.observation.channels[Role.USER].frames for s in samples)


def test_no_kind_of_audio_is_left_out_silently(tmp_path: Path) -> None:
    (tmp_path / "complete").mkdir()
    for suffix in ("opus", "oga", "m4a", "aiff"):
        (tmp_path / "complete" / f"x.{suffix}").touch()
    assert len(ClipsSource(tmp_path).clips) == 4


def test_a_misspelt_label_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "compelte").mkdir()
    (tmp_path / "compelte" / "x.wav").touch()
    with pytest.raises(DataError, match=r"'compelte' is not a clip label\nhint: .*'complete'"):
        ClipsSource(tmp_path)


def test_a_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.tsv").write_text("path\tpath\tlabel\na.wav\tb.wav\tcomplete\n")
    with pytest.raises(DataError, match=r"FB217 labels.tsv:1: column 'path' stands twice"):
        ClipsSource(tmp_path)


def test_a_channel_is_chosen_and_kept(tmp_path: Path) -> None:
    t = np.arange(1600) / 16_000
    both = np.stack([0.1 * np.sin(2000 * t), 0.4 * np.sin(3000 * t)], axis=1)
    soundfile.write(tmp_path / "wait_1.wav", both, 16_000)
    silent = ClipsSource(tmp_path)
    audio = next(silent.samples()).observation.channels[Role.USER]
    with pytest.raises(DataError, match="FB306"):
        audio.read()
    assert "channel" not in silent.locator()
    second = ClipsSource(tmp_path, channel=1)
    heard = next(second.samples()).observation.channels[Role.USER]
    np.testing.assert_allclose(heard.read(), both[:, 1], atol=1e-4)
    again = open_dataset(second.locator())
    assert again.locator()["channel"] == 1
    assert again.digest() == second.digest()
    assert second.digest() != ClipsSource(tmp_path, channel=0).digest()


def test_a_table_may_say_where_the_last_word_ends(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav", "b.wav")
    table = tmp_path / "labels.tsv"
    table.write_text("path\tlabel\na.wav\tcomplete\nb.wav\tcomplete\n")
    plain = ClipsSource(tmp_path).digest()
    table.write_text("path\tlabel\tend\na.wav\tcomplete\t1.25\nb.wav\tcomplete\t\n")
    source = ClipsSource(tmp_path)
    assert [s.target.get("end") for s in source.samples()] == [1.25, None]
    assert source.digest() != plain
    table.write_text("path\tlabel\tend\na.wav\tcomplete\t\nb.wav\tcomplete\t\n")
    assert ClipsSource(tmp_path).digest() == plain


@pytest.mark.parametrize("end", ["-1", "soon", "nan", "inf", "1_0"])
def test_an_end_that_is_no_time_is_refused(tmp_path: Path, end: str) -> None:
    touch(tmp_path, "a.wav")
    (tmp_path / "labels.tsv").write_text(f"path\tlabel\tend\na.wav\tcomplete\t{end}\n")
    with pytest.raises(DataError, match=r"FB217 .*no time in seconds"):
        ClipsSource(tmp_path)
