from dataclasses import replace

import pytest

from floorbench import __version__
from floorbench.core.score import Signature
from floorbench.core.spec import FrontEnd, MetricSpec, SystemSpec, TaskSpec
from floorbench.core.vocab import Level
from floorbench.run.due import Plan
from floorbench.run.signature import (
    differences,
    one_line,
    protocol_part,
    signature_hash,
    system_part,
)

SYSTEM = SystemSpec(
    name="s",
    version="1",
    threshold=0.5,
    weights={"m.onnx": "ab"},
    label_map="turns/1",
    parameters={"api_key": "s3cr3t", "beam": 4},
    front_end=FrontEnd(rate=16000, gate="off"),
)
TASK = TaskSpec(name="t", version="2", labels=("a",), parameters={"missing": "wrong"})
METRIC = MetricSpec(name="m", version="3", unit="sample", columns=())


def protocol(**changes: object) -> dict[str, object]:
    given = {
        "task": TASK,
        "dataset": "d" * 64,
        "metrics": [METRIC],
        "plan": Plan(("",)),
        "bootstrap": {"seed": 1, "draws": 2000, "level": 0.95},
    }
    return protocol_part(**{**given, **changes})  # type: ignore[arg-type]


def test_the_system_part_names_what_decides() -> None:
    part = system_part(SYSTEM)
    assert part["threshold"] == 0.5
    assert part["weights"] == {"m.onnx": "ab"}
    assert part["front_end"] == {"rate": 16000, "gate": "off", "tail": 0.0}
    assert part["parameters"] == {"api_key": "<redacted>", "beam": 4}
    assert "score" not in part


def test_how_far_a_system_was_run_is_no_part_of_it() -> None:
    other = replace(SYSTEM, level=Level.MEASURED, licence="MIT")
    assert system_part(other) == system_part(SYSTEM)


@pytest.mark.parametrize(
    "changes",
    [
        {"task": replace(TASK, version="3")},
        {"task": replace(TASK, parameters={"missing": "drop"})},
        {"dataset": "e" * 64},
        {"metrics": [replace(METRIC, version="4")]},
        {"plan": Plan(("",), trials=2)},
        {"plan": Plan(("",), limit=2)},
        {"bootstrap": {"seed": 2, "draws": 2000, "level": 0.95}},
    ],
    ids=str,
)
def test_whatever_changes_a_number_changes_the_protocol_hash(changes: dict[str, object]) -> None:
    assert signature_hash(protocol(**changes)) != signature_hash(protocol())


def test_conditions_are_named_by_the_cells_not_by_the_protocol() -> None:
    assert protocol(plan=Plan(("a", "b"))) == protocol()


def test_one_line_names_both_parts() -> None:
    signature = Signature(protocol=protocol(), system=system_part(SYSTEM))
    line = one_line(signature)
    assert line == (
        f"task:t/2|data:dddddddddddd|protocol:{signature_hash(protocol())[:12]}"
        f"|system:s/1|config:{signature_hash(system_part(SYSTEM))[:12]}"
        f"|seed:1|draws:2000|level:0.95|floorbench:{__version__}"
    )


def test_differences_are_found_by_path() -> None:
    first = {"a": {"b": 1, "c": [1, 2]}, "d": "x"}
    second = {"a": {"b": 2, "c": [1, 2]}, "e": None, "f": "y" * 200}
    found = [str(d) for d in differences(first, second)]
    assert found == ["a.b: 1 -> 2", 'd: "x" -> nothing', f'f: nothing -> "{"y" * 78}…']
    assert differences(first, first) == []
