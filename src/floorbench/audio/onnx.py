"""One way to open an ONNX model: on the CPU, one thread, checked against what the caller expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from floorbench.errors import EnvironmentProblem, Place, SystemProblem, missing_extra


def open_session(path: Path, *, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Any:
    """Return an ``onnxruntime.InferenceSession``.

    One thread, because two were slower for models of this size, and because the answer must not
    depend on how work was split.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` without onnxruntime, ``FB402`` when the file is missing.
    SystemProblem
        ``FB514`` when the file is not an ONNX model with these inputs and outputs.
    """
    try:
        import onnxruntime
    except ModuleNotFoundError:
        raise missing_extra("onnxruntime", "onnx") from None
    where = Place(str(path))
    if not path.is_file():
        raise EnvironmentProblem("FB402", "cannot be read: no such file", where=where)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime has a family of unrelated exception types
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SystemProblem(
            "FB514", f"is not a readable ONNX model ({first})", where=where
        ) from None
    found_in = tuple(i.name for i in session.get_inputs())
    found_out = tuple(o.name for o in session.get_outputs())
    if set(found_in) != set(inputs) or not set(outputs) <= set(found_out):
        raise SystemProblem(
            "FB514",
            f"takes {', '.join(found_in)} and gives {', '.join(found_out)}; expected "
            f"{', '.join(inputs)} and {', '.join(outputs)}",
            where=where,
        )
    return session
