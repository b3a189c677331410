"""What a page posts: one JSON mapping, read value by value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from floorbench.errors import UsageError
from floorbench.web.guard import json_handler

Posted = Mapping[str, Any]
LONGEST = 10_000
"""Numbers in one list, at most."""


def post_routes(makers: Mapping[str, Callable[[Posted], Any]]) -> list[Route]:
    """Return ``/api/NAME`` for each function that answers what is posted there."""
    return [
        Route(f"/api/{name}", json_handler(posted(make)), methods=["POST"])
        for name, make in makers.items()
    ]


def posted(make: Callable[[Posted], Any]) -> Callable[[Request, Any], Any]:
    """Return a maker of answers (``FB805`` when what is posted is no mapping)."""

    def handle(_: Request, body: Any) -> Any:
        if not isinstance(body, dict):
            raise UsageError("FB805", "the page sends mappings")
        return make(body)

    return handle


def text(asked: Posted, name: str) -> str:
    """Return a text (``FB805`` when it is none)."""
    value = asked.get(name)
    if not isinstance(value, str):
        raise UsageError("FB805", f"'{name}' is missing")
    return value


def number(asked: Posted, name: str) -> float:
    """Return a number (``FB805`` when it is none, or beyond 1e12)."""
    value = asked.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e12:
        raise UsageError("FB805", f"'{name}' is not a number")
    return float(value)


def numbers(asked: Posted, name: str) -> tuple[float, ...]:
    """Return a list of numbers (``FB805`` when it is none, or too long)."""
    values = asked.get(name)
    if not isinstance(values, list) or len(values) > LONGEST:
        raise UsageError("FB805", f"'{name}' is not a list")
    return tuple(number({name: v}, name) for v in values)
