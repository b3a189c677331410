"""One way to open an ONNX model: on the CPU, one thread, with the inputs the caller expects.

Quantised models do not give the same numbers on every CPU. Without the VNNI instructions,
onnxruntime adds pairs of 8-bit products in 16 bits, which saturate; with them, and always in its
exact mode, it adds in 32 bits. Small models sit on that difference: one end-of-turn detector moves
from 0.14 to 0.93 on one clip. :func:`int8_arithmetic` says which kind a machine has.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from floorbench.errors import EnvironmentProblem, Place, SystemProblem, missing_extra

_EXACT = "session.x64quantprecision"

# A model file of one node, c = MatMulInteger(a, b): a is uint8 (m, 8), b is int8 (8, 16), all 127.
_PROBE = (
    b'\x08\x07\x12\x00:\xda\x01\n\x18\n\x01a\n\x01b\x12\x01c"\rMatMulInteger\x12\x01g*\x8c\x01'
    b"\x08\x08\x08\x10\x10\x03*\x80\x01" + b"\x7f" * 128 + b"B\x01bZ\x15\n\x01a\x12\x10\n\x0e"
    b"\x08\x02\x12\n\n\x03\x12\x01m\n\x03\x12\x01kb\x15\n\x01c\x12\x10\n\x0e\x08\x06\x12\n\n"
    b"\x03\x12\x01m\n\x03\x12\x01nB\x04\n\x00\x10\n"
)


def open_session(
    path: Path, *, inputs: tuple[str, ...], outputs: tuple[str, ...], exact: bool = False
) -> Any:
    """Return an ``onnxruntime.InferenceSession``.

    One thread, because two were slower for models of this size, and because the answer must not
    depend on how work was split.

    Parameters
    ----------
    path : Path
        The model file.
    inputs, outputs : tuple of str
        Names the model must have (outputs: at least these).
    exact : bool
        Sum 8-bit products in 32 bits on every CPU.

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
    if exact:
        options.add_session_config_entry(_EXACT, "1")
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


@cache
def int8_arithmetic() -> str:
    """Return how this CPU adds 8-bit products unless told otherwise.

    Returns
    -------
    str
        ``exact`` (32 bits) or ``saturating`` (pairs in 16 bits), found by asking onnxruntime for
        8 products of 255 and 127.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` without onnxruntime.
    """
    import numpy as np

    try:
        import onnxruntime
    except ModuleNotFoundError:
        raise missing_extra("onnxruntime", "onnx") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        _PROBE, sess_options=options, providers=["CPUExecutionProvider"]
    )
    total = session.run(None, {"a": np.full((4, 8), 255, dtype=np.uint8)})[0]
    return "exact" if int(total[0, 0]) == 8 * 255 * 127 else "saturating"
