"""Calling the program in this process."""

from __future__ import annotations

import pytest

from floorbench.cli.app import main


def called(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of a call."""
    with pytest.raises(SystemExit) as stopped:
        main(list(argv))
    said = capsys.readouterr()
    return int(stopped.value.code or 0), said.out, said.err
