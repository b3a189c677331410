import base64
from pathlib import Path

import pytest

from floorbench.audio import http
from floorbench.audio.http import HttpStore
from support.file_server import serving

DATA = bytes(range(256)) * 8


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("no_proxy", "*")
    (tmp_path / "f.bin").write_bytes(DATA)
    return tmp_path


def test_a_range_is_asked_for_and_given(folder: Path) -> None:
    with serving(folder) as server:
        store = HttpStore(f"{server.url}/f.bin?sig=1")
        assert store.read(100, 50) == DATA[100:150]
        assert store.read(2000, 500) == DATA[2000:]  # the file ends
        assert store.read(5000, 10) == b""
        assert server.asked[0].range == "bytes=100-149"
        assert server.asked[0].path == "/f.bin?sig=1"


def test_a_server_without_ranges_serves_beginnings_only(folder: Path) -> None:
    with serving(folder, ranges=False) as server:
        store = HttpStore(f"{server.url}/f.bin")
        assert store.read(0, 10) == DATA[:10]
        with pytest.raises(ValueError, match="ignores Range"):
            store.read(1, 10)


@pytest.mark.parametrize(
    ("fault", "error", "says"),
    [
        (404, FileNotFoundError, "404"),
        (410, FileNotFoundError, "410"),
        (401, PermissionError, "401"),
        (403, PermissionError, "403"),
        (400, ValueError, "400"),
        (500, OSError, "500"),
        (429, OSError, "429"),
        ("shift", ValueError, "another part than asked for"),
        ("cut", OSError, "breaks off after 250 of 500"),
        ("hang up", OSError, "closed the connection"),
    ],
)
def test_faults_tell_whether_trying_again_helps(
    folder: Path, fault: int | str, error: type[Exception], says: str
) -> None:
    with serving(folder) as server:
        server.faults = [fault]
        with pytest.raises(error, match=says) as caught:
            HttpStore(f"{server.url}/f.bin").read(0, 500)
        assert type(caught.value) is error or error is OSError


def test_an_answer_that_trickles_in_breaks_off(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "TIMEOUT", 0.2)
    monkeypatch.setattr(http, "SLOWEST", 10_000.0)
    with serving(folder) as server:
        server.faults = ["trickle"]
        with pytest.raises(TimeoutError, match="of 500 bytes, too slowly"):
            HttpStore(f"{server.url}/f.bin").read(0, 500)


def test_a_password_goes_to_the_host_and_nowhere_else(folder: Path) -> None:
    login = "Basic " + base64.b64encode(b"me:p@ss").decode()
    with serving(folder, login=login) as server:
        assert HttpStore(f"http://me:p%40ss@{server.host}/f.bin").read(0, 4) == DATA[:4]
        assert server.asked[0].path == "/f.bin"
        with pytest.raises(PermissionError):
            HttpStore(f"{server.url}/f.bin").read(0, 4)
