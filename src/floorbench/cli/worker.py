"""``floorbench worker check``."""

from __future__ import annotations

from floorbench.cli import console
from floorbench.systems.worker_check import check_program


def check(
    command: str,
    /,
    *,
    timeout: float = 60.0,
    load_timeout: float = 600.0,
    json: bool = False,
) -> int:
    """Start a system's program and try everything that the protocol asks of it.

    Parameters
    ----------
    command
        What to run, in quotes.
    timeout
        Seconds that one answer may take.
    load_timeout
        Seconds until the program says hello.
    json
        Print JSON.
    """
    found = check_program(command, timeout=timeout, load_timeout=load_timeout)
    if json:
        console.data_json([c._asdict() for c in found])
    else:
        rows = [("ok" if c.fine else "FAULT", c.name, c.detail) for c in found]
        console.data(console.columns(rows, ("", "the program", "detail")))
    return 0 if all(c.fine for c in found) else 1
