import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import soundfile

from floorbench.cli.compare import compare
from floorbench.cli.data_check import check as data_check
from floorbench.cli.opening import PredictionOptions
from floorbench.cli.options import RayWishes
from floorbench.cli.run import run
from floorbench.cli.score import check, score
from floorbench.errors import UsageError
from support import echo_tiny


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("always-takeover", "always-dismiss"):
        assert run("codett", name, limit=40, out=tmp_path, score=False) == 0
    first, second = sorted((tmp_path / "codett").glob("*/*"))
    return first, second


def test_a_run_prints_its_table_or_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("codett", "always-takeover", limit=20, out=tmp_path) == 0
    got = capsys.readouterr()
    assert "CoDeTT stage 1" in got.out
    assert "does not rank" in got.out
    assert "run folder" in got.err
    assert run("codett", "oracle", limit=20, out=tmp_path, conditions=["h0"], json=True) == 0
    assert json.loads(capsys.readouterr().out)["coverage"]["ok"] == 20


def test_a_finished_run_resumes_to_the_same_place(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = (runs[0] / "predictions.jsonl").read_bytes()
    assert run("codett", "always-dismiss", limit=40, resume=runs[0], score=False) == 0
    assert (runs[0] / "predictions.jsonl").read_bytes() == before
    assert capsys.readouterr().out.strip().endswith(str(runs[0]))


def test_score_check_and_compare_read_run_folders(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert score(*runs, draws=50) == 0
    assert "always-dismiss" in capsys.readouterr().out
    assert score(runs[0], draws=50, form="csv", every=True) == 0
    assert "class_accuracy" in capsys.readouterr().out
    assert check(runs[0]) == 0
    assert compare(*runs, draws=50) == 0
    assert "A - B" in capsys.readouterr().out
    assert compare(*runs, draws=50, json=True) == 0
    assert json.loads(capsys.readouterr().out)[0]["cells"]


def test_without_a_score_json_is_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("codett", "oracle", limit=2, out=tmp_path, score=False, json=True) == 0
    assert Path(json.loads(capsys.readouterr().out)["run"]).is_dir()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ({"system": "oracl"}, "did you mean 'oracle'"),
        ({"system": "oracle", "sets": ["a=1"]}, "takes no --set"),
        ({"system": "oracle", "predictions": Path("p")}, "'replay' only"),
        ({"system": "oracle", "recompute_changed": True}, "needs --resume"),
        ({"system": "oracle", "seed": -1}, "the seed is -1"),
    ],
)
def test_what_would_be_ignored_is_refused(tmp_path: Path, call: dict[str, Any], says: str) -> None:
    system = call.pop("system")
    with pytest.raises(UsageError, match=says):
        run("codett", system, limit=1, out=tmp_path / "runs", **call)
    assert not (tmp_path / "runs").exists()


def test_real_time_is_for_streams_in_this_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = str(echo_tiny.build(tmp_path / "set")), tmp_path / "runs"

    def paced(system: str, executor: Literal["serial", "process"] = "serial") -> int:
        return run(
            "echo", system, data=data, limit=1, out=out, score=False, realtime=True,
            executor=executor,
        )  # fmt: skip

    assert paced("barge-in-energy") == 0
    said = capsys.readouterr().err
    assert "real time: 132 steps, " in said
    assert "behind the wall clock" in said
    with pytest.raises(UsageError, match="FB541"):
        paced("always-keep")
    with pytest.raises(UsageError, match="FB103"):
        paced("barge-in-energy", "process")


def test_whoever_works_in_the_folder_of_the_data_runs_there_again_and_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("complete_1.wav", "wait_1.wav"):
        soundfile.write(tmp_path / name, np.full(1600, 0.1), 16_000)
    monkeypatch.chdir(tmp_path)
    asked: Any = {"data": ".", "score": False}
    assert run("clips", "always-takeover", **asked) == 0
    first = Path(capsys.readouterr().out.strip())
    assert first.parts[0] == "runs"
    assert run("clips", "always-takeover", **asked, executor="process", workers=2) == 0
    second = Path(capsys.readouterr().out.strip())
    assert run("clips", "always-takeover", **asked, resume=first) == 0
    capsys.readouterr()
    assert data_check(".") == 0
    assert score(first, draws=20) == 0
    assert compare(first, second) == 0
    made = [json.loads((folder / "run.json").read_text()) for folder in (first, second)]
    assert made[0]["hashes"] == made[1]["hashes"]


def test_a_channel_of_stereo_clips_is_chosen_and_a_run_goes_back_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    sound = np.random.default_rng(1).uniform(-0.1, 0.1, (1600, 2))
    for name in ("complete_1.wav", "wait_1.wav"):
        soundfile.write(clips / name, sound, 16_000)
    asked: Any = {"data": str(clips), "reader": "clips"}
    out = tmp_path / "runs"
    system = str(tmp_path / "loud.py") + ":Loud"
    (tmp_path / "loud.py").write_text(LOUD, encoding="utf-8")
    assert run("clips", system, **asked, reader_sets=["channel=1"], out=out, score=False) == 0
    folder = Path(capsys.readouterr().out.strip())
    rows = [json.loads(x) for x in (folder / "predictions.jsonl").read_text().splitlines()]
    assert [r["decision"].get("outcome", "ok") for r in rows] == ["ok", "ok"]
    heard = [r["decision"]["raw"] for r in rows]
    assert heard == [f"{float(np.abs(sound[:, 1]).max()):.3f}"] * 2
    assert score(folder, draws=20) == 0
    with pytest.raises(UsageError, match=r"FB103.*'chanel'"):
        run("clips", system, **asked, reader_sets=["chanel=1"], out=out)
    with pytest.raises(UsageError, match=r"--reader-set needs --data"):
        score(folder, options=PredictionOptions(reader_sets=["channel=0"]))


LOUD = """
import numpy as np

from floorbench.core.prediction import Decision
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Role


class Loud:
    def __init__(self):
        self.spec = SystemSpec(
            name="loud", version="1", context="none", labels=("complete", "wait")
        )

    def load(self):
        pass

    def decide(self, observation):
        audio = observation.channels[Role.USER]
        peak = float(np.abs(audio.read()).max())
        return Decision(label="wait", raw=f"{peak:.3f}")
"""


@pytest.mark.needs_ray
def test_ray_gives_the_same_predictions(
    ray_cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given: dict[str, Any] = {"limit": 6, "conditions": ["h0"], "json": True, "batch": 2}
    said = {}
    for name, more in {
        "serial": {"executor": "serial"},
        "ray": {"executor": "ray", "workers": 2, "wishes": RayWishes(cpus_per_worker=0.5)},
    }.items():
        assert run("codett", "silence-webrtc", out=tmp_path / name, **given, **more) == 0
        said[name] = json.loads(capsys.readouterr().out)
        del said[name]["run"]
    assert said["ray"] == said["serial"]
    wishes = RayWishes(gpus_per_worker=0.25)
    with pytest.raises(UsageError, match=r"FB103 options of Ray mean nothing to .*'process'"):
        run("codett", "silence-webrtc", executor="process", wishes=wishes, out=tmp_path)
