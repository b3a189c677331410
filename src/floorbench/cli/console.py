"""Talking to the terminal: stdout is data, stderr is talk; the only place that knows rich."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from floorbench import codec
from floorbench.errors import FloorbenchError


def data(text: str) -> None:
    """Write data to stdout."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def data_json(value: object) -> None:
    """Write one JSON document to stdout."""
    data(codec.encode_pretty(value))


def say(text: str) -> None:
    """Write a remark to stderr."""
    print(text, file=sys.stderr, flush=True)


def fail(error: FloorbenchError) -> int:
    """Print an expected error and return its exit code."""
    say(f"error: {error}")
    return error.exit_code


def columns(rows: Sequence[tuple[str, ...]], head: tuple[str, ...]) -> str:
    """Return rows as left-aligned columns with a head line."""
    from floorbench.report.tables import width

    widths = [max(width(r[i]) for r in [head, *rows]) for i in range(len(head))]

    def line(r: tuple[str, ...]) -> str:
        return "  ".join(c + " " * (w - width(c)) for c, w in zip(r, widths, strict=True)).rstrip()

    return "\n".join([line(head), "  ".join("-" * w for w in widths), *map(line, rows)]) + "\n"


Tick = Callable[[int, int], None]


@contextmanager
def progress(title: str) -> Iterator[Tick]:
    """Show a progress bar on stderr; gives a function of items done and, when known, the total.

    Without a terminal one line is printed at the start and one at the end.
    """
    if not sys.stderr.isatty():
        reached = (0, 0)

        def note(done: int, total: int) -> None:
            nonlocal reached
            reached = (done, total)

        yield note
        say(f"{title}: {reached[0]} of {reached[1]}")
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(title, total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield show
