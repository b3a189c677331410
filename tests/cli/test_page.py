import sys
from pathlib import Path

import pytest

from floorbench.cli import page
from floorbench.cli.listen import listen
from floorbench.cli.review import review
from floorbench.cli.view import view
from floorbench.errors import EnvironmentProblem
from floorbench.web.serving import Serving

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", [view, review, listen])
def test_without_the_extra_nothing_is_read(
    command: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert callable(command)
    with pytest.raises(EnvironmentProblem, match="FB401") as error:
        command(tmp_path / "is not there")
    assert "floorbench[web]" in str(error.value.hint)


def test_the_address_is_data_and_the_rest_is_talk(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(Serving, "run", Serving.stop)
    monkeypatch.setattr(page.webbrowser, "open", opened.append)
    page.serve(None, token="t", port=0, open_browser=True, remarks=["a remark"])
    out, err = capsys.readouterr()
    assert out.strip() == opened[0]
    assert opened[0].startswith("http://127.0.0.1:")
    assert opened[0].endswith("/?token=t")
    assert err.splitlines() == ["a remark", "serving on this machine only; Ctrl-C ends it"]
