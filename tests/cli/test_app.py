import importlib
import inspect
import os
import re
import subprocess
import sys

import pytest

from floorbench import __version__
from floorbench.cli import app
from floorbench.errors import DataError, Place


def code(*argv: str) -> int:
    with pytest.raises(SystemExit) as left:
        app.main(argv)
    return int(left.value.code or 0)


def test_every_command_resolves_and_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in app.COMMANDS:
        assert code(name, "--help") == 0
    for group, (_, commands) in app.GROUPS.items():
        for name in commands:
            assert code(group, name, "--help") == 0
    assert "Usage" in capsys.readouterr().out


COMMANDS = {
    **{(name,): target for name, (target, _) in app.COMMANDS.items()},
    **{
        (group, name): target
        for group, (_, commands) in app.GROUPS.items()
        for name, (target, _) in commands.items()
    },
}


@pytest.mark.parametrize("name", COMMANDS, ids=" ".join)
def test_help_of_a_command_says_all_that_it_does(
    name: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not only the line that stands in the list of commands."""
    monkeypatch.setenv("COLUMNS", "100")
    module, _, function = COMMANDS[name].partition(":")
    command = getattr(importlib.import_module(f"floorbench.cli.{module}"), function)
    about = (inspect.getdoc(command) or "") if inspect.isfunction(command) else command.help
    told = re.split(r"\n\n(?:Parameters|Raises)\n---", about)[0]
    assert code(*name, "--help") == 0
    shown = capsys.readouterr().out
    assert plain(told.removesuffix(".")) in plain(shown)


def plain(said: str) -> str:
    return " ".join(said.replace("`", "").split())


def test_lists_of_commands_have_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert code("--help") == 0
    shown = plain(capsys.readouterr().out)
    assert all(plain(summary)[:40] in shown for _, summary in app.COMMANDS.values())


def test_version_is_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert code("--version") == 0
    assert capsys.readouterr().out.strip() == __version__


@pytest.mark.parametrize("argv", [["runn"], ["run"], ["run", "codett", "x", "--limit", "many"]])
def test_a_wrong_call_is_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert code(*argv) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_misspelt_name_gets_its_code_and_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert code("run", "codet", "oracle") == 2
    err = capsys.readouterr().err
    assert "FB101" in err
    assert "did you mean 'codett'" in err


def test_expected_errors_leave_with_their_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise DataError("FB203", "twice", where=Place("f", 2))

    monkeypatch.setattr(app, "build", lambda _: broken)
    assert code() == 2
    assert capsys.readouterr().err.startswith("error: FB203 f:2: twice")


def test_ctrl_c_leaves_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "build", lambda _: stopped)
    assert code() == 130


def test_a_finding_is_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "build", lambda _: lambda *_, **__: 1)
    assert code() == 1


def test_the_operating_system_refusing_is_an_error_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "there")

    monkeypatch.setattr(app, "build", lambda _: refused)
    assert code() == 3
    got = capsys.readouterr().err
    assert got.startswith("error: FB402 there: the operating system refuses: Permission denied")


PRINTING = """
import sys, threading, time
from floorbench.cli import app, console
def command(argv, **_):
    if "thread" in argv:
        threading.Thread(target=time.sleep, args=(600,)).start()
    console.data("\\u2013" * 9)
    return 1
app.build = lambda called: command
app.main(sys.argv[1:])
"""


def outside(*argv: str, shell: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run(
        ["sh", "-c", f'"$@" {shell}', "sh", sys.executable, "-c", PRINTING, *argv],
        env={**os.environ, "PYTHONPATH": path, **env},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_printing_survives_every_stdout() -> None:
    assert outside().stdout == "\u2013" * 9 + "\n"
    assert outside(PYTHONIOENCODING="ascii").stdout == "\\u2013" * 9 + "\n"
    for shell, expected in ((">&-", 1), ("2>&-", 1), (">/dev/full", 3)):
        done = outside(shell=shell)
        assert done.returncode == expected
        assert "Traceback" not in done.stderr
        assert "Exception" not in done.stderr


def test_a_thread_that_a_system_left_behind_does_not_keep_the_program() -> None:
    assert outside("thread").returncode == 1
