import os
from pathlib import Path

import pytest

from floorbench.datasets.layout import (
    LOCK,
    OWN,
    AudioPaths,
    data_files,
    files_below,
    find_root,
    jsonl_files,
)
from floorbench.errors import DataError, Place
from floorbench.run import store
from floorbench.web import listen_store, review_store

WHERE = Place("x.jsonl", 3)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "set/audios/EN/System_Idle").mkdir(parents=True)
    (tmp_path / "set/audios/EN/System_Idle/a.wav").write_bytes(b"")
    (tmp_path / "secret.wav").write_bytes(b"")
    return tmp_path / "set"


@pytest.mark.parametrize(
    "written",
    [
        "audios/EN/System_Idle/a.wav",
        "./audios/EN/System_Idle/a.wav",
        "audios\\EN\\System_Idle\\a.wav",
        "Benchmark_Datasets/audios/EN/System_Idle/a.wav",
        "/home/someone/Benchmark_Datasets/audios/EN/System_Idle/a.wav",
        "Audios/en/SystemIdle/a.wav",
        "audios/EN/../EN/System_Idle/a.wav",
    ],
)
def test_written_paths_lead_to_the_file(root: Path, written: str) -> None:
    assert AudioPaths(root).relative(written, WHERE) == "audios/EN/System_Idle/a.wav"


@pytest.mark.parametrize("written", ["../secret.wav", "/etc/x.wav", "a/../../x.wav", "C:/x/y.wav"])
def test_paths_that_leave_are_errors_with_the_line(root: Path, written: str) -> None:
    with pytest.raises(DataError, match=r"FB308 x\.jsonl:3: audio "):
        AudioPaths(root).relative(written, WHERE)


def test_links_that_leave_are_errors(root: Path) -> None:
    (root / "audios/link.wav").symlink_to(root.parent / "secret.wav")
    (root / "out").symlink_to(root.parent, target_is_directory=True)
    for written in ("audios/link.wav", "out/secret.wav"):
        with pytest.raises(DataError, match="FB308"):
            AudioPaths(root).relative(written, WHERE)


def test_a_file_that_is_not_there_keeps_its_path(root: Path) -> None:
    paths = AudioPaths(root)
    assert paths.relative("audios/EN/systemidle/b.wav", WHERE) == "audios/EN/System_Idle/b.wav"
    assert paths.relative("other/b.wav", WHERE) == "other/b.wav"
    assert paths.relative("b.wav", WHERE) == "b.wav"


def test_files_come_sorted_and_from_jsonls_only(root: Path) -> None:
    for name in ("jsonls/b.jsonl", "jsonls/a.jsonl", "notes.jsonl"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("")
    assert [p.name for p in jsonl_files(root)] == ["a.jsonl", "b.jsonl"]
    assert find_root(root / "jsonls") == root
    assert find_root(root / "notes.jsonl") == root


def test_nothing_is_left_out_because_it_cannot_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.JSONL").touch()
    (tmp_path / "a" / "x.txt").touch()
    assert files_below(tmp_path, (".jsonl",)) == [tmp_path / "a" / "x.JSONL"]
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("a"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(DataError, match=r"FB402 .*a: cannot be listed: Permission denied"):
        files_below(tmp_path, (".jsonl",))


def test_a_file_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.wav")).touch()
    with pytest.raises(DataError, match=r"FB402 the file name '.*\\udcff.wav' is no text"):
        files_below(tmp_path, (".wav",))


def test_a_null_character_in_an_audio_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"FB308 f:1: audio .* null character"):
        AudioPaths(tmp_path).relative("audios/a\0b.wav", Place("f", 1))


def test_the_names_are_those_of_the_rooms_that_write_them() -> None:
    assert OWN == {
        store.RUN_FILE: store.JOURNAL_FILE,
        review_store.PLAN: review_store.PEOPLE,
        listen_store.SESSION: listen_store.PEOPLE,
    }
    assert LOCK == store.LOCK_FILE


@pytest.mark.parametrize(
    ("names", "own"),
    [
        (("run.json", "predictions.jsonl"), True),
        (("run.json", ".lock"), True),  # just begun
        (("plan.json", "reviewers/p01/log.jsonl"), True),
        (("session.json", "participants/p01/log.jsonl"), True),
        (("run.json",), False),  # a name alone is anybody's
        (("predictions.jsonl", ".lock"), False),
        (("plan.json", "participants/log.jsonl"), False),
    ],
)
def test_runs_reviews_and_sessions_are_no_data(
    tmp_path: Path, names: tuple[str, ...], own: bool
) -> None:
    (tmp_path / "a.json").touch()
    for name in (*names, "deeper/b.json"):
        path = tmp_path / "runs" / "x" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for found in (files_below(tmp_path, (".json", ".jsonl")), data_files(tmp_path)):
        assert (found == [tmp_path / "a.json"]) == own
        assert tmp_path / "a.json" in found
