import http.client
import os
import subprocess
import sys
from pathlib import Path

import pytest

from floorbench.cli.app import main
from floorbench.core.prediction import Decision
from floorbench.datasets.codett import CodettSource
from floorbench.tasks.codett import CodettTask
from support.codett_tiny import build
from support.viewing import system, write_run

SRC = Path(__file__).parents[2] / "src"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(
        tmp_path / "runs",
        task=CodettTask(),
        source=CodettSource(build(tmp_path / "data", history=0, languages=("EN",))),
        spec=system(labels=("Takeover", "Dismiss"), score=None, context="none"),
        answer=lambda _, __: Decision(label="Takeover"),
        only=3,
        status="running",
    )


def code(*argv: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["view", *argv])
    return int(caught.value.code or 0)


def test_it_prints_an_address_that_opens_the_page(run: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "floorbench.cli.app", "view", str(run)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(SRC)},
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        host, _, query = address.removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request("GET", f"/{query}")
        answer = connection.getresponse()
        assert answer.status == 303
        connection.close()
    finally:
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert "3 of" in said
    assert "this machine only" in said


def test_mistakes_are_one_message(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code() == 2
    assert code(str(tmp_path)) == 2
    (tmp_path / "data").rename(tmp_path / "moved")
    assert code(str(run)) == 2
    said = capsys.readouterr().err
    for expected in ("FB802", "FB505", "FB801", "--dataset"):
        assert expected in said
    assert "Traceback" not in said
