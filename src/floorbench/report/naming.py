"""What to call systems of one name that stand side by side: by version and settings that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floorbench.core.sample import JsonValue
from floorbench.core.spec import SystemSpec


def settings_that_differ(system: SystemSpec, others: Sequence[SystemSpec]) -> str:
    """Return version and parameters in which a system differs from any other of its name.

    Returns
    -------
    str
        ``pause=0.9, version=2``; parameters within a parameter have names like ``of.threshold``.
        Empty where nothing differs.
    """
    own = _settings(system)
    alike = [_settings(other) for other in others if other.name == system.name]
    names = sorted(own.keys() | {k for other in alike for k in other})
    differs = [k for k in names if any(other.get(k) != own.get(k) for other in alike)]
    return ", ".join(f"{k}={own.get(k)}" for k in differs)


def _settings(system: SystemSpec) -> dict[str, JsonValue]:
    out: dict[str, JsonValue] = {"version": system.version}
    for name, value in system.parameters.items():
        inner = value if isinstance(value, Mapping) else {}
        out |= {f"{name}.{k}": v for k, v in inner.items()} or {name: value}
    return out
