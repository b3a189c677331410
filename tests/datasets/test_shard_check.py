import io
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from floorbench.audio import storage
from floorbench.datasets.shard_check import check_shards
from support import packs
from support.file_server import serving


def faults(folder: Path | str) -> list[str]:
    return [str(f).splitlines()[0] for f in check_shards(str(folder)).faults]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return packs.packed(tmp_path)


@pytest.mark.parametrize("kind", packs.KINDS)
def test_a_whole_set_has_no_fault(tmp_path: Path, kind: str) -> None:
    folder = packs.packed(tmp_path, kind)
    found = check_shards(str(folder))
    assert found.faults == ()
    assert found.bytes == sum(p.stat().st_size for p in folder.glob("*.tar"))


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def test_every_flipped_byte_is_found_at_its_place(folder: Path) -> None:
    tar = folder / "shard-000001.tar"
    with tarfile.open(tar) as members:
        second = members.getmembers()[1]
    size = tar.stat().st_size
    places = {
        second.offset_data + 40: r"FB284 .*shard-000001.tar \[000000002.user.wav\]",
        second.offset + 3: "FB284 .*shard-000001.tar: no member begins at byte",
        second.offset_data + second.size + 1: "FB284 .*shard-000001.tar: bytes between",
        size - 1: "FB284 .*shard-000001.tar: bytes between",
    }
    for at, says in places.items():
        flip(tar, at)
        found = faults(folder)
        assert len(found) == 1
        assert re.match(says, found[0]), found
        flip(tar, at)
    assert faults(folder) == []


def test_no_byte_can_change_unseen(folder: Path) -> None:
    for name in ("shard-000000.tar", "shard-000000.jsonl"):
        path = folder / name
        for at in range(0, path.stat().st_size, 331):
            flip(path, at)
            assert faults(folder), at
            flip(path, at)


def test_shortened_longer_and_missing_files(folder: Path) -> None:
    tar = folder / "shard-000001.tar"
    data = tar.read_bytes()
    tar.write_bytes(data[:2000])
    assert "FB283" in faults(folder)[0]
    assert "the shard ends" in faults(folder)[0]
    tar.write_bytes(data[:-512])
    assert f"{len(data) - 512} bytes are there, {len(data)} were packed" in faults(folder)[0]
    tar.write_bytes(data + b"more")
    assert "FB283" in faults(folder)[0]
    tar.unlink()
    (folder / "shard-000002.jsonl").unlink()
    found = faults(folder)
    assert ["FB282" in f for f in found] == [True, True]
    assert "shard-000001.tar" in found[0]
    assert "shard-000002.jsonl" in found[1]


def remade(folder: Path, change: Callable[[tarfile.TarFile, list[tarfile.TarInfo]], None]) -> None:
    """Write the first shard anew, changed, and seal the header."""
    path = folder / "shard-000000.tar"
    data = path.read_bytes()
    with (
        tarfile.open(fileobj=io.BytesIO(data)) as old,
        tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as new,
    ):
        members = old.getmembers()
        for member in members:
            new.addfile(member, old.extractfile(member))
        change(new, members)
    packs.reseal(folder)


def link(name: str, kind: bytes) -> Callable[[tarfile.TarFile, list[tarfile.TarInfo]], None]:
    def add(new: tarfile.TarFile, _: list[tarfile.TarInfo]) -> None:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, "/etc/passwd"
        new.addfile(member)

    return add


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (link("a", tarfile.SYMTYPE), "FB287 .*a link to '/etc/passwd'"),
        (link("a", tarfile.LNKTYPE), "FB287 .*a link to"),
        (link("a", tarfile.FIFOTYPE), "FB287 .*not a plain file"),
        (link("../a", tarfile.REGTYPE), "FB287 .*leads elsewhere"),
        (link("/tmp/a", tarfile.REGTYPE), "FB287 .*leads elsewhere"),
        (link("000000009.json", tarfile.REGTYPE), "FB285 .*index does not name this member"),
        (link("000000000.json", tarfile.REGTYPE), "FB285 .*stands twice"),
    ],
)
def test_members_that_do_not_belong_there(
    folder: Path, change: Callable[[tarfile.TarFile, list[tarfile.TarInfo]], None], says: str
) -> None:
    remade(folder, change)
    found = faults(folder)
    assert len(found) == 1
    assert re.match(says, found[0]), found


def test_an_index_that_disagrees(folder: Path, tmp_path: Path) -> None:
    packs.edit_index(folder, lambda x: x[0]["sample"].update(target={"label": "incomplete"}))
    assert "FB285" in faults(folder)[0]
    assert "the sample in the index is not the one in the shard" in faults(folder)[0]
    assert "[000000000]" in faults(folder)[0]


def test_an_index_with_other_places(folder: Path) -> None:
    packs.edit_index(folder, lambda x: x[1]["members"]["user.wav"].__setitem__(0, 1024))
    assert "lies at" in faults(folder)[0]


def test_an_index_that_names_too_much(folder: Path) -> None:
    packs.edit_index(folder, lambda x: x[1]["members"].update({"system.wav": [0, 9, ""]}))
    assert "the index names a member that is not there" in faults(folder)[0]
    assert "[000000001.system.wav]" in faults(folder)[0]


def test_a_sample_that_stands_twice(folder: Path) -> None:
    def double(lines: list[dict[str, object]]) -> None:
        lines[1]["sample"] = lines[0]["sample"]

    packs.edit_index(folder, double)
    found = faults(folder)
    assert any("FB203" in f and "[000000001]" in f for f in found)


def test_a_server_that_breaks_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(storage, "FIRST_PAUSE", 0.0)
    with serving(folder) as server:
        server.faults = ["cut", 503]
        assert faults(server.url) == []
        (folder / "shard-000001.tar").rename(folder / "away")
        found = faults(server.url)
    assert len(found) == 1
    assert "FB282" in found[0]
