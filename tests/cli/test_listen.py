from pathlib import Path

import pytest

from floorbench.cli.app import main
from floorbench.cli.listen import export, forget, listen, onsets
from floorbench.errors import DataError, UsageError
from floorbench.web.serving import Serving
from support.listening import make_set, spoken
from support.listening_wire import Page, room, serving


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One by key and one by voice, in ./listening/session."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "listening"
    make_set(home / "set")
    with serving(room(home, mode="key")) as served:
        Page(served.port).hear_by_key("p01", {0: [0.9], 1: []})
    with serving(room(home, mode="voice")) as served:
        Page(served.port).hear_by_voice("p02", {0: spoken(1.0), 1: spoken(1.1)})
    return home / "session"


def test_onsets_export_and_forget(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stimuli = session.parent / "set"
    assert onsets(session, stimuli=stimuli, vad="webrtc") == 0
    assert "in 2 recordings" in capsys.readouterr().err
    assert onsets(session, stimuli=stimuli, vad="webrtc") == 0
    assert "2 TextGrids were there" in capsys.readouterr().err
    assert export(session, stimuli=stimuli) == 0
    shown = capsys.readouterr()
    assert shown.out.strip() == str(session / "dataset")
    assert "2 participants, 4 turns heard" in shown.err
    assert forget("p01") == 0
    assert "everything of p01 is deleted" in capsys.readouterr().out
    assert not (session / "participants" / "p01").exists()
    with pytest.raises(DataError, match="FB843"):
        forget("p01", session=session)
    with pytest.raises(UsageError, match="FB844"):
        forget("maria")


def test_the_page_is_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_set(tmp_path / "set")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Serving, "run", lambda self: self.stop())
    (tmp_path / "text.txt").write_text("Agree?")
    assert listen(tmp_path / "set", mode="key", consent=tmp_path / "text.txt") == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("http://127.0.0.1:")
    assert "?token=" in shown.out
    assert "0 participants so far" in shown.err
    assert (tmp_path / "listening" / "set" / "session.json").is_file()


def test_help_names_the_subcommands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["listen", "--help"])
    out = capsys.readouterr().out
    assert all(name in out for name in ("onsets", "export", "forget", "STIMULI"))
