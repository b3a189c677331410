import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorbench.build.pipeline.stage import Item, Made, Rejected
from floorbench.build.pipeline.store import (
    Folder,
    Kept,
    Result,
    ResultCache,
    SoundDamaged,
    SoundStore,
    locked,
    result_key,
    sound_digest,
)
from floorbench.errors import DataError, EnvironmentProblem

RATE = 16000


@pytest.fixture
def sounds(tmp_path: Path) -> SoundStore:
    return SoundStore(Folder(tmp_path / "cache"))


def tone(n: int = 800) -> np.ndarray:
    return (0.5 * np.sin(np.arange(n) / 7)).astype(np.float32)


def test_a_sound_is_named_by_rate_and_samples(sounds: SoundStore) -> None:
    digest, seconds = sounds.keep(tone(), RATE)
    assert seconds == 0.05
    assert sounds.keep(tone(), RATE)[0] == digest
    assert sounds.keep(tone(), 8000)[0] != digest
    pcm = np.rint(tone().astype(float) * 32768).astype("<i2")
    assert digest == sound_digest(pcm, RATE)


@settings(max_examples=30)
@given(st.lists(st.integers(-32768, 32767), min_size=1, max_size=50))
def test_what_is_loaded_goes_in_again_unchanged(
    tmp_path_factory: pytest.TempPathFactory, values: list[int]
) -> None:
    sounds = SoundStore(Folder(tmp_path_factory.mktemp("s")))
    digest, _ = sounds.keep((np.array(values) / 32768).astype(np.float32), RATE)
    loaded, rate = sounds.load(digest)
    assert (loaded * 32768).tolist() == values
    assert sounds.keep(loaded, rate)[0] == digest


def test_full_scale_is_one(sounds: SoundStore) -> None:
    digest, _ = sounds.keep(np.array([1.0, -1.0], dtype=np.float32), RATE)
    assert sounds.pcm(digest)[0].tolist() == [32767, -32768]


@pytest.mark.parametrize(
    ("samples", "rate"),
    [
        ([[0.1, 0.2]], RATE),
        ([], RATE),
        ([0.1, 1.01], RATE),
        ([0.1, float("nan")], RATE),
        ([0.1, float("inf")], RATE),
        ([0.1], 0),
        ([0.1], 10**7),
    ],
)
def test_impossible_sounds_are_refused(sounds: SoundStore, samples: list[float], rate: int) -> None:
    with pytest.raises(DataError, match="FB856"):
        sounds.keep(np.array(samples, dtype=np.float32), rate)


def test_a_damaged_sound_is_taken_out_and_kept_anew(sounds: SoundStore) -> None:
    digest, _ = sounds.keep(tone(), RATE)
    path = sounds.path(digest)
    data = path.read_bytes()
    path.write_bytes(data[:300])
    with pytest.raises(SoundDamaged, match="FB856"):
        sounds.load(digest)
    assert not path.exists()
    assert sounds.size(digest) is None
    path.write_bytes(data[:300])
    sounds.keep(tone(), RATE)  # notices what lies there
    assert path.read_bytes() == data


def test_a_sound_under_another_name_is_damaged(sounds: SoundStore) -> None:
    one, two = sounds.keep(tone(), RATE)[0], sounds.keep(tone(900), RATE)[0]
    sounds.path(one).write_bytes(sounds.path(two).read_bytes())
    with pytest.raises(SoundDamaged):
        sounds.load(one)


def result(key: str, **more: object) -> Result:
    return Result(key=key, stage="s", version=1, deterministic=True, item="i", attempt=0, **more)


