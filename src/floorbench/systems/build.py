"""From a name, or a path to somebody's Python file, to a system ready to load."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.catalog import SYSTEMS
from floorbench.core.ports import System
from floorbench.core.spec import SystemSpec
from floorbench.errors import FloorbenchError, Place, SystemProblem, UsageError, did_you_mean
from floorbench.systems.stream import driven
from floorbench.systems.user_file import line_of, run_file


def build_system(name: str, /, **parameters: Any) -> System:
    """Build a system; nothing is loaded yet. A streaming system comes with its driver.

    Parameters
    ----------
    name : str
        A catalogued name, ``path/to/file.py:Class`` or ``package.module:attribute``. A class or a
        function that returns a system, called with keyword arguments only.
    **parameters
        The system's own parameters.

    Raises
    ------
    UsageError
        ``FB101`` unknown name, ``FB513`` unknown or missing parameter.
    SystemProblem
        ``FB511`` the file cannot be loaded, ``FB512`` what it gives is not a system.
    EnvironmentProblem
        ``FB401`` an optional library is missing.
    """
    factory = _factory(name)
    _check_parameters(name, factory, parameters)
    return _checked(name, factory(**parameters))


def _factory(name: str) -> Any:
    location, colon, attribute = name.rpartition(":")
    if not colon:
        if name.endswith(".py"):
            raise UsageError("FB511", f"'{name}' names a file but no class in it")
        return SYSTEMS.load(name)
    module = _from_file(Path(location)) if location.endswith(".py") else _from_module(location)
    try:
        factory = getattr(module, attribute)
    except AttributeError:
        offered = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        near = did_you_mean(attribute, offered)
        raise SystemProblem(
            "FB511",
            f"there is no '{attribute}' in it",
            where=Place(location),
            hint=f"did you mean '{near}'?" if near else "give the name of a class defined there",
        ) from None
    if not callable(factory):
        raise SystemProblem(
            "FB512", f"'{attribute}' is neither a class nor a function", where=Place(location)
        )
    return factory


def _from_module(location: str) -> Any:
    try:
        return importlib.import_module(location)
    except ImportError as error:
        raise SystemProblem(
            "FB511", f"the module '{location}' cannot be imported ({error})"
        ) from None


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise SystemProblem("FB511", "there is no such file", where=Place(str(path)))
    try:
        return run_file(path, prefix="floorbench_user")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise SystemProblem(
            "FB511",
            f"running it raises {type(error).__name__}: {error}",
            where=Place(str(path), line_of(error, path)),
        ) from error


def _check_parameters(name: str, factory: Any, given: dict[str, Any]) -> None:
    try:
        wanted = inspect.signature(factory).parameters
    except (TypeError, ValueError):  # a builtin without a signature; the call itself will tell
        return
    if any(p.kind is p.VAR_KEYWORD for p in wanted.values()):
        return
    named = {n: p for n, p in wanted.items() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    for key in given:
        if key not in named:
            near = did_you_mean(key, named)
            known = ", ".join(named) or "none"
            raise UsageError(
                "FB513",
                f"system '{name}' has no parameter '{key}'",
                hint=f"did you mean '{near}'?" if near else f"its parameters: {known}",
            )
    missing = [n for n, p in named.items() if p.default is p.empty and n not in given]
    if missing:
        raise UsageError(
            "FB513",
            f"system '{name}' needs the parameter '{missing[0]}'",
            hint=f"needed: {', '.join(missing)}",
        )


def check_spec(name: str, system: Any) -> None:
    """Refuse a system whose spec is none, or cannot be written down; also after loading.

    Raises
    ------
    SystemProblem
        ``FB512``.
    """
    spec = getattr(system, "spec", None)
    if not isinstance(spec, SystemSpec):
        raise SystemProblem(
            "FB512",
            f"'{name}' gives a {type(system).__name__} whose `spec` is not a SystemSpec",
            hint="set `self.spec = SystemSpec(name=..., version=...)` in its constructor",
        )
    try:
        codec.decode(codec.encode(spec), SystemSpec)
    except (FloorbenchError, TypeError) as error:
        what = error.what if isinstance(error, FloorbenchError) else error
        raise SystemProblem(
            "FB512",
            f"'{name}' has a `spec` that cannot be written down: {what}",
            hint="give text, finite numbers, lists and mappings of the declared types",
        ) from None


def _checked(name: str, system: Any) -> System:
    """Refuse what is not a system, saying what is missing."""
    check_spec(name, system)
    streams = callable(getattr(system, "open", None))
    for method in ("load",) if streams else ("load", "decide"):
        if not callable(getattr(system, method, None)):
            raise SystemProblem(
                "FB512", f"'{name}' gives a {type(system).__name__} without `{method}`"
            )
    found: System = driven(system)
    return found
