"""Recipes by name or from somebody's file, and their settings."""

from __future__ import annotations

import importlib
import inspect
import re
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from floorbench.build.pipeline.stage import Gather, Item, Recipe, Retried, Stage, Step, Work
from floorbench.catalog import RECIPES
from floorbench.core.sample import JsonValue
from floorbench.errors import DataError, Place, UsageError, did_you_mean
from floorbench.systems.user_file import line_of, run_file

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def open_recipe(name: str) -> Recipe:
    """Return a recipe.

    Parameters
    ----------
    name : str
        A catalogued name, ``path/to/file.py:NAME`` or ``package.module:NAME``: a recipe, or a class
        or function without arguments that gives one.

    Raises
    ------
    UsageError
        ``FB101`` for an unknown name; ``FB859`` when a file or module cannot be loaded.
    DataError
        ``FB852`` when what is found is no recipe.
    """
    location, colon, attribute = name.rpartition(":")
    if not colon:
        if name.endswith(".py"):
            raise UsageError("FB859", f"'{name}' names a file but no recipe in it")
        found = RECIPES.load(name)
    else:
        found = _attribute(location, attribute)
    recipe: Any = found() if inspect.isclass(found) or inspect.isfunction(found) else found
    lacking = [n for n in ("name", "presets", "work", "export") if not hasattr(recipe, n)]
    if lacking:
        raise DataError("FB852", f"'{name}' is no recipe: it has no '{lacking[0]}'")
    made: Recipe = recipe
    return made


def absolute_name(name: str) -> str:
    """Return the name under which a process in another folder finds the same recipe."""
    location, colon, attribute = name.rpartition(":")
    if colon and location.endswith(".py"):
        return f"{Path(location).resolve()}:{attribute}"
    return name


def _attribute(location: str, attribute: str) -> Any:
    where = Place(location)
    try:
        module = _file(Path(location)) if location.endswith(".py") else _module(location)
    except (Exception, SystemExit) as error:
        if isinstance(error, UsageError):
            raise
        line = line_of(error, Path(location))
        raise UsageError(
            "FB859",
            f"running it raises {type(error).__name__}: {error}",
            where=Place(location, line),
        ) from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        near = did_you_mean(attribute, [n for n in vars(module) if not n.startswith("_")])
        raise UsageError(
            "FB859",
            f"there is no '{attribute}' in it",
            where=where,
            hint=f"did you mean '{near}'?" if near else None,
        ) from None


def _module(location: str) -> Any:
    try:
        return importlib.import_module(location)
    except ImportError as error:
        raise UsageError("FB859", f"'{location}' cannot be imported ({error})") from None


def _file(path: Path) -> Any:
    if not path.is_file():
        raise UsageError("FB859", "there is no such file", where=Place(str(path)))
    return run_file(path, prefix="floorbench_recipe")


def fill(settings: Mapping[str, JsonValue], defaults: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Return the settings with defaults filled in; for the ``work`` of a recipe.

    Parameters
    ----------
    settings : mapping
        What the user and the preset gave.
    defaults : mapping
        Every setting that the recipe knows. A value of another type than its default is refused,
        except a whole number for a float and anything for a default of ``None``.

    Raises
    ------
    UsageError
        ``FB851`` for an unknown setting or a wrong type.
    """
    for name, value in settings.items():
        if name not in defaults:
            near = did_you_mean(name, defaults)
            hint = f"did you mean '{near}'?" if near else f"known: {', '.join(defaults)}"
            if name == "seed":
                hint = "a build has one seed: --seed"
            raise UsageError("FB851", f"there is no setting '{name}'", hint=hint)
        wanted = type(defaults[name])
        whole = wanted is float and type(value) is int
        if defaults[name] is not None and type(value) is not wanted and not whole:
            raise UsageError(
                "FB851",
                f"setting '{name}' is {value!r}; it must be a {wanted.__name__} "
                f"such as {defaults[name]!r}",
            )
    return {**defaults, **settings}


def with_preset(
    recipe: Recipe, preset: str | None, settings: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """Return a preset's settings with the user's on top.

    Raises
    ------
    UsageError
        ``FB851`` for an unknown preset.
    """
    if preset is None:
        return dict(settings)
    if preset not in recipe.presets:
        near = did_you_mean(preset, recipe.presets)
        known = ", ".join(recipe.presets) or "none"
        raise UsageError(
            "FB851",
            f"recipe '{recipe.name}' has no preset '{preset}'",
            hint=f"did you mean '{near}'?" if near else f"its presets: {known}",
        )
    return {**recipe.presets[preset], **settings}


def stages_of(step: Step) -> tuple[Stage | Gather, ...]:
    """Return the one stage of a step, or maker and checker."""
    return (step.maker, step.checker) if isinstance(step, Retried) else (step,)


def checked_work(recipe: Recipe, settings: Mapping[str, JsonValue]) -> Work:
    """Return a recipe's work after looking at names and ids.

    Raises
    ------
    UsageError
        ``FB851`` from the recipe, or for settings that it cannot make stages of.
    DataError
        ``FB852`` for a stage name used twice, a bad id, an id twice, or fewer than one attempt.
    """
    try:
        work = recipe.work(settings)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        raise UsageError(
            "FB851",
            f"recipe '{recipe.name}' cannot use these settings: {type(error).__name__}: {error} "
            f"({Path(at.filename).name}:{at.lineno})",
        ) from error
    seen: set[str] = set()
    for step in work.steps:
        if isinstance(step, Retried) and step.attempts < 1:
            raise DataError("FB852", f"'{step.maker.name}' is tried {step.attempts} times")
        for stage in stages_of(step):
            if not isinstance(stage, Stage | Gather):
                raise DataError("FB852", f"{type(stage).__name__} is no stage")
            if stage.name in seen:
                raise DataError("FB852", f"two stages are called '{stage.name}'")
            seen.add(stage.name)
    if not work.seeds:
        raise UsageError("FB851", f"recipe '{recipe.name}' starts from no item with these settings")
    check_ids(work.seeds, "the seeds", set())
    return work


def check_ids(items: tuple[Item, ...], of: str, seen: set[str]) -> None:
    """Refuse ids that are no file names or that ``seen`` holds; add the others to it.

    Raises
    ------
    DataError
        ``FB852``.
    """
    for item in items:
        if not _NAME.fullmatch(item.id):
            raise DataError("FB852", f"{of} gave the id {item.id!r}; letters, digits, - _ . only")
        if item.id in seen:
            raise DataError("FB852", f"{of} gave the id '{item.id}' twice")
        seen.add(item.id)
