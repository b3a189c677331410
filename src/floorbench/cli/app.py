"""The ``floorbench`` program: names of commands and the way errors leave it.

Commands are given as import paths, so that ``floorbench --help`` imports none of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App

from floorbench import __version__
from floorbench.errors import FloorbenchError

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo:demo", "Evaluate a real turn detector on the CoDeTT starter set"),
    "list": ("catalogue:list_names", "List tasks, systems, datasets, metrics or assets"),
    "show": ("catalogue:show", "Show one task, system, dataset or metric in full"),
    "run": ("run:run", "Run a system on a task and keep its predictions"),
    "score": ("score:score", "Score a run or a predictions file"),
    "check": ("score:check", "Check a predictions file and name every fault"),
    "fit": ("fit:fit", "Train a probe on one split; the artefact is hashed"),
    "timeline": ("timeline:timeline", "Draw a two-channel session: activity, events, predictions"),
    "tune": ("tune:tune", "Choose a threshold on a run and freeze it for another split"),
    "audit": ("audit:audit", "Try to tell the action of a contrast set without its context"),
    "check-causality": (
        "causality:check_causality",
        "Change the future and see whether a system's past decisions move",
    ),
    "compare": ("compare:compare", "Compare two or more runs, paired on the same samples"),
    "doctor": ("assets:doctor", "Say what is installed, what is missing and what to do"),
}
GROUPS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "assets": (
        "Model files: where they are and how to get them",
        {
            "list": ("assets:list_assets", "List assets and where each was found"),
            "get": ("assets:get", "Fetch assets into the cache"),
            "doctor": ("assets:doctor_assets", "Check every asset and say the way out"),
        },
    ),
    "data": (
        "Datasets and annotation files",
        {
            "check": ("data_check:check", "Check a matched-contrast set and audit its words"),
            "convert": ("convert:convert", "Convert an annotation file; says what is lost"),
            "stats": ("data:stats", "Count events of two-channel sessions by a protocol's rules"),
            "import-scores": ("data:import_scores", "Frame scores made elsewhere, as predictions"),
        },
    ),
    "published": (
        "The papers' tables: as printed, and recomputed",
        {
            "show": ("published:show", "Print a table of a paper"),
            "check": ("published:check", "Recompute the tables and name what does not fit"),
        },
    ),
}

EPILOGUE = "Exit codes: 0 ok, 1 finding, 2 usage or input, 3 environment."


def build() -> App:
    """Return the program; no command module is imported."""
    app = App(
        name="floorbench",
        version=__version__,
        help="Measure how spoken-dialogue systems take turns: when they speak, stop, "
        "stay silent, and why.",
        help_epilogue=EPILOGUE,
    )
    for name, (target, summary) in COMMANDS.items():
        app.command(f"floorbench.cli.{target}", name=name, help=summary)
    for group, (about, commands) in GROUPS.items():
        sub = App(name=group, help=about)
        for name, (target, summary) in commands.items():
            sub.command(f"floorbench.cli.{target}", name=name, help=summary)
        app.command(sub)
    return app


def main(argv: Sequence[str] | None = None) -> None:
    """Run the program and exit with its code."""
    try:
        code = build()(list(sys.argv[1:] if argv is None else argv), result_action="return_value")
    except FloorbenchError as error:
        from floorbench.cli.console import fail

        sys.exit(fail(error))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
