"""Docstrings say what goes in, what is refused and what is undefined.

The rule for public functions and classes of the rooms below:

- a list of parameters, where there is one, names exactly the parameters there are;
- from four parameters on there is one; below that the summary may say it all;
- whoever raises an error of floorbench names it, in a *Raises* section or by its code;
- a registered metric has *Parameters*, *Undefined* and *Source*.
"""

import enum
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from floorbench import catalog

ROOMS = ("events", "metrics", "stats", "run")
FEW = 3
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)
RAISE = re.compile(r"raise (?:DataError|UsageError|EnvironmentProblem)\(")
METRICS = sorted(catalog.METRICS.entries())


def public() -> Iterator[tuple[str, Any]]:
    for room in ROOMS:
        package = importlib.import_module(f"floorbench.{room}")
        for found in pkgutil.iter_modules(package.__path__, f"floorbench.{room}."):
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
                    continue
                if inspect.isfunction(value) or (inspect.isclass(value) and described(value)):
                    yield f"{found.name.removeprefix('floorbench.')}.{name}", value


def described(kind: type) -> bool:
    """Enums, tuples of names and protocols have no parameters of their own to describe."""
    return not (issubclass(kind, (enum.Enum, tuple, Exception)) or Protocol in kind.__bases__)


def sections(text: str) -> dict[str, str]:
    parts = SECTION.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def listed(section: str) -> list[str]:
    """Names of a numpydoc list: lines at the margin, ``a, b : type``."""
    heads = [line for line in section.splitlines() if line and not line.startswith(" ")]
    return [name.strip(" *") for head in heads for name in head.partition(":")[0].split(",")]


def parameters(value: Any) -> list[str]:
    return [n for n in inspect.signature(value).parameters if n != "self"]


def own_code(value: Any) -> str:
    if inspect.isfunction(value):
        return inspect.getsource(value)
    made = [vars(value).get(n) for n in ("__init__", "__post_init__")]
    return "".join(
        inspect.getsource(m)
        for m in made
        if inspect.isfunction(m) and m.__qualname__ == f"{value.__qualname__}.{m.__name__}"
        and not m.__code__.co_filename.startswith("<")
    )  # fmt: skip


PUBLIC = dict(public())


def test_there_is_something_to_look_at() -> None:
    assert len(PUBLIC) > 300
    assert {"stats.bootstrap.bootstrap", "metrics.scored.Scored", "run.scoring.score"} < set(PUBLIC)


def test_lists_of_parameters_are_those_of_the_code() -> None:
    wrong = {}
    for name, value in PUBLIC.items():
        text = sections(inspect.getdoc(value) or "").get("Parameters")
        if text is not None and set(listed(text)) != set(parameters(value)):
            wrong[name] = (listed(text), parameters(value))
    assert not wrong


def test_four_parameters_need_a_list() -> None:
    bare = [
        name
        for name, value in PUBLIC.items()
        if len(parameters(value)) > FEW
        and "Parameters" not in sections(inspect.getdoc(value) or "")
    ]
    assert not bare


def test_errors_are_named() -> None:
    silent = [
        name
        for name, value in PUBLIC.items()
        if RAISE.search(own_code(value))
        and "Raises" not in sections(inspect.getdoc(value) or "")
        and not re.search(r"FB\d{3}", inspect.getdoc(value) or "")
    ]
    assert not silent


@pytest.mark.parametrize("name", METRICS)
def test_a_registered_metric_has_its_sections(name: str) -> None:
    factory = catalog.METRICS.load(name)
    found = sections(inspect.getdoc(factory) or "")
    assert {"Undefined", "Source"} <= found.keys()
    if parameters(factory):
        assert "Parameters" in found


@pytest.mark.parametrize("name", METRICS)
def test_the_reference_page_has_the_docstring_of_today(name: str) -> None:
    page = Path(__file__).parents[2].joinpath("docs/reference/metrics.md").read_text("utf-8")
    assert f"## `{name}`\n" in page, "run `make docs`"
    assert (inspect.getdoc(catalog.METRICS.load(name)) or "") in page, "run `make docs`"
