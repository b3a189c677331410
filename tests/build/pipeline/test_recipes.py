from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.pipeline.recipes import (
    absolute_name,
    checked_work,
    fill,
    open_recipe,
    stages_of,
    with_preset,
)
from floorbench.build.pipeline.stage import Item, Retried, Work
from floorbench.errors import FloorbenchError, UsageError
from support.build_toy import DEFAULTS, Gate, Text, ToyRecipe, Voice

FILE = """
from support.build_toy import ToyRecipe
MINE = ToyRecipe()
def make():
    return ToyRecipe()
NOT = 3
"""


def test_a_recipe_comes_from_a_module_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    for name in (
        "support.build_toy:ToyRecipe",
        f"{file}:MINE",
        f"{file}:make",
        f"{file}:ToyRecipe",
    ):
        assert open_recipe(name).name == "toy"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing-like-it", "FB101 there is no recipe 'nothing-like-it'"),
        ("{0}/mine.py", "FB859 .*names a file but no recipe"),
        ("{0}/none.py:X", "FB859 .*no such file"),
        ("{0}/mine.py:MIME", "FB859 .*there is no 'MIME'.*\nhint: did you mean 'MINE'"),
        ("{0}/mine.py:NOT", "FB852 .*is no recipe: it has no 'name'"),
        ("{0}/broken.py:X", "FB859 .*broken.py:2: running it raises ZeroDivisionError"),
        ("{0}/syntax.py:X", "FB859 .*syntax.py:1: running it raises SyntaxError"),
        ("no.such.module:X", "FB859 'no.such.module' cannot be imported"),
    ],
)
def test_what_is_no_recipe_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "broken.py").write_text("\n1 / 0\n")
    (tmp_path / "syntax.py").write_text("def (:\n")
    with pytest.raises(FloorbenchError, match=said):
        open_recipe(name.format(tmp_path))


def test_a_file_is_named_so_that_others_find_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute_name("mine.py:X") == f"{tmp_path}/mine.py:X"
    assert absolute_name("a.b:X") == "a.b:X"
    assert absolute_name("codett") == "codett"


def test_settings_are_filled_and_checked() -> None:
    defaults: dict[str, Any] = {"n": 1, "x": 0.5, "on": True, "path": None, "names": ["a"]}
    assert fill({}, defaults) == defaults
    assert fill({"x": 2, "path": "p"}, defaults)["x"] == 2
    with pytest.raises(UsageError, match="FB851 there is no setting 'nam'\nhint: did you mean 'n"):
        fill({"nam": 1}, defaults)
    wrong: list[Mapping[str, Any]] = [
        {"n": True},
        {"n": 1.5},
        {"x": "2"},
        {"on": 1},
        {"names": "a"},
    ]
    for settings in wrong:
        with pytest.raises(UsageError, match="FB851 setting"):
            fill(settings, defaults)


def test_the_user_stands_above_the_preset() -> None:
    recipe = ToyRecipe()
    assert with_preset(recipe, None, {"items": 1}) == {"items": 1}
    assert with_preset(recipe, "tiny", {"pieces": 2}) == {"items": 2, "pieces": 2}
    assert with_preset(recipe, "tiny", {"items": 9}) == {"items": 9}
    with pytest.raises(UsageError, match=r"FB851 .*no preset 'tiy'\nhint: did you mean 'tiny'"):
        with_preset(recipe, "tiy", {})


class Given:
    name = "given"
    presets: Mapping[str, Any] = {}

    def __init__(self, work: Work) -> None:
        self._work = work

    def work(self, settings: Mapping[str, Any]) -> Work:
        return self._work

    def export(self, *_: Any) -> None:
        raise NotImplementedError


SEEDS = (Item(id="a"),)


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (Work(seeds=SEEDS, steps=(Text(DEFAULTS), Text(DEFAULTS))), "FB852 two stages are called"),
        (Work(seeds=SEEDS, steps=(object(),)), "FB852 object is no stage"),
        (Work(seeds=(), steps=()), "FB851 .*starts from no item"),
        (Work(seeds=(*SEEDS, *SEEDS), steps=()), "FB852 the seeds gave the id 'a' twice"),
        (Work(seeds=(Item(id="../a"),), steps=()), "FB852 the seeds gave the id '../a'"),
        (
            Work(
                seeds=SEEDS,
                steps=(Retried(maker=Voice(DEFAULTS), checker=Gate(DEFAULTS), attempts=0),),
            ),
            "FB852 'voice' is tried 0 times",
        ),
    ],
)
def test_impossible_work_is_refused(work: Work, said: str) -> None:
    with pytest.raises(FloorbenchError, match=said):
        checked_work(Given(work), {})


def test_stages_of_a_step() -> None:
    voice, gate = Voice(DEFAULTS), Gate(DEFAULTS)
    assert stages_of(voice) == (voice,)
    assert stages_of(Retried(maker=voice, checker=gate, attempts=1)) == (voice, gate)
