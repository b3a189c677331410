import dataclasses
import zipfile
from pathlib import Path
from typing import Any

import fsspec
import pytest

from floorbench.audio import storage
from floorbench.audio.ref import file_of
from floorbench.catalog import TASKS
from floorbench.core.sample import AudioRef, Sample
from floorbench.datasets.open import open_dataset
from floorbench.datasets.shard_pack import pack
from floorbench.datasets.shards import ShardsSource
from floorbench.errors import DataError
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.executors import make_executor
from floorbench.run.references import make_reference
from floorbench.run.scoring import open_predictions, score
from floorbench.run.wire import observation_from_wire, observation_hash, observation_to_wire
from support import packs
from support.file_server import serving


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(storage, "FIRST_PAUSE", 0.0)


def audio_of(sample: Sample) -> list[AudioRef]:
    seen = sample.observation
    return [*seen.channels.values(), *(t.audio for t in seen.turns if t.audio is not None)]


def silent(sample: Sample) -> Sample:
    """The sample without its audio."""
    turns = tuple(dataclasses.replace(t, audio=None) for t in sample.observation.turns)
    return dataclasses.replace(
        sample, observation=dataclasses.replace(sample.observation, channels={}, turns=turns)
    )


@pytest.mark.parametrize("kind", packs.KINDS)
def test_a_packed_dataset_is_the_dataset(tmp_path: Path, kind: str) -> None:
    packed = open_dataset(packs.packed(tmp_path, kind))
    plain = open_dataset(tmp_path / kind)
    assert isinstance(packed, ShardsSource)
    assert packed.digest() == plain.digest()
    assert packed.name == plain.name
    assert packed.describe() == plain.describe()
    pairs = list(zip(plain.samples(), packed.samples(), strict=True))
    for a, b in pairs:
        assert silent(a) == silent(b)
        assert [r.digest() for r in audio_of(a)] == [r.digest() for r in audio_of(b)]
        assert observation_hash(a.observation) == observation_hash(b.observation)
        sent = observation_from_wire(observation_to_wire(b.observation))
        assert observation_hash(sent) == observation_hash(b.observation)
    assert any(audio_of(a) for a, _ in pairs) is (kind != "trp")


@pytest.mark.parametrize(
    ("kind", "task", "reference"),
    [
        ("codett", "codett", "prior"),
        ("clips", "clips", "prior"),
        ("echo", "echo", "prior"),
        ("trp", "trp", "prior"),
        ("calls", "vap-1s", "oracle"),
    ],
)
def test_numbers_are_those_of_the_dataset(
    tmp_path: Path, kind: str, task: str, reference: str
) -> None:
    folder = packs.packed(tmp_path, kind)
    told: list[Any] = []
    for source in (open_dataset(tmp_path / kind), open_dataset(folder)):
        protocol = TASKS.load(task)()
        done = run(
            task=protocol,
            system=make_reference(reference, task=protocol, source=source, seed=3),
            source=source,
            out=tmp_path / "runs",
            notify=lambda _: None,
        )
        told.append(score(open_predictions(done.path), draws=20))
    assert told[0].estimates == told[1].estimates
    assert told[0].signature == told[1].signature


def locations(tmp_path: Path, folder: Path) -> list[str]:
    memory = fsspec.filesystem("memory")
    for path in folder.iterdir():
        memory.pipe_file(f"/floorbench-shards/{path.name}", path.read_bytes())
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as box:
        for path in folder.iterdir():
            box.write(path, path.name)
    return [
        "memory://floorbench-shards",
        f"zip://::{tmp_path}/set.zip",
        f"file://{folder}/",
        str(folder / "shards.json"),
    ]


