"""What does the program cost before it does anything? Beside the smallest program of its kind.

Each side is a new interpreter. ``list`` is a command that works: it reads the catalogue.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.ratios import Case, Work, peer

BARE = "import cyclopts; app = cyclopts.App(name='bare', help='Bare.'); app(['--help'])"
HELP = ("-m", "floorbench", "--help")
# Programs of neighbours that answer --help: package, module and arguments.
NEIGHBOURS = {
    "lm-eval --help": ("lm_eval", ("-m", "lm_eval", "--help")),
    "inspect --help": (
        "inspect_ai",
        ("-c", "from inspect_ai._cli.main import main; main()", "--help"),
    ),
    "lhotse --help": (
        "lhotse",
        ("-c", "from lhotse.bin.modes.cli_base import cli; cli(['--help'])"),
    ),
}


def python(*arguments: str) -> Work:
    """Return work that runs a new interpreter."""

    def work() -> None:
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)

    return work


def cases(full: bool) -> Iterator[Case]:
    yield Case(
        name="floorbench --help",
        size="one start",
        ours=python(*HELP),
        peers={
            "cyclopts with an empty program": python("-c", BARE),
            "python -c pass": python("-c", "pass"),
            **{
                name: peer((package,), python, *arguments)
                for name, (package, arguments) in NEIGHBOURS.items()
            },
        },
        rounds=15 if full else 9,
        per=(1, "start"),
    )
    yield Case(
        name="floorbench list tasks",
        size="one start",
        ours=python("-m", "floorbench", "list", "tasks"),
        peers={"cyclopts with an empty program": python("-c", BARE)},
        rounds=15 if full else 9,
        per=(1, "start"),
    )
