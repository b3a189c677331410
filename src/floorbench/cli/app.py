"""The ``floorbench`` program: names of commands and the way errors leave it.

Commands are given as import paths, so that ``floorbench --help`` imports none of them.
"""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Sequence

from cyclopts import App

from floorbench import __version__
from floorbench.errors import EnvironmentProblem, FloorbenchError, Place

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo:demo", "Evaluate a real turn detector on the CoDeTT starter set"),
    "list": ("catalogue:list_names", "List tasks, systems, datasets, metrics, recipes or assets"),
    "show": ("catalogue:show", "Show one task, system, dataset, metric or recipe in full"),
    "run": ("run:run", "Run a system on a task and keep its predictions"),
    "score": ("score:score", "Score a run or a predictions file"),
    "check": ("score:check", "Check a predictions file and name every fault"),
    "build": (
        "build:build",
        "Build a dataset by a recipe; interrupted, it goes on when called again",
    ),
    "plan": ("plan:plan", "Say how long a full run or build takes and costs, from a small one"),
    "fit": ("fit:fit", "Train a probe on one split; the artefact is hashed"),
    "timeline": ("timeline:timeline", "Draw a two-channel session: activity, events, predictions"),
    "tune": ("tune:tune", "Choose a threshold on a run and freeze it for another split"),
    "audit": ("audit:audit", "Try to tell the action of a contrast set without its context"),
    "check-causality": (
        "causality:check_causality",
        "Change the future and see whether a system's past decisions move",
    ),
    "compare": ("compare:compare", "Compare two or more runs, paired on the same samples"),
    "gate": ("gate:gate", "Exit with 1 unless a release is shown to be no worse than another"),
    "listen": ("listen:app", "Let people hear stimuli and respond; find, export, forget"),
    "review": ("review:review", "Let people label items by ear, blind, and measure agreement"),
    "report": ("report:report", "Write one offline page about runs, or their figures"),
    "view": ("view:view", "See and hear the items of runs on a local page"),
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
            "check": (
                "data_check:check",
                "Check rows, sounds and checksums; of a contrast set also rules and words",
            ),
            "list": ("data_pack:list_samples", "List samples; --where chooses by tags"),
            "show": ("data_pack:show_data", "Show what a dataset holds, counted by tags"),
            "pack": ("data_pack:pack_data", "Pack a dataset into shards that stream"),
            "cut": ("data_cut:cut", "Cut calls at every pause: clips for turn detectors"),
            "convert": ("convert:convert", "Convert an annotation file; says what is lost"),
            "stats": (
                "data_stats:stats",
                "Count events of two-channel sessions by a protocol's rules",
            ),
            "import-scores": (
                "data_import:import_scores",
                "Frame scores made elsewhere, as predictions",
            ),
        },
    ),
    "new": (
        "Write something new to start from",
        {"system": ("new:system", "Write a working system with its test")},
    ),
    "stimuli": (
        "Turns for listeners: cut them, put them into lists",
        {
            "cut": ("stimuli:cut", "Cut stimulus turns out of annotated recordings"),
            "lists": ("stimuli:lists", "Order turns into lists with beeps and reversed twins"),
            "plot": ("stimuli:plot", "Draw responses, consensus and predictions of one stimulus"),
            "stats": ("stimuli:stats", "Print what the lists of a set hold"),
        },
    ),
    "published": (
        "The papers' tables: as printed, and recomputed",
        {
            "show": ("published:show", "Print a table of a paper"),
            "check": ("published:check", "Recompute the tables and name what does not fit"),
        },
    ),
    "worker": (
        "Systems in programs of their own",
        {"check": ("worker:check", "Try whether a program keeps the worker protocol")},
    ),
}

EPILOGUE = "Exit codes: 0 ok, 1 finding, 2 usage or input, 3 environment."


def build(called: Sequence[str] = ()) -> App:
    """Return the program; no command module is imported.

    Parameters
    ----------
    called : sequence of str
        The command line. The command that it names describes itself in full; lists of commands
        have one line for each.
    """
    app = App(
        name="floorbench",
        version=__version__,
        help="Measure how spoken-dialogue systems take turns: when they speak, stop, "
        "stay silent, and why.",
        help_epilogue=EPILOGUE,
    )
    for name, (target, summary) in COMMANDS.items():
        app.command(
            f"floorbench.cli.{target}", name=name, help=None if [*called[:1]] == [name] else summary
        )
    for group, (about, commands) in GROUPS.items():
        sub = App(name=group, help=about)
        for name, (target, summary) in commands.items():
            full = [*called[:2]] == [group, name]
            sub.command(f"floorbench.cli.{target}", name=name, help=None if full else summary)
        app.command(sub)
    return app


def main(argv: Sequence[str] | None = None) -> None:
    """Run the program and exit with its code."""
    running = set(threading.enumerate())
    _prepare()
    code = _end(_call(list(sys.argv[1:] if argv is None else argv)))
    if any(not thread.daemon for thread in set(threading.enumerate()) - running):
        os._exit(code)  # threads that a system left behind would keep the program for ever
    sys.exit(code)


def _call(argv: list[str]) -> int:
    try:
        code = build(argv)(argv, result_action="return_value")
    except SystemExit as left:  # the parser has printed what is wrong
        return left.code if isinstance(left.code, int) else 1
    except FloorbenchError as error:
        from floorbench.cli.console import fail

        return fail(error)
    except KeyboardInterrupt:
        from floorbench.cli.console import say

        say("interrupted")
        return 130
    except BrokenPipeError:
        return 0
    except OSError as error:
        from floorbench.cli.console import fail

        what = f"the operating system refuses: {error.strerror or error}"
        where = Place(str(error.filename)) if error.filename is not None else None
        return fail(EnvironmentProblem("FB402", what, where=where))
    return code if isinstance(code, int) else 0


def _prepare() -> None:
    """Make printing safe: closed streams swallow text, unknown characters are escaped."""
    for name in ("stdin", "stdout", "stderr"):  # in the order of their numbers
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if os.environ.get("COLUMNS") == "0":  # some terminals without a size say so
        del os.environ["COLUMNS"]


def _end(code: int) -> int:
    """Flush what is left; a reader that has gone is no error, a full disk is."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if not isinstance(error, BrokenPipeError):
                code = code or EnvironmentProblem.exit_code
    return code


if __name__ == "__main__":
    main()
