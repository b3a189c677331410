import zipfile
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from floorbench.audio import storage
from floorbench.audio.storage import read_range, read_whole, stream
from floorbench.errors import DataError, EnvironmentProblem
from support.file_server import FileServer, serving

DATA = bytes(i * i % 251 for i in range(300_000))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "FIRST_PAUSE", 0.0)
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "f.bin"
    path.write_bytes(DATA)
    return path


@pytest.fixture
def server(file: Path) -> Iterator[FileServer]:
    with serving(file.parent) as found:
        yield found


def addresses(file: Path, server: FileServer) -> list[str]:
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/floorbench-storage/f.bin", DATA)
    with zipfile.ZipFile(file.parent / "x.zip", "w") as packed:
        packed.write(file, "in/f.bin")
    return [
        str(file),
        f"{server.url}/f.bin",
        "memory://floorbench-storage/f.bin",
        f"zip://in/f.bin::{file.parent}/x.zip",
        f"file://{file}",
    ]


def test_every_store_gives_the_same_bytes(file: Path, server: FileServer) -> None:
    for address in addresses(file, server):
        assert read_range(address, offset=1000, size=70_000) == DATA[1000:71_000]
        assert read_range(address, offset=5, size=1) == DATA[5:6]
        assert read_whole(address, limit=len(DATA)) == DATA
        assert b"".join(stream(address, limit=1 << 30)) == DATA
        assert b"".join(stream(address, limit=1001)) == DATA[:1001]
        with pytest.raises(DataError, match=r"FB283 .*ends at byte 300000, bytes up to 300002"):
            read_range(address, offset=299_990, size=12)
        with pytest.raises(DataError, match=r"FB287 .*more than 299999 bytes"):
            read_whole(address, limit=len(DATA) - 1)
        with pytest.raises(DataError, match="FB282"):
            read_whole(address.replace("f.bin", "g.bin"), limit=10)


def test_a_few_faults_of_the_network_are_got_over(server: FileServer) -> None:
    server.faults = [503, "cut", "hang up"]
    assert read_range(f"{server.url}/f.bin", offset=0, size=1000) == DATA[:1000]
    assert len(server.asked) == 4


def test_tries_are_bounded(server: FileServer) -> None:
    server.faults = [503] * 9
    with pytest.raises(DataError, match=r"FB286 .*cannot be read in 4 tries: the server says 503"):
        read_range(f"{server.url}/f.bin", offset=0, size=1000)
    assert len(server.asked) == storage.TRIES


def test_what_is_not_there_is_not_asked_for_again(server: FileServer) -> None:
    with pytest.raises(DataError, match="FB282"):
        read_range(f"{server.url}/none.bin", offset=0, size=1)
    assert len(server.asked) == 1


def test_reading_on_takes_few_requests(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "BLOCK", 40_000)
    monkeypatch.setattr(storage, "AHEAD", 80_000)
    url = f"{server.url}/f.bin"
    for at in range(0, 300_000, 1000):
        assert read_range(url, offset=at, size=900) == DATA[at : at + 900]
    assert len(server.asked) <= 7


def test_reading_here_and_there_fetches_no_more(
    server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_GAP", 1000)
    url = f"{server.url}/f.bin"
    for at in (200_000, 3000, 150_000, 90_000):
        assert read_range(url, offset=at, size=500) == DATA[at : at + 500]
    assert [a.range for a in server.asked] == [
        f"bytes={at}-{at + 499}" for at in (200_000, 3000, 150_000, 90_000)
    ]


def test_messages_hold_no_secret(server: FileServer) -> None:
    secret = f"http://me:pa55word@{server.host}/none.bin?sig=pa55word"
    with pytest.raises(DataError, match="FB282") as caught:
        read_range(secret, offset=0, size=1)
    assert "pa55word" not in str(caught.value)
    assert "none.bin?<redacted>" in str(caught.value)


def test_unknown_kinds_and_missing_packages_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"FB286 .*teapot"):
        read_whole("teapot://a/b", limit=1)
    with pytest.raises(EnvironmentProblem, match=r"FB401 .*another package"):
        read_whole("dropbox://a/b", limit=1)
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(EnvironmentProblem, match=r"floorbench\[remote\]"):
        read_whole("memory://a", limit=1)
