import importlib.metadata

import pytest

from floorbench.errors import EnvironmentProblem, UsageError
from floorbench.registry import Entry, Registry, required_parameters


def registry(**entries: Entry) -> Registry:
    return Registry("thing", entries)


def test_required_parameters_are_those_without_a_default() -> None:
    def factory(a, *more, b, c=1, **rest): ...

    assert required_parameters(factory) == ("a", "b")
    assert required_parameters(lambda c=1, **rest: None) == ()


def test_load_imports_the_target() -> None:
    assert registry(a=Entry("math:tau", "a number")).load("a") == pytest.approx(6.283, abs=1e-3)


def test_a_misspelt_name_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean 'oracle'"):
        registry(oracle=Entry("x:y", "")).load("orcale")
    with pytest.raises(UsageError, match="floorbench list things"):
        registry(oracle=Entry("x:y", "")).load("zzzz")


def test_a_missing_library_names_the_extra() -> None:
    with pytest.raises(EnvironmentProblem, match=r"floorbench\[webrtc\]"):
        registry(a=Entry("not_installed_anywhere:x", "", extra="webrtc")).load("a")


def test_a_name_taken_twice_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    point = importlib.metadata.EntryPoint("a", "other:thing", "floorbench.things")
    monkeypatch.setattr("floorbench.registry.entry_points", lambda group: [point])
    with pytest.raises(EnvironmentProblem, match="FB102"):
        registry(a=Entry("math:tau", "")).entries()
    assert "a" in registry(b=Entry("math:tau", "")).entries()
