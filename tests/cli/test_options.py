import json
from pathlib import Path

import numpy as np
import pytest

from floorbench.cli import options
from floorbench.errors import UsageError
from support import two_channel_tiny as tiny
from support.cli_calls import called


def test_settings_read_json_where_it_is_json() -> None:
    got = options.settings(["a=1", "b-c=true", "d=x=y", "e=[1,2]", "f=null"])
    assert got == {"a": 1, "b_c": True, "d": "x=y", "e": [1, 2], "f": None}
    assert options.settings(None) == {}


@pytest.mark.parametrize("pairs", [["a"], ["=1"], ["a=1", "a=2"]])
def test_bad_settings_are_named(pairs: list[str]) -> None:
    with pytest.raises(UsageError, match="FB103"):
        options.settings(pairs)


@pytest.mark.parametrize("text", ['{"x": 1, "x": 2}', '[{"x": {}, "\\u0078": 2}]'])
def test_a_setting_with_a_key_that_stands_twice_is_not_taken_for_text(text: str) -> None:
    with pytest.raises(UsageError, match=r"FB103 .*the key 'x' stands twice"):
        options.settings([f"a={text}"])


def test_a_task_takes_its_own_parameters_only() -> None:
    assert options.make_task("codett", ["missing=drop"]).spec.parameters["missing"] == "drop"
    with pytest.raises(UsageError, match="did you mean 'missing'"):
        options.make_task("codett", ["mising=drop"])
    with pytest.raises(UsageError, match="known: "):
        options.make_task("codett", ["zzz=1"])


def test_a_task_is_not_built_without_a_parameter_that_has_no_default() -> None:
    assert options.make_task("dualturn-4s", ["min_gap=4"]).spec.parameters["min_gap"] == 4
    with pytest.raises(
        UsageError, match=r"FB103 task 'dualturn-4s' needs its parameter min_gap"
    ) as e:
        options.make_task("dualturn-4s", ["agents=system"])
    assert e.value.hint is not None
    for text in (
        "--task-set min_gap=VALUE",
        "0 keeps all gaps as HOLD",
        "0.32 s",
        "6,703",
        "3,705",
    ):
        assert text in e.value.hint


def test_data_default_to_the_starter_set_and_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert options.open_data("codett", None, None).locator()["path"] == "starter:codett"
    assert "starter set" in capsys.readouterr().err
    with pytest.raises(UsageError, match="--data") as error:
        options.open_data("clips", None, None)
    assert "no starter set" in error.value.hint
    with pytest.raises(Exception, match="FB211"):
        options.open_data("codett", str(Path("nowhere")), None)


def test_every_command_that_takes_data_takes_parameters_of_their_reader(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    calls = str(tiny.build(tmp_path / "calls", ("sw9005", "sw9009", "sw9010")))
    how = ("--reader-set", f"splits={calls}/splits.json", "--reader-set", "user=B")
    wrong = ("--reader-set", "splitz=none")
    runs = str(tmp_path / "runs")
    code, said, err = called(
        capsys, "run", "vap-1s", "silence-frames", "--data", calls, *how, "--out", runs, "--json"
    )
    assert code == 0, err
    run = str(json.loads(said)["run"])
    stats = ("data", "stats", calls, "--protocol", "vap-1s", "--min-gap", "0")
    drawn = ("timeline", calls, "sw9009", "--start", "1", "--end", "9", "--min-gap", "0",
             "--out", f"{runs}/t.svg")  # fmt: skip
    scores = tmp_path / "sw9009.npz"
    np.savez(scores, eot_ch0=np.zeros(750), eot_ch1=np.zeros(750))
    at = f"{runs}/made.json"
    made = (
        "data",
        "import-scores",
        str(scores),
        "--data",
        calls,
        "--rate",
        "25/2",
        "--out",
        f"{runs}/made",
    )
    commands = [
        ("score", run, "--data", calls), ("check", run, "--data", calls), stats, drawn, made,
        ("tune", "vap-1s", run, "--data", calls, "--objective", "f_score", "--out", at),
        ("fit", "dualturn-4s", "phrases", "--data", calls, "--out", f"{runs}/p.json"),
    ]  # fmt: skip
    for command in commands:
        _, _, err = called(capsys, *command, *wrong)
        assert "takes no parameter 'splitz'" in err, (command, err)
    for command in commands[:5]:
        code, _, err = called(capsys, *command, *how)
        assert code == 0, (command, err)
    code, _, err = called(capsys, "score", run, *how)
    assert (code, "--reader-set needs --data" in err) == (2, True)
    code, _, err = called(capsys, *made[:5], "--rate", "1/0", "--out", f"{runs}/z")
    assert (code, "divides by 0" in err) == (2, True)


def test_what_was_said_of_ray_is_kept_apart_from_what_was_not() -> None:
    assert options.NO_WISHES.options() is None
    said = options.RayWishes(ray_address="auto", gpus_per_worker=0.25).options()
    assert said is not None
    assert (said.address, said.cpus, said.gpus, said.memory) == ("auto", 1.0, 0.25, None)
