import json

import pytest

from floorbench.cli import catalogue
from floorbench.errors import UsageError


def test_list_shows_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert catalogue.list_names() == 0
    out = capsys.readouterr().out
    for name in ("codett", "smart-turn-v3.2", "macro_accuracy", "level"):
        assert name in out
    assert catalogue.list_names("systems", json=True) == 0
    got = json.loads(capsys.readouterr().out)
    assert got["systems"]["smart-turn-v3.2"]["level"] == "measured"
    assert catalogue.list_names("assets") == 0
    assert "silero" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["codett", "always-takeover", "codett_dataset", "pasr"])
def test_show_prints_documentation_and_specification(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "codett_dataset":
        with pytest.raises(UsageError, match="FB101"):
            catalogue.show(name)
        return
    assert catalogue.show(name) == 0
    assert name in capsys.readouterr().out
    assert catalogue.show(name, json=True) == 0
    assert json.loads(capsys.readouterr().out)["name"] == name


def test_a_task_that_needs_a_parameter_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert catalogue.show("dualturn-4s") == 0
    out = capsys.readouterr().out
    assert "needs:\n--task-set min_gap=VALUE: 0 keeps all gaps as HOLD" in out
    assert catalogue.show("dualturn-4s", json=True) == 0
    assert json.loads(capsys.readouterr().out)["spec"] is None


def test_a_version_of_smart_turn_shows_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert catalogue.show("smart-turn-v3.1") == 0
    out = capsys.readouterr().out
    assert "Smart-Turn v3.1 with its" in out
    for parameter in ("gate : ", "tail : ", "threshold : ", "arithmetic : ", "model_path : "):
        assert parameter in out
    assert "version : " not in out


def test_references_of_the_documentation_are_plain_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert catalogue.show("codett") == 0
    out = capsys.readouterr().out
    assert "(``floorbench.tasks.parsing``)" in out
    assert ":mod:" not in out


def test_a_row_that_fixes_parameters_is_described_by_what_it_fixes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert catalogue.show("generate-gpt-4o") == 0
    out = capsys.readouterr().out
    assert "Return a model behind the OpenAI API writing its answer." in out
    assert "partial application" not in out
