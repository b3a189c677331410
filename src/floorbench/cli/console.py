"""Talking to the terminal: stdout is data, stderr is talk; the only place that knows rich."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING

from floorbench import codec
from floorbench.errors import FloorbenchError

if TYPE_CHECKING:
    from floorbench.report.tables import Table


def data(text: str) -> None:
    """Write data to stdout."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def data_json(value: object) -> None:
    """Write one JSON document to stdout; without UTF-8 there, in ASCII."""
    text = codec.encode_pretty(value)
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        text = json.dumps(json.loads(text), indent=2)
    data(text)


def say(text: str) -> None:
    """Write a remark to stderr; one that nobody can read any more stops no work."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def only_talk() -> Iterator[None]:
    """Send to stderr whatever is printed meanwhile, by Python code or below it.

    For the time in which foreign code runs: stdout is data, and a system may print.
    """
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def fail(error: FloorbenchError) -> int:
    """Print an expected error and return its exit code; names from data cannot steer a terminal."""
    text = f"error: {error}"
    say("".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text))
    return error.exit_code


def columns(rows: Sequence[tuple[str, ...]], head: tuple[str, ...]) -> str:
    """Return rows as left-aligned columns with a head line, folded to the terminal's width."""
    from floorbench.report.terminal import listed

    return listed(rows, head, terminal())


def table(made: Table, form: str = "text") -> None:
    """Write a table to stdout; as text, folded to the terminal's width."""
    from floorbench.report.tables import render
    from floorbench.report.terminal import fitted

    wide = terminal()
    data(fitted(made, wide) if form == "text" and wide is not None else render(made, form))


def lines(texts: Iterable[str]) -> None:
    """Write sentences to stdout, one a line, wrapped to the terminal's width."""
    from floorbench.report.terminal import wrapped

    wide = terminal()
    for text in texts:
        data(text if wide is None else "\n".join(wrapped(text, wide, rest="  ")))


def terminal() -> int | None:
    """Return the columns of the terminal that stdout is, ``None`` when it goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


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
