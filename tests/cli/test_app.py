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

    monkeypatch.setattr(app, "build", lambda: broken)
    assert code() == 2
    assert capsys.readouterr().err.startswith("error: FB203 f:2: twice")


def test_ctrl_c_leaves_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "build", lambda: stopped)
    assert code() == 130


def test_a_finding_is_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "build", lambda: lambda *_, **__: 1)
    assert code() == 1
