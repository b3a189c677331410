from pathlib import Path

import pytest

from floorbench.cli import options
from floorbench.errors import UsageError


def test_settings_read_json_where_it_is_json() -> None:
    got = options.settings(["a=1", "b-c=true", "d=x=y", "e=[1,2]", "f=null"])
    assert got == {"a": 1, "b_c": True, "d": "x=y", "e": [1, 2], "f": None}
    assert options.settings(None) == {}


@pytest.mark.parametrize("pairs", [["a"], ["=1"], ["a=1", "a=2"]])
def test_bad_settings_are_named(pairs: list[str]) -> None:
    with pytest.raises(UsageError, match="FB103"):
        options.settings(pairs)


def test_a_task_takes_its_own_parameters_only() -> None:
    assert options.make_task("codett", ["missing=drop"]).spec.parameters["missing"] == "drop"
    with pytest.raises(UsageError, match="did you mean 'missing'"):
        options.make_task("codett", ["mising=drop"])
    with pytest.raises(UsageError, match="known: "):
        options.make_task("codett", ["zzz=1"])


def test_data_default_to_the_starter_set_and_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert options.open_data("codett", None, None).locator()["path"] == "starter:codett"
    assert "starter set" in capsys.readouterr().err
    with pytest.raises(UsageError, match="--data"):
        options.open_data("clips", None, None)
    with pytest.raises(Exception, match="FB211"):
        options.open_data("codett", str(Path("nowhere")), None)
