"""Code in the documentation runs: Python blocks as scripts, ``$`` lines as commands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)?([^\n]*)\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def blocks(page: Path) -> list[tuple[str, str, str]]:
    return [
        (kind, info.strip(), body)
        for kind, info, body in BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind == "python" or (kind == "console" and "$ " in body)
    ]


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """A folder with `floorbench` and `python` on the path."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, module in (("floorbench", "-m floorbench"), ("python", "")):
        script = tools / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        script.chmod(0o755)
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": paths}


@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p)], ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_code_of_the_page_runs(page: Path, tmp_path: Path, shell: dict[str, str]) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for number, (kind, info, body) in enumerate(blocks(page)):
        if kind == "python":
            named = re.match(r"file=(\S+)", info)
            file = work / (named[1] if named else f"block{number}.py")
            file.write_text(body, encoding="utf-8")
            if named:
                continue
            command = f"python {file.name}"
        else:
            lines = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
            command = "set -e\n" + "\n".join(lines)
        done = subprocess.run(  # noqa: PLW1510 -- its code is looked at below
            ["bash", "-c", command],
            cwd=work,
            env=shell,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name}: {target}"
