from pathlib import Path

import pytest

from floorbench.datasets import open as opening
from floorbench.datasets.clips import ClipsSource
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.open import open_dataset, starter
from floorbench.errors import DataError, UsageError
from support import codett_tiny as tiny


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