def test_any_address_will_do(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    expected = [observation_hash(s.observation) for s in open_dataset(folder).samples()]
    with serving(folder) as server:
        for address in [*locations(tmp_path, folder), server.url, f"{server.url}/"]:
            source = open_dataset(address)
            assert [observation_hash(s.observation) for s in source.samples()] == expected
            assert source.digest() == open_dataset(source.locator()).digest()


def test_one_pass_over_each_shard(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path, per_shard=3)
    with serving(folder) as server:
        for sample in open_dataset(server.url).samples():
            observation_hash(sample.observation)
        asked = [a for a in server.asked if a.path.endswith(".tar")]
    assert [a.path for a in asked] == sorted(a.path for a in asked)  # shard after shard
    starts = [int((a.range or "").split("=")[1].split("-")[0]) for a in asked]
    for name in {a.path for a in asked}:
        mine = [s for s, a in zip(starts, asked, strict=True) if a.path == name]
        assert mine == sorted(mine)
        assert len(mine) == 2  # the first member, then a block with all the rest


def test_nothing_is_read_before_it_is_needed(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    with serving(folder) as server:
        source = open_dataset(server.url)
        first = next(iter(source.samples()))
        assert {a.path for a in server.asked} == {"/shards.json", "/shard-000000.jsonl"}
        file = file_of(first.observation.channels["user"])  # type: ignore[index,arg-type]
        file.open("rb").close()
        size = file.stat().st_size
        assert server.asked[-1].range == f"bytes=1024-{1023 + size}" or size > 0


@pytest.mark.parametrize("executor", ["thread", "process"])
def test_workers_read_what_they_need(tmp_path: Path, executor: str) -> None:
    folder = packs.packed(tmp_path, "codett")
    journals = []
    with serving(folder) as server:
        for where, name in ((str(tmp_path / "codett"), "serial"), (server.url, executor)):
            done = run(
                task=TASKS.load("codett")(),
                system=SystemChoice(name="silence-webrtc"),
                source=open_dataset(where),
                executor=make_executor(name, workers=2 if name != "serial" else 1),
                limit=6,
                conditions=["h0"],
                out=tmp_path / "runs",
                notify=lambda _: None,
            )
            journals.append({p.key: (p.observed, p.decision) for p in done.predictions()})
    assert journals[0] == journals[1]


def test_a_part_has_its_own_digest(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    part = open_dataset(folder, only=["label=complete"])
    assert len(list(part.samples())) == 3
    assert part.digest() != open_dataset(folder).digest()
    assert open_dataset(part.locator()).digest() == part.digest()
    pack(part, tmp_path / "part")
    again = open_dataset(tmp_path / "part")
    assert again.digest() == part.digest()
    assert [s.id for s in again.samples()] == [s.id for s in part.samples()]


def test_no_credentials_in_the_run_folder(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    with serving(folder) as server:
        address = f"http://me:pa55word@{server.host}?sig=pa55word"
        source = open_dataset(address)
        done = run(
            task=TASKS.load("clips")(),
            system=make_reference("oracle", task=TASKS.load("clips")(), source=source, seed=0),
            source=source,
            out=tmp_path / "runs",
            notify=lambda _: None,
        )
        assert all("sig=pa55word" in a.path for a in server.asked)
    for path in done.path.rglob("*"):
        if path.is_file():
            assert "pa55word" not in path.read_text(errors="replace")
    with pytest.raises(DataError, match=r"FB286 .*kept without its credentials"):
        open_predictions(done.path)


def test_faults_name_shard_and_member(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    tar = bytearray((folder / "shard-000001.tar").read_bytes())
    tar[3000] ^= 1
    (folder / "shard-000001.tar").write_bytes(tar)
    samples = list(open_dataset(folder).samples())
    where = r"shard-000001.tar \[000000002.user.wav\]"
    with pytest.raises(DataError, match=rf"FB284 .*{where}: the bytes are not"):
        [ref.read() for s in samples for ref in audio_of(s)]
    (folder / "shard-000001.tar").unlink()
    with pytest.raises(DataError, match=r"FB282 .*shard-000001.tar"):
        audio_of(samples[3])[0].read()
    (folder / "shard-000002.jsonl").unlink()
    with pytest.raises(DataError, match=r"FB282 .*shard-000002.jsonl"):
        list(open_dataset(folder).samples())


def test_a_sample_that_is_none_is_refused(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    for change in (
        lambda s: s.pop("cluster"),
        lambda s: s.update(observation=[]),
        lambda s: s["observation"].update(channels={"nobody": {}}),
        lambda s: s["observation"]["channels"]["user"].update(member="system.wav"),
        lambda s: s["observation"]["channels"]["user"].update(channel="left"),
        lambda s: s["observation"]["channels"]["user"].update(cutoff=-1),
    ):
        broken = packs.copy(folder, tmp_path / "broken")
        packs.edit_index(broken, lambda lines, c=change: c(lines[1]["sample"]))  # type: ignore[misc]
        with pytest.raises(DataError, match=r"FB285 .*shard-000000.tar \[000000001\]"):
            list(open_dataset(broken).samples())
        packs.shutil.rmtree(broken)
