"""The other side of the protocol: standard library only, and quiet on standard output."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from floorbench.systems.kit import floorbench_worker as kit

FILE = Path(kit.__file__)


def test_it_needs_the_standard_library_only():
    tree = ast.parse(FILE.read_text(), feature_version=(3, 8))
    names = {
        (node.module if isinstance(node, ast.ImportFrom) else alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert names <= set(sys.stdlib_module_names)


def test_sound_comes_back_as_numbers():
    assert list(kit.samples({"rate": 8000, "f32": "AAAAPwAAgL8="})) == [0.5, -1.0]
    assert list(kit.samples("AAAAPw==")) == [0.5]


@pytest.mark.parametrize(
    ("argv", "message"), [([], "--model is needed"), (["--stub"], None), (["--model", "x"], None)]
)
def test_a_model_or_a_stub_must_be_named(monkeypatch, capsys, argv, message):
    monkeypatch.setattr(sys, "argv", ["predict.py", *argv])
    monkeypatch.setattr(kit, "STUB", {})
    if message is None:
        assert kit.arguments("x", flags=("loud",), voice="a file").loud is False
        assert ({"stub": True} if argv == ["--stub"] else {}) == kit.STUB
        return
    with pytest.raises(SystemExit):
        kit.arguments("x")
    assert message in capsys.readouterr().err


def test_prints_and_errors_do_not_disturb_the_messages():
    script = (
        "import floorbench_worker as w\n"
        "def predict(model, items):\n"
        "    print('noise')\n"
        "    return [{'label': 1 / item['x']} for item in items]\n"
        "w.serve({'name': 'x', 'version': '1'}, lambda: print('loading'), predict)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", script],
        input='{"type": "predict", "id": 1, "items": [{"x": 2}]}\n'
        '{"type": "predict", "id": 2, "items": [{"x": 0}]}\n{"type": "bye"}\n',
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(FILE.parent)},
    )
    hello, answer, error = said.stdout.splitlines()
    assert '"kind": "items"' in hello
    assert answer == '{"type": "answers", "id": 1, "answers": [{"label": 0.5}]}'
    assert "ZeroDivisionError" in error
    assert said.stderr.startswith("loading\nnoise\n")
