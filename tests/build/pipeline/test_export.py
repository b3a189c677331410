from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.audio.containers import check_complete
from floorbench.build.pipeline.export import (
    check_target,
    encoded,
    exporting,
    restore,
    same_serial,
)
from floorbench.build.pipeline.record import BUILD_FILE
from floorbench.build.pipeline.store import Folder, SoundStore
from floorbench.errors import DataError, EnvironmentProblem

RATE = 16000


@pytest.fixture
def sounds(tmp_path: Path) -> SoundStore:
    return SoundStore(Folder(tmp_path / "cache"))


@pytest.fixture
def tone(sounds: SoundStore) -> str:
    wave = (0.5 * np.sin(np.arange(RATE) / 9)).astype(np.float32)
    return sounds.keep(wave, RATE)[0]


def test_sounds_keep_their_samples(tmp_path: Path, sounds: SoundStore, tone: str) -> None:
    with exporting(tmp_path / "out", sounds) as folder:
        for suffix in ("wav", "flac", "opus"):
            folder.sound(f"a/x.{suffix}", tone)
        folder.sound("a/low.wav", tone, rate=8000)
    pcm, _ = sounds.pcm(tone)
    for suffix in ("wav", "flac"):
        read, rate = soundfile.read(tmp_path / "out" / f"a/x.{suffix}", dtype="int16")
        assert rate == RATE
        assert np.array_equal(read, pcm)
    low, rate = soundfile.read(tmp_path / "out/a/low.wav")
    assert (rate, len(low)) == (8000, 8000)
    lossy, _ = soundfile.read(tmp_path / "out/a/x.opus")
    assert len(lossy) == len(pcm)
    assert np.corrcoef(lossy, pcm)[0, 1] > 0.98


def test_equal_samples_give_equal_opus_bytes(tmp_path: Path) -> None:
    pcm = (10000 * np.sin(np.arange(5 * RATE) / 9)).astype(np.int16)
    first, second = encoded(pcm, RATE, ".opus"), encoded(pcm, RATE, ".opus")
    assert first == second
    assert same_serial(first) == first
    assert first[14:18] == b"\x01\0\0\0"
    (tmp_path / "x.opus").write_bytes(first)
    check_complete(tmp_path / "x.opus")
    assert soundfile.info(tmp_path / "x.opus").frames == len(pcm)  # libogg has checked every page


def test_impossible_writes_are_refused(tmp_path: Path, sounds: SoundStore, tone: str) -> None:
    with exporting(tmp_path / "out", sounds) as folder:
        folder.text("a.txt", "ä")
        for path, code in (("x.mp3", "FB856"), ("../x.wav", "FB308"), ("a.txt", "FB852")):
            with pytest.raises(DataError, match=code):
                (folder.text(path, "") if path == "a.txt" else folder.sound(path, tone))
        with pytest.raises(DataError, match=r"FB856 \.opus cannot hold 11025 Hz"):
            folder.sound("x.opus", tone, rate=11025)
        with pytest.raises(DataError, match="FB856"):
            folder.sound("y.wav", "0" * 64)
    assert (tmp_path / "out" / "a.txt").read_text("utf-8") == "ä"


def test_lines_and_checksums(tmp_path: Path, sounds: SoundStore) -> None:
    with exporting(tmp_path / "out", sounds) as folder:
        folder.lines("b.jsonl", [{"b": 1, "a": "é"}, {}])
        folder.text(BUILD_FILE, "{}")
        folder.checksums()
    assert (tmp_path / "out" / "b.jsonl").read_text("utf-8") == '{"b":1,"a":"é"}\n{}\n'
    listed = (tmp_path / "out" / "checksums.txt").read_text().split()
    assert listed[1::2] == ["b.jsonl"]


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path, sounds: SoundStore) -> None:
    out = tmp_path / "out"
    with pytest.raises(DataError), exporting(out, sounds) as folder:
        folder.sound("a.wav", "0" * 64)
    assert not out.exists()
    for word in ("one", "two"):
        with exporting(out, sounds) as folder:
            folder.text(f"{word}.txt", word)
            folder.text(BUILD_FILE, "{}")
            folder.checksums()
    assert {p.name for p in out.iterdir()} == {"two.txt", BUILD_FILE, "checksums.txt"}
    assert {p.name for p in tmp_path.iterdir()} <= {"out", "cache"}


def test_what_a_killed_build_had_moved_aside_comes_back(tmp_path: Path) -> None:
    out, old = tmp_path / "out", tmp_path / ".out.old"
    old.mkdir()
    (old / "x").write_text("1")
    restore(out)
    assert (out / "x").read_text() == "1"
    old.mkdir()
    restore(out)
    assert not old.exists()
    assert (out / "x").exists()


def test_only_builds_and_empty_folders_are_replaced(tmp_path: Path, sounds: SoundStore) -> None:
    check_target(tmp_path / "new")
    (tmp_path / "empty").mkdir()
    check_target(tmp_path / "empty")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / BUILD_FILE).write_text("{}")
    check_target(tmp_path / "build")
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    for name in ("file", "full"):
        with pytest.raises(DataError, match="FB855"):
            check_target(tmp_path / name)
    with (
        pytest.raises(EnvironmentProblem, match="FB858"),
        exporting(tmp_path / "file" / "out", sounds),
    ):
        pass
