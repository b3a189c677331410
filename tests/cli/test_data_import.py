from pathlib import Path

import numpy as np
import pytest

from support import two_channel_tiny as tiny
from support.cli_calls import called


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tiny.build(tmp_path / "calls", ("sw9001", "sw9002"))


def test_scores_made_elsewhere_are_scored(capsys, calls: Path, tmp_path: Path) -> None:
    for name in ("sw9001", "sw9002"):
        np.savez(tmp_path / f"{name}.npz", eot_ch0=np.zeros(750), eot_ch1=np.zeros(750))
    files = [str(tmp_path / f"{n}.npz") for n in ("sw9001", "sw9002")]
    out = tmp_path / "elsewhere"
    code, said, _ = called(
        capsys, "data", "import-scores", *files, "--data", str(calls), "--out", str(out),
        "--rate", "12.5",
    )  # fmt: skip
    assert code == 0
    assert said.strip() == str(out / "predictions.jsonl")
    code, said, _ = called(
        capsys, "score", said.strip(), "--task", "dualturn-4s", "--data", str(calls),
        "--task-set", "min_gap=0", "--draws", "20",
    )  # fmt: skip
    assert code == 0
    assert "0.500" in said
    code, _, err = called(capsys, "data", "import-scores", "--out", str(out))
    assert (code, "FB103" in err) == (2, True)
