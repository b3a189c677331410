from floorbench.core.spec import SystemSpec
from floorbench.report.naming import settings_that_differ


def spec(name: str, version: str = "1", **parameters: object) -> SystemSpec:
    return SystemSpec(name=name, version=version, parameters=parameters)  # type: ignore[arg-type]


def test_only_what_differs_is_named() -> None:
    systems = [spec("a", t=0.5, k=1), spec("a", "2", t=0.7, k=1), spec("b", t=9)]
    named = [settings_that_differ(s, systems) for s in systems]
    assert named == ["t=0.5, version=1", "t=0.7, version=2", ""]


def test_parameters_within_a_parameter_have_names_of_their_own() -> None:
    systems = [spec("a", of={"t": 0.5, "v": 1}), spec("a", of={"t": 0.7, "v": 1})]
    assert settings_that_differ(systems[0], systems) == "of.t=0.5"


def test_what_one_lacks_differs_and_twins_do_not() -> None:
    assert settings_that_differ(spec("a", t=1), [spec("a", t=1), spec("a")]) == "t=1"
    assert settings_that_differ(spec("a", t=1), [spec("a", t=1)] * 2) == ""
