import hashlib
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.sample import Observation, Sample
from floorbench.core.vocab import Role
from floorbench.datasets import shard_pack
from floorbench.datasets.open import open_dataset
from floorbench.datasets.shard_pack import pack
from floorbench.errors import DataError, EnvironmentProblem, UsageError
from support import codett_tiny, packs


def files(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


def test_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    source = open_dataset(packs.clips(tmp_path / "clips"))
    pack(source, tmp_path / "one", per_shard=4)
    for path in (tmp_path / "clips").rglob("*.wav"):
        os.utime(path, (1, 1))
        path.chmod(0o600)
    pack(source, tmp_path / "two", per_shard=4)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert sorted(files(tmp_path / "one")) == [
        "shard-000000.jsonl", "shard-000000.tar", "shard-000001.jsonl", "shard-000001.tar",
        "shards.json",
    ]  # fmt: skip


def test_any_tar_program_reads_a_shard_and_finds_whole_samples(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path, "codett")
    with tarfile.open(folder / "shard-000000.tar") as tar:
        members = tar.getmembers()
        assert [m.name for m in members[:4]] == [
            "000000000.json", "000000000.turn00.wav", "000000000.turn02.wav", "000000000.user.wav",
        ]  # fmt: skip
        assert {(m.mtime, m.uid, m.gid, m.uname, m.mode) for m in members} == {(0, 0, 0, "", 0o644)}
        told = json.load(tar.extractfile(members[0]))  # type: ignore[arg-type]
        line = json.loads((folder / "shard-000000.jsonl").read_bytes().splitlines()[0])
        assert told == line["sample"]
        for member in members[1:4]:
            data = tar.extractfile(member).read()  # type: ignore[union-attr]
            span = line["members"][member.name.partition(".")[2]]
            assert span == [member.offset_data, len(data), hashlib.sha256(data).hexdigest()]


def test_a_file_that_a_sample_uses_twice_is_packed_once(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path, "stereo")
    with tarfile.open(folder / "shard-000000.tar") as tar:
        names = [name for name in tar.getnames() if name.startswith("000000000.")]
    assert names == ["000000000.json", "000000000.user.flac"]


def test_shards_end_at_their_size_or_count(tmp_path: Path) -> None:
    source = open_dataset(packs.clips(tmp_path / "clips"))
    by_count = pack(source, tmp_path / "count", per_shard=4)
    assert [s.samples for s in by_count.shards] == [4, 2]
    by_size = pack(source, tmp_path / "size", shard_size=11_000)
    assert [s.samples for s in by_size.shards] == [2, 2, 2]
    one_each = pack(source, tmp_path / "small", shard_size=1)  # a sample is never cut
    assert [s.samples for s in one_each.shards] == [1] * 6
    for header, folder in ((by_count, "count"), (by_size, "size")):
        for shard in header.shards:
            assert (tmp_path / folder / shard.file).stat().st_size == shard.size


def test_an_interrupted_call_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_dataset(packs.clips(tmp_path / "clips"))
    pack(source, tmp_path / "straight", per_shard=2)

    def stop(done: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack(source, tmp_path / "out", per_shard=2, progress=stop)
    assert not (tmp_path / "out").exists()
    done: list[int] = []
    pack(source, tmp_path / "out", per_shard=2, progress=done.append)
    assert done == [5, 6]
    assert files(tmp_path / "out") == files(tmp_path / "straight")
    assert not (tmp_path / ".out.partial").exists()


def test_another_plan_begins_anew(tmp_path: Path) -> None:
    source = open_dataset(packs.clips(tmp_path / "clips"))

    def stop(done: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack(source, tmp_path / "out", per_shard=2, progress=stop)
    codett_tiny.tone(tmp_path / "clips/complete/0.wav", hertz=999, seconds=0.1)
    done: list[int] = []
    header = pack(
        open_dataset(tmp_path / "clips"), tmp_path / "out", per_shard=2, progress=done.append
    )
    assert done == [1, 2, 3, 4, 5, 6]
    assert header.digest == open_dataset(tmp_path / "clips").digest()


def test_a_shortened_shard_of_an_interrupted_call_is_made_again(tmp_path: Path) -> None:
    source = open_dataset(packs.clips(tmp_path / "clips"))
    pack(source, tmp_path / "straight", per_shard=2)

    def stop(done: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack(source, tmp_path / "out", per_shard=2, progress=stop)
    os.truncate(tmp_path / ".out.partial/shard-000001.tar", 700)
    done: list[int] = []
    pack(source, tmp_path / "out", per_shard=2, progress=done.append)
    assert done == [3, 4, 5, 6]
    assert files(tmp_path / "out") == files(tmp_path / "straight")


def test_packing_again_does_nothing_and_other_data_are_refused(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    before = {p.name: p.stat().st_mtime_ns for p in folder.iterdir()}
    done: list[int] = []
    pack(open_dataset(tmp_path / "clips"), folder, progress=done.append)
    assert not done
    assert {p.name: p.stat().st_mtime_ns for p in folder.iterdir()} == before
    with pytest.raises(DataError, match=r"FB289 .*holds 'clips' with digest"):
        pack(open_dataset(packs.trp_tiny.build(tmp_path / "trp")), folder)
    (tmp_path / "other").mkdir()
    empty = tmp_path / "other"  # an empty folder is nothing
    pack(open_dataset(tmp_path / "clips"), empty, per_shard=2)
    assert files(tmp_path / "other") == files(folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    with pytest.raises(DataError, match=r"FB289 .*something else"):
        pack(open_dataset(tmp_path / "clips"), tmp_path / "mine")


def test_the_current_folder_does_not_become_the_packed_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = open_dataset(packs.clips(tmp_path / "clips"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for out in (Path(), Path("../here")):
        with pytest.raises(DataError, match=r"FB289 .*current folder"):
            pack(source, out)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["clips", "here"]
    assert not list((tmp_path / "here").iterdir())


def test_data_are_not_packed_into_themselves(tmp_path: Path) -> None:
    clips = packs.clips(tmp_path / "clips")
    for out in (clips / "packed", clips / "a" / ".." / "deep" / "packed"):
        with pytest.raises(DataError, match=r"FB289 .*lies inside the data"):
            pack(open_dataset(clips), out)
    assert len(list(open_dataset(clips).samples())) > 0


def test_two_processes_do_not_pack_into_one_folder(tmp_path: Path) -> None:
    source = open_dataset(packs.clips(tmp_path / "clips"))

    def again(done: int) -> None:
        pack(source, tmp_path / "out")

    with pytest.raises(UsageError, match="FB503"):
        pack(source, tmp_path / "out", progress=again)


class Given:
    """A source of given samples."""

    name = "given"

    def __init__(self, *samples: Sample) -> None:
        self._samples = samples

    def locator(self) -> dict[str, Any]:
        return {}

    def describe(self) -> dict[str, Any]:
        return {}

    def digest(self) -> str:
        return "0"

    def samples(self) -> Iterator[Sample]:
        return iter(self._samples)


def sample(name: str, **channels: Any) -> Sample:
    heard = Observation(language="en", channels={Role(r): a for r, a in channels.items()})
    return Sample(id=name, cluster=name, observation=heard, target={})


def test_what_cannot_be_packed_is_named(tmp_path: Path) -> None:
    sound = ArrayAudio(np.zeros(8), rate=8000)
    with pytest.raises(DataError, match=r"FB288 .*ArrayAudio in sample 'a' lies in no file"):
        pack(Given(sample("a", user=sound)), tmp_path / "out")
    with pytest.raises(DataError, match="FB203 sample 'a' appears twice"):
        pack(Given(sample("a"), sample("a")), tmp_path / "out")
    with pytest.raises(DataError, match=r"FB288 .*no sample"):
        pack(Given(), tmp_path / "out")
    with pytest.raises(UsageError, match="FB103"):
        pack(Given(sample("a")), tmp_path / "out", per_shard=0)
    assert not (tmp_path / "out").exists()


def test_a_file_that_grows_meanwhile_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = open_dataset(packs.clips(tmp_path / "clips"))
    add = shard_pack._ShardWriter._member

    def late(self: Any, name: str, data: Any, length: int, sample_id: str) -> Any:
        return add(self, name, data, length - 1 if name.endswith("wav") else length, sample_id)

    monkeypatch.setattr(shard_pack._ShardWriter, "_member", late)
    with pytest.raises(DataError, match=r"FB288 .*changed while it was packed"):
        pack(source, tmp_path / "out")


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    source = open_dataset(packs.clips(tmp_path / "clips"))
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentProblem, match="FB504"):
        pack(source, tmp_path / "file" / "out")
