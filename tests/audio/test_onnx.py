"""Opening a model: one thread, the right names, and a word on how 8-bit sums are made."""

import sys

import numpy as np
import pytest

from floorbench.audio import onnx
from floorbench.errors import EnvironmentProblem, SystemProblem


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "probe.onnx"
    path.write_bytes(onnx._PROBE)
    return path


def test_arithmetic_is_one_of_two_words():
    assert onnx.int8_arithmetic() in ("exact", "saturating")


def test_the_exact_mode_is_exact_on_every_machine(model):
    session = onnx.open_session(model, inputs=("a",), outputs=("c",), exact=True)
    full = np.full((4, 8), 255, dtype=np.uint8)
    assert (session.run(None, {"a": full})[0] == 8 * 255 * 127).all()


def test_the_default_mode_does_what_the_probe_says(model):
    session = onnx.open_session(model, inputs=("a",), outputs=("c",))
    full = np.full((4, 8), 255, dtype=np.uint8)
    total = int(session.run(None, {"a": full})[0][0, 0])
    assert (total == 8 * 255 * 127) == (onnx.int8_arithmetic() == "exact")


def test_sessions_use_one_thread(model):
    session = onnx.open_session(model, inputs=("a",), outputs=("c",))
    options = session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)


def test_another_model_is_refused(model):
    with pytest.raises(SystemProblem, match="takes a and gives c; expected x and c") as caught:
        onnx.open_session(model, inputs=("x",), outputs=("c",))
    assert caught.value.code == "FB514"
    with pytest.raises(SystemProblem, match="FB514"):
        onnx.open_session(model, inputs=("a",), outputs=("c", "d"))


def test_not_a_model_and_no_file(tmp_path):
    bad = tmp_path / "bad.onnx"
    bad.write_text("nothing")
    with pytest.raises(SystemProblem, match="not a readable ONNX model"):
        onnx.open_session(bad, inputs=(), outputs=())
    with pytest.raises(EnvironmentProblem, match="no such file"):
        onnx.open_session(tmp_path / "none.onnx", inputs=(), outputs=())


def test_without_onnxruntime_the_install_line_is_given(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EnvironmentProblem, match=r"floorbench\[onnx\]"):
        onnx.open_session(model, inputs=("a",), outputs=("c",))
    onnx.int8_arithmetic.cache_clear()
    with pytest.raises(EnvironmentProblem, match=r"floorbench\[onnx\]"):
        onnx.int8_arithmetic()
