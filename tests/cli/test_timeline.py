from pathlib import Path

import numpy as np
import pytest

from support import two_channel_tiny as tiny
from support.cli_calls import called

SPAN = ("--start", "5", "--end", "15", "--min-gap", "0")


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tiny.build(tmp_path / "calls", ("sw9001",))


def test_a_picture_with_predictions(capsys, calls: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "sw9001.npz", eot_ch0=np.zeros(750), eot_ch1=np.ones(750))
    folder = str(tmp_path / "made")
    called(capsys, "data", "import-scores", str(tmp_path / "sw9001.npz"), "--data", str(calls),
           "--out", folder, "--rate", "25/2")  # fmt: skip
    out = tmp_path / "t.svg"
    code, said, _ = called(
        capsys, "timeline", str(calls), "sw9001", *SPAN, "--out", str(out), "--run", folder,
        "--signals", "eot",
    )  # fmt: skip
    assert (code, said.strip()) == (0, str(out))
    assert "predicted eot" in out.read_text()


@pytest.mark.parametrize(
    ("names", "drawn", "left"),
    [
        (("eot", "hold"), ("eot", "hold"), ()),
        (("p_now", "p_future", "vad"), ("p_now", "p_future"), ("vad",)),
        (("eot", "bc", "hold"), ("eot", "bc"), ("hold",)),
    ],
)
def test_without_a_choice_the_usual_signals_that_are_there_are_drawn(
    capsys, calls: Path, tmp_path: Path, names: tuple[str, ...], drawn: tuple[str, ...],
    left: tuple[str, ...],
) -> None:  # fmt: skip
    columns = [f"{n}:{role}" for n in names for role in ("user", "system")]
    np.save(tmp_path / "sw9001.npy", np.full((750, len(columns)), 0.5))
    folder, out = str(tmp_path / "made"), str(tmp_path / "t.svg")
    called(capsys, "data", "import-scores", str(tmp_path / "sw9001.npy"), "--data", str(calls),
           "--out", folder, "--rate", "12.5", "--columns", ",".join(columns))  # fmt: skip
    code, _, err = called(
        capsys, "timeline", str(calls), "sw9001", *SPAN, "--out", out, "--run", folder
    )
    assert code == 0, err
    text = Path(out).read_text()
    assert all(f"predicted {n}" in text for n in drawn)
    assert not any(f"predicted {n}" in text for n in left)


def test_unknown_sessions_and_runs_without_them(capsys, calls: Path, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "t.svg"))
    code, _, err = called(capsys, "timeline", str(calls), "sw9002", *SPAN, *out)
    assert (code, "FB204" in err) == (2, True)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "predictions.jsonl").write_text("")
    code, _, err = called(
        capsys, "timeline", str(calls), "sw9001", *SPAN, *out, "--run", str(tmp_path / "run")
    )
    assert (code, "FB204" in err) == (2, True)


def test_gold_is_not_drawn_without_its_gap(capsys, calls: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.svg"
    code, _, err = called(capsys, "timeline", str(calls), "sw9001", *SPAN[:4], "--out", str(out))
    assert (code, out.exists()) == (2, False)
    assert "FB103" in err
    assert "--min-gap FRAMES: 0 keeps all gaps" in err
