"""What a number depends on, in two parts, and how to print, hash and compare it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from floorbench import __version__, codec
from floorbench.core.sample import JsonValue
from floorbench.core.score import Signature
from floorbench.core.spec import MetricSpec, SystemSpec, TaskSpec
from floorbench.run.due import Plan
from floorbench.run.provenance import redact

_DESCRIPTIVE = ("level", "licence")  # say nothing about what is predicted
_SHORT = 12


class Difference(NamedTuple):
    """One place where two nested values differ."""

    path: str
    first: JsonValue
    second: JsonValue

    def __str__(self) -> str:
        return f"{self.path}: {_show(self.first)} -> {_show(self.second)}"


def as_json(value: object) -> Any:
    """Return a value as it reads back from a file: tuples are lists, enums are text."""
    return codec.parse(codec.encode(value))


def system_part(spec: SystemSpec) -> dict[str, JsonValue]:
    """Return what a system's predictions depend on, without secrets and empty fields."""
    plain = as_json(spec)
    plain["parameters"] = redact(plain["parameters"]).parameters
    plain["front_end"] = {k: v for k, v in plain["front_end"].items() if v is not None}
    return {k: v for k, v in plain.items() if k not in _DESCRIPTIVE and v not in (None, {}, [])}


def protocol_part(
    *,
    task: TaskSpec,
    dataset: str,
    metrics: Iterable[MetricSpec],
    plan: Plan,
    bootstrap: Mapping[str, JsonValue],
) -> dict[str, JsonValue]:
    """Return what a number depends on beside the system.

    Parameters
    ----------
    task : TaskSpec
        Name, version and resolved parameters (missing policy, parser mode, cluster rule ...).
    dataset : str
        Digest of the data.
    metrics : iterable of MetricSpec
        Their versions enter; the parameters stand in the task's.
    plan : Plan
        Trials and limit enter; conditions do not (each cell names its own).
    bootstrap : mapping
        Seed, draws, level.
    """
    return {
        "task": task.name,
        "task_version": task.version,
        "parameters": as_json(task.parameters),
        "dataset": dataset,
        "trials": plan.trials,
        "limit": plan.limit,
        "metrics": dict(sorted((m.name, m.version) for m in metrics)),
        "bootstrap": dict(bootstrap),
        "scorer": f"floorbench {__version__}",
    }


def signature_hash(part: Mapping[str, JsonValue]) -> str:
    """Return the SHA-256 (hex) of one part of a signature."""
    return codec.digest(dict(part))


def one_line(signature: Signature) -> str:
    """Return a signature as one printable line: names, versions and the hashes of both parts."""
    protocol, system = signature.protocol, signature.system
    bootstrap = protocol["bootstrap"]
    frozen = system.get("threshold_from")
    return "|".join(
        [
            f"task:{protocol['task']}/{protocol['task_version']}",
            f"data:{protocol['dataset'][:_SHORT]}",
            f"protocol:{signature_hash(protocol)[:_SHORT]}",
            f"system:{system['name']}/{system['version']}",
            f"config:{signature_hash(system)[:_SHORT]}",
            *([f"threshold:{frozen['artefact'][:_SHORT]}"] if frozen else []),
            f"seed:{bootstrap['seed']}",
            f"draws:{bootstrap['draws']}",
            f"level:{bootstrap['level']:g}",
            str(protocol["scorer"]).replace(" ", ":"),
        ]
    )


def differences(first: Any, second: Any, path: str = "") -> list[Difference]:
    """List every place where two JSON values differ, by dotted path."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        found: list[Difference] = []
        for key in sorted({*first, *second}):
            inner = f"{path}.{key}" if path else str(key)
            found += differences(first.get(key), second.get(key), inner)
        return found
    return [] if first == second else [Difference(path, first, second)]


def _show(value: JsonValue) -> str:
    text = "nothing" if value is None else codec.encode(value).decode()
    return text if len(text) <= 80 else text[:79] + "…"
