"""By name, by module, or from somebody's file; every fault of theirs is one clear error."""

import sys
import textwrap

import pytest

from floorbench.core.sample import Observation
from floorbench.errors import FloorbenchError, SystemProblem, UsageError
from floorbench.systems import build_system

GOOD = """
    from floorbench.core.prediction import Decision
    from floorbench.core.spec import FrontEnd, SystemSpec

    class Mine:
        def __init__(self, *, label: str = "a", needed: int = 1):
            self.spec = SystemSpec(name="mine", version="1")
            self.label = label

        def load(self):
            pass

        def decide(self, observation):
            return Decision(label=self.label)

    class NoDecide:
        def __init__(self):
            self.spec = SystemSpec(name="mine", version="1")

        def load(self):
            pass

    class NoLoad(Mine):
        load = None

    class WrongSpec:
        spec = "mine"

    class OddSpec(Mine):
        def __init__(self):
            self.spec = SystemSpec(name="mine", version="1", parameters={"a": object()})

    class MistypedSpec(Mine):
        def __init__(self):
            self.spec = SystemSpec(name=5, version="1")

    class Needs(Mine):
        def __init__(self, *, weights):
            super().__init__()

    class Stream:
        def __init__(self):
            step = FrontEnd(rate=16000)
            self.spec = SystemSpec(name="stream", version="1", streaming_step=0.02, front_end=step)

        def load(self):
            pass

        def open(self, setup):
            pass

    def anything(**parameters):
        return Mine(label=parameters["label"])

    number = 3
"""


@pytest.fixture
def file(tmp_path):
    def write(text=GOOD, name="mine.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return path

    return write


def problem(call) -> FloorbenchError:
    with pytest.raises(FloorbenchError) as caught:
        call()
    return caught.value


def test_a_users_file(file):
    system = build_system(f"{file()}:Mine", label="b")
    assert system.decide(Observation(language="en")).label == "b"


def test_a_function_with_any_parameters(file):
    assert build_system(f"{file()}:anything", label="c").label == "c"


def test_a_stream_system_needs_open_instead_of_decide(file):
    assert build_system(f"{file()}:Stream").spec.name == "stream"


def test_a_module():
    assert build_system("floorbench.systems.baselines:always_keep").spec.name == "always-keep"


def test_unknown_names():
    error = problem(lambda: build_system("smart-turn-v3.3"))
    assert error.code == "FB101"
    assert "did you mean 'smart-turn-v3" in error.hint


def test_unknown_parameters(file):
    error = problem(lambda: build_system("smart-turn-v3.2", treshold=0.4))
    assert error.code == "FB513"
    assert isinstance(error, UsageError)
    assert "did you mean 'threshold'?" in error.hint
    error = problem(lambda: build_system(f"{file()}:Mine", zzz=1))
    assert "its parameters: label, needed" in error.hint
    error = problem(lambda: build_system("always-keep", label="x"))
    assert "its parameters: none" in error.hint


def test_missing_parameters(file):
    error = problem(lambda: build_system(f"{file()}:Needs"))
    assert error.code == "FB513"
    assert "needs the parameter 'weights'" in error.what


@pytest.mark.parametrize(
    ("attribute", "code", "words"),
    [
        ("NoDecide", "FB512", "without `decide`"),
        ("NoLoad", "FB512", "without `load`"),
        ("WrongSpec", "FB512", "is not a SystemSpec"),
        ("OddSpec", "FB512", "cannot be written down: object"),
        ("MistypedSpec", "FB512", "cannot be written down: Expected `str`, got `int`"),
        ("number", "FB512", "neither a class nor a function"),
        ("Minne", "FB511", "did you mean 'Mine'"),
    ],
)
def test_what_is_not_a_system(file, attribute, code, words):
    error = problem(lambda: build_system(f"{file()}:{attribute}"))
    assert isinstance(error, SystemProblem)
    assert error.code == code
    assert words in str(error)


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("x = 1\nx.\n", "SyntaxError", 2),
        ("\n\nimport no_such_package\n", "No module named 'no_such_package'", 3),
        ("def f():\n    raise ValueError('mine')\nf()\n", "ValueError: mine", 2),
        ("raise SystemExit(3)\n", "SystemExit: 3", 1),
    ],
)
def test_a_file_that_does_not_run(file, text, words, line):
    path = file(text, "broken.py")
    before = set(sys.modules)
    error = problem(lambda: build_system(f"{path}:Mine"))
    assert error.code == "FB511"
    assert words in error.what
    assert (error.where.file, error.where.line) == (str(path), line)
    assert not [name for name in set(sys.modules) - before if name.startswith("floorbench_user_")]


def test_no_file_no_class_no_module(tmp_path):
    assert problem(lambda: build_system(f"{tmp_path}/none.py:A")).code == "FB511"
    assert problem(lambda: build_system(f"{tmp_path}/none.py")).code == "FB511"
    assert problem(lambda: build_system("no.such.module:A")).code == "FB511"
