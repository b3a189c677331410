"""Running somebody's Python file as a module."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType


def run_file(path: Path, *, prefix: str) -> ModuleType:
    """Run a Python file and return it as a module.

    Parameters
    ----------
    path : Path
        A file that is there and ends in ``.py``.
    prefix : str
        Of the name that the module is known by; the rest tells files apart.

    Raises
    ------
    BaseException
        Whatever running it raises; the module is then forgotten.
    """
    full = path.resolve()
    name = f"{prefix}_{hashlib.sha256(str(full).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, full)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickling look a module up by its name
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def line_of(error: BaseException, path: Path) -> int | None:
    """Return the line of a file that an error came from, if it came from there."""
    if isinstance(error, SyntaxError):
        return error.lineno
    full = str(path.resolve())
    frames = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == full]
    return frames[-1] if frames else None
