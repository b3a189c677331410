"""Which snapshot of a model answered, as the service itself says it.

An alias (``gpt-4o``, a tag) is answered by another model next month. What a service writes about
itself is a stranger's text: what is no plain name counts as not said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from floorbench.core.prediction import Decision, Served, is_name
from floorbench.systems.llm.protocol import Completion, ModelFault

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


def now() -> str:
    """Return the current time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(value: object) -> str | None:
    """Return a time in the form of :func:`now`; ``None`` for anything else."""
    return value if isinstance(value, str) and _MOMENT.fullmatch(value) else None


def name_in(answer: Any, field: str, *, secret: str = "") -> str | None:
    """Return a name that stands in a service's answer, or ``None``.

    Parameters
    ----------
    answer : object
        The answer's JSON, of whatever shape.
    field : str
    secret : str
        A text that must not be kept: what holds it is no name.
    """
    value = answer.get(field) if isinstance(answer, Mapping) else None
    if not isinstance(value, str) or not is_name(value) or (secret and secret in value):
        return None
    return value


def stamped(read: Callable[[], Completion], served: Served | None) -> Completion:
    """Return what a reader of an answer returns, marked with who gave it.

    Raises
    ------
    ModelFault
        As the reader, marked too: who refuses or writes nonsense has answered.
    """
    try:
        return replace(read(), served=served)
    except ModelFault as fault:
        fault.served = served
        raise


def marked(decision: Decision, said: Completion | ModelFault | None) -> Decision:
    """Return a decision with who gave the answer that it was read from."""
    if said is None or said.served is None:
        return decision
    return replace(decision, served=said.served)
