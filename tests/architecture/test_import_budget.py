"""Start-up stays cheap: what a bare import and ``--help`` may load."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
HEAVY = (
    "numpy", "duckdb", "soundfile", "soxr", "onnxruntime", "jinja2", "starlette", "torch", "scipy",
)  # fmt: skip


def loaded(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(SRC)},
    )
    return {name.partition(".")[0] for name in done.stderr.split()}


def test_import_floorbench_loads_no_numpy() -> None:
    assert not loaded("import floorbench") & set(HEAVY)


@pytest.mark.parametrize("argv", [["--help"], ["--version"], ["assets", "--help"]])
def test_help_loads_nothing_heavy(argv: list[str]) -> None:
    code = (
        "from floorbench.cli.app import main\n"
        f"try: main({argv!r})\nexcept SystemExit as e: assert not e.code"
    )
    found = loaded(code)
    assert "cyclopts" in found
    assert not found & set(HEAVY)


def test_core_needs_the_standard_library_only() -> None:
    names = ["vocab", "time", "sample", "prediction", "spec", "score", "ports"]
    code = "\n".join(f"import floorbench.core.{n}" for n in names)
    stdlib = set(sys.stdlib_module_names) | {"floorbench", "__main__"}
    extra = loaded(code) - stdlib - loaded("pass")
    assert not {name for name in extra if not name.startswith("_")}
