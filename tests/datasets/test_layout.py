from pathlib import Path

import pytest

from floorbench.datasets.layout import AudioPaths, find_root, jsonl_files
from floorbench.errors import DataError, Place

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
