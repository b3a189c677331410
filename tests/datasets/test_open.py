from pathlib import Path

import pytest

from floorbench.datasets import open as opening
from floorbench.datasets.clips import ClipsSource
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.open import open_dataset, starter
from floorbench.errors import DataError, UsageError
from support import codett_tiny as tiny
from support import echo_tiny, frame_rows, trp_tiny, two_channel_tiny


def test_the_reader_is_found_by_looking(tmp_path: Path) -> None:
    tiny.build(tmp_path / "release", audio=False)
    tiny.tone(tmp_path / "clips/complete_1.wav", hertz=300)
    assert isinstance(open_dataset(tmp_path / "release"), CodettSource)
    assert isinstance(open_dataset(str(tmp_path / "clips")), ClipsSource)


def test_a_locator_opens_the_same_data(tmp_path: Path) -> None:
    tiny.tone(tmp_path / "complete_1.wav", hertz=300)
    source = open_dataset(tmp_path, reader="clips", language="zh")
    again = open_dataset(source.locator())
    assert [s.observation.language for s in again.samples()] == ["zh"]
    with pytest.raises(DataError, match="FB211"):
        open_dataset({"path": "x"})


def test_faults_come_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"FB211.*no reader knows this"):
        open_dataset(tmp_path / "empty")
    with pytest.raises(DataError, match=r"did you mean '.*empty'"):
        open_dataset(tmp_path / "emty")
    with pytest.raises(DataError, match="no such file"):
        open_dataset("a" * 5000)
    with pytest.raises(DataError, match="no such file"):
        open_dataset(tmp_path / "far" / "away")
    with pytest.raises(UsageError, match="did you mean 'codett'"):
        open_dataset(tmp_path / "empty", reader="codet")


def test_two_readers_that_claim_the_same_are_named(tmp_path: Path) -> None:
    tiny.build(tmp_path, audio=False)
    (tmp_path / "labels.csv").write_text("path,label\n")
    with pytest.raises(DataError, match="the readers clips, codett all claim this"):
        open_dataset(tmp_path)


def test_starter_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "STARTER", tmp_path)
    tiny.build(tmp_path / "codett", audio=False)
    assert isinstance(starter("codett"), CodettSource)
    source = open_dataset("starter:codett")
    assert source.describe()["samples"] == 28
    assert source.locator()["path"] == "starter:codett"
    assert isinstance(open_dataset(source.locator()), CodettSource)
    with pytest.raises(UsageError, match="did you mean 'codett'"):
        starter("codet")


def test_a_misspelt_reader_is_named_even_where_it_is_not_needed() -> None:
    with pytest.raises(UsageError, match="FB101 there is no dataset 'clip'"):
        open_dataset("starter:codett", reader="clip")


@pytest.mark.parametrize("odd", [{"bogus": 1}, {"language": 5}])
def test_a_locator_that_the_reader_cannot_use_is_a_fault_of_the_data(
    tmp_path: Path, odd: dict[str, object]
) -> None:
    with pytest.raises(DataError, match=r"FB211 .*the reader 'clips' cannot use this locator"):
        open_dataset({"reader": "clips", "path": str(tmp_path), **odd})


def test_a_locator_chooses_no_folder_to_write_to(tmp_path: Path) -> None:
    evil = {"reader": "clips", "path": str(tmp_path), "cache": str(tmp_path / "evil")}
    with pytest.raises(DataError, match=r"FB211 .*names no cache folder"):
        open_dataset(evil)


def clips(folder: Path) -> None:
    for name, hertz in (("complete_1", 300.0), ("incomplete_2", 500.0)):
        tiny.tone(folder / f"{name}.wav", hertz=hertz)


def loose_dialogues(folder: Path) -> None:
    tiny.build(folder, languages=["EN"], history=1)
    (folder / "jsonls").rename(folder / "texts")  # the release keeps them apart, in `jsonls`


def talk(folder: Path) -> None:
    sides = {"A": [(1.0, 3.0, "x")], "B": [(4.0, 5.0, "y")]}
    two_channel_tiny.stereo(folder / "talk.wav", sides, seconds=8.0)
    rows = ("1.00 2.00 <NA> <NA> ann", "4.00 1.00 <NA> <NA> bob")
    text = "".join(f"SPEAKER talk 1 {row} <NA> <NA>\n" for row in rows)
    (folder / "talk.rttm").write_text(text)


LAID_OUT = {
    "clips": clips,
    "codett": loose_dialogues,
    "echo": echo_tiny.build,
    "trp": trp_tiny.build,
    "swb-ms98": two_channel_tiny.build,
    "two-channel": talk,
    "dualturn-rows": lambda folder: frame_rows.write(folder / "a.parquet", [frame_rows.row("s")]),
}


@pytest.mark.parametrize("reader", LAID_OUT)
def test_runs_reviews_and_sessions_in_the_folder_are_no_part_of_the_data(
    reader: str, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    LAID_OUT[reader](folder)
    before = open_dataset(folder)
    assert before.locator()["reader"] == reader
    for name in (
        *("runs/t/s/r/run.json", "runs/t/s/r/predictions.jsonl", "runs/t/s/r/estimates.json"),
        *("runs/t/s/r/predictions.parquet", "runs/t/s/r/traces/a.json", "runs/t/s/r/.lock"),
        *("reviews/set/plan.json", "reviews/set/reviewers/p/log.jsonl"),
        *("listening/set/session.json", "listening/set/participants/p01/log.jsonl"),
        *("listening/set/participants/p01/audio/complete_3.wav", "listening/set/.lock"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    after = open_dataset(folder)
    assert after.locator() == before.locator()
    assert after.digest() == before.digest()
    assert [s.id for s in after.samples()] == [s.id for s in before.samples()]
