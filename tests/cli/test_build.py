import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from floorbench import catalog
from floorbench.cli import catalogue
from floorbench.registry import Entry, Registry
from support.cli_calls import called

RECIPE = "support.build_toy:ToyRecipe"


def test_a_dataset_is_built_and_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    where = ("--out", str(tmp_path / "a"), "--cache", str(tmp_path / "c"))
    code, out, err = called(
        capsys, "build", RECIPE, *where, "--preset", "small", "--set", "pieces=2", "--workers", "1"
    )
    assert code == 0
    assert "toy: 6 seeds, 12 items came through" in out
    assert "real-time factor" in out
    assert out.endswith(f"{tmp_path / 'a'}\n")
    assert f"build {RECIPE}: 42 of 42" in err
    code, out, _ = called(capsys, "build", RECIPE, *where, "--limit", "2", "--json")
    got = json.loads(out)
    assert code == 0
    assert got["dataset"] == str(tmp_path / "a")
    assert (got["seeds"], got["finished"], got["limit"]) == (2, 2, 2)
    assert got["stages"][0]["cached"] == 2


def test_failed_items_are_a_finding(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = called(
        capsys, "build", RECIPE, "--out", str(tmp_path / "a"), "--cache", str(tmp_path / "c"),
        "--set", "trouble=text:item-0:bug", "--workers", "1",
    )  # fmt: skip
    assert code == 1
    assert "item-0: ZeroDivisionError: a bug in a stage" in out
    assert "1 item failed" in err


@pytest.mark.needs_ray
def test_ray_builds_it_too(
    ray_cluster: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = called(
        capsys, "build", RECIPE, "--out", str(tmp_path / "a"), "--cache", str(tmp_path / "c"),
        "--preset", "tiny", "--executor", "ray", "--workers", "1", "--cpus-per-worker", "0.5",
    )  # fmt: skip
    assert code == 0
    assert "toy: 2 seeds, 2 items came through" in out
    code, _, err = called(capsys, "build", RECIPE, "--out", "b", "--ray-address", "auto")
    assert code == 2
    assert "FB103 options of Ray mean nothing to the executor 'process'" in err


def test_a_dry_run_makes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOORBENCH_CACHE", str(tmp_path / "home"))
    code, out, _ = called(capsys, "build", RECIPE, "--dry-run", "--workers", "2")
    assert code == 0
    assert "voice + gate" in out
    assert "unknown" in out
    assert "6 seeds, about 6 items" in out
    assert "nobody measured them: text, voice" in out
    assert not list(tmp_path.iterdir())
    code, out, _ = called(capsys, "build", RECIPE, "--dry-run", "--json")
    assert json.loads(out)["steps"][0]["to_make"] == 6


def test_an_interrupted_build_says_that_it_can_go_on(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    log = tmp_path / "log"
    process = subprocess.Popen(
        [
            sys.executable, "-m", "floorbench", "build", RECIPE, "--out", "a", "--cache", "c",
            "--workers", "2", "--set", f"log={log}", "--set", "slow=5",
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root / 'tests'}"},
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    while not log.exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "the same command goes on with it" in said
    assert "Traceback" not in said
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((RECIPE,), "FB103 name the folder of the dataset with --out"),
        ((RECIPE, "--out", "a", "--workers", "0"), "FB103 --workers 0"),
        ((RECIPE, "--out", "a", "--preset", "smal"), "did you mean 'small'?"),
        ((RECIPE, "--out", "a", "--set", "itemz=3"), "did you mean 'items'?"),
        ((RECIPE, "--out", "a", "--from", "voise"), "did you mean 'voice'?"),
        (("nothing.py:X", "--out", "a"), "FB859 nothing.py: there is no such file"),
        (("nothing", "--out", "a"), "FB101 there is no recipe 'nothing'"),
    ],
)
def test_errors_say_the_way_out(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    argv: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLOORBENCH_CACHE", str(tmp_path / "home"))
    code, _, err = called(capsys, "build", *argv)
    assert code == 2
    assert said in err
    assert "Traceback" not in err


def test_recipes_are_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    toys = Registry("recipe", {"toy-tones": Entry(RECIPE, "tones")})
    monkeypatch.setitem(catalog.ALL, "recipe", toys)
    assert toys.group == "floorbench.recipes"
    assert catalogue.list_names("recipes") == 0
    assert "toy-tones" in capsys.readouterr().out
    assert catalogue.show("toy-tones") == 0
    assert "recipe toy-tones: tones" in capsys.readouterr().out
