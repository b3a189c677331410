"""``floorbench list`` and ``floorbench show``: what there is, by name."""

from __future__ import annotations

import inspect
import re
from typing import Any, Literal

from floorbench import catalog
from floorbench.cli import console
from floorbench.cli.options import how_to_give
from floorbench.errors import UsageError, did_you_mean
from floorbench.registry import required_parameters

_ROLE = re.compile(r":\w+:`~?([^`]+)`")  # a cross-reference of the documentation's mark-up
Kind = Literal["tasks", "systems", "datasets", "metrics", "recipes", "assets"]


def list_names(kind: Kind | None = None, /, *, json: bool = False) -> int:
    """List what can be named on the command line.

    Parameters
    ----------
    kind
        Only this kind; without it all but assets are listed.
    json
        Print JSON.
    """
    if kind == "assets":
        from floorbench.cli.assets import list_assets

        return list_assets(json=json)
    chosen = [
        r for r in catalog.ALL.values() if kind == f"{r.kind}s" or (kind is None and r.entries())
    ]
    if json:
        console.data_json({f"{r.kind}s": r.entries() for r in chosen})
        return 0
    for registry in chosen:
        with_level = any(e.level for e in registry.entries().values())
        rows = [
            (name, *([e.level or ""] if with_level else []), e.extra or "", e.summary)
            for name, e in registry.entries().items()
        ]
        head = (registry.kind, *(["level"] if with_level else []), "extra", "what it is")
        console.data(console.columns(rows, head))
    return 0


def show(name: str, /, *, json: bool = False) -> int:
    """Show one task, system, dataset, metric or recipe: its specification and its documentation.

    Parameters
    ----------
    name
        A name from ``floorbench list``.
    json
        Print JSON.
    """
    for registry in catalog.ALL.values():
        if name in registry.entries():
            target = registry.load(name)
            spec = _spec(target)
            # A row that only fixes parameters is described by what it fixes them of.
            about = inspect.getdoc(getattr(target, "func", target)) or ""
            entry = registry.entry(name)
            if json:
                console.data_json(
                    {"name": name, "kind": registry.kind, "entry": entry, "spec": spec}
                )
                return 0
            console.data(f"{registry.kind} {name}: {entry.summary}\n")
            console.data(_ROLE.sub(r"``\1``", about) + "\n")
            if spec is not None:
                console.data("specification:")
                console.data_json(spec)
            elif registry.kind == "task":
                needs = required_parameters(target)
                ways = (how_to_give(target, n, option="--task-set") for n in needs)
                console.data("needs:\n" + "\n".join(ways))
            return 0
    every = [n for r in catalog.ALL.values() for n in r.entries()]
    near = did_you_mean(name, every)
    raise UsageError(
        "FB101",
        f"nothing is registered as '{name}'",
        hint=f"did you mean '{near}'?" if near else "`floorbench list` shows all names",
    )


def _spec(target: Any) -> Any:
    """Return the specification of what a catalogue name builds with its defaults, if any."""
    return None if required_parameters(target) else getattr(target(), "spec", None)