def test_results_come_back_as_they_went_in(sounds: SoundStore) -> None:
    cache = ResultCache(sounds.folder, sounds)
    digest, seconds = sounds.keep(tone(), RATE)
    kept = Kept(digest=digest, seconds=seconds, size=sounds.size(digest) or 0)
    item = Item(id="i", fields={"a": [1, {"b": None}]}, audio={"t": digest})
    first = cache.put(
        result("ab1", items=(item,), sounds=(kept,), notes=({"kind": "voice"},), wall=1.5, cpu=0.5)
    )
    assert cache.get("ab1") == first
    assert first.outcome == Made(items=(item,))
    assert first.seconds == 0.05
    no = cache.put(result("ab2", rejected=Rejected(reason="wer", detail="0.4")))
    assert cache.get("ab2") == no
    assert no.outcome == Rejected(reason="wer", detail="0.4")
    assert cache.get("ab3") is None


def test_what_a_reader_gets_is_what_the_maker_gets(sounds: SoundStore) -> None:
    cache = ResultCache(sounds.folder, sounds)
    item = Item(id="i", fields={"pair": (1, 2), "x": np.float32(0.5)})
    put = cache.put(result("cd", items=(item,)))
    assert put == cache.get("cd")
    assert put.items is not None
    assert put.items[0].fields == {"pair": [1, 2], "x": 0.5}
    with pytest.raises(DataError, match="FB202"):
        cache.put(result("ce", items=(Item(id="i", fields={"x": float("nan")}),)))


def test_a_result_without_its_sound_is_none(sounds: SoundStore) -> None:
    cache = ResultCache(sounds.folder, sounds)
    digest, seconds = sounds.keep(tone(), RATE)
    size = sounds.size(digest) or 0
    cache.put(result("ef", items=(), sounds=(Kept(digest=digest, seconds=seconds, size=size),)))
    assert cache.get("ef") is not None
    sounds.path(digest).unlink()
    assert cache.get("ef") is None


@pytest.mark.parametrize("change", [b"", b"{}", b"\n\n", b"\xff" * 30])
def test_a_damaged_result_is_none(sounds: SoundStore, change: bytes) -> None:
    cache = ResultCache(sounds.folder, sounds)
    cache.put(result("aa", items=()))
    cache.path("aa").write_bytes(change)
    assert cache.get("aa") is None


def test_a_result_of_another_key_is_none(sounds: SoundStore) -> None:
    cache = ResultCache(sounds.folder, sounds)
    cache.put(result("aa", items=()))
    cache.path("aa").rename(cache.path("aab"))
    assert cache.get("aab") is None


def test_the_key_depends_on_all_that_goes_in() -> None:
    base = {
        "stage": "s", "version": 1, "settings": {"a": 1, "b": 2}, "content": Item(id="i"),
        "attempt": 0, "seed": 0,
    }  # fmt: skip
    changes = {
        "stage": "t", "version": 2, "settings": {"a": 1, "b": 3}, "content": Item(id="j"),
        "attempt": 1, "seed": 1,
    }  # fmt: skip
    keys = {result_key(**{**base, name: value}) for name, value in changes.items()}
    assert len(keys | {result_key(**base)}) == 7
    turned = {**base, "settings": {"b": 2, "a": 1}}
    assert result_key(**turned) == result_key(**base)


def test_unfinished_files_of_dead_processes_are_swept(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write(tmp_path / "x" / "y", b"1")
    assert (tmp_path / "x" / "y").read_bytes() == b"1"
    place = tmp_path / "unfinished"
    host = folder._host
    (place / f"{host}-999999999-dead").write_bytes(b"")
    (place / f"{host}-{os.getpid()}-alive").write_bytes(b"")
    (place / "otherhst-999999999-far").write_bytes(b"")
    ended = subprocess.Popen(["true"])  # a zombie until it is waited for
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    (place / f"{host}-{ended.pid}-zombie").write_bytes(b"")
    assert folder.sweep() == 2
    assert len(list(place.iterdir())) == 2
    ended.wait()


def test_a_refused_write_leaves_nothing(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "results").write_text("a file where a folder must be")
    with pytest.raises(EnvironmentProblem, match="FB858"):
        folder.write(tmp_path / "cache" / "results" / "ab" / "k", b"1")


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lock"
    with locked(path), pytest.raises(DataError, match="FB853"), locked(path):
        pass
    with locked(path):
        pass
