"""Calling a server that may be busy: try again after a while, and only when that can help."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from floorbench.core.vocab import Outcome
from floorbench.errors import UsageError
from floorbench.systems.llm.protocol import ModelFault

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How often and how long.

    Parameters
    ----------
    attempts : int
        Calls at most, at least 1.
    timeout : float
        Seconds that one call may take.
    base, longest : float
        First pause and longest pause in seconds; pauses double. A server's own ``Retry-After``
        goes before them, up to ``longest``.
    sleep : callable
        Waits some seconds.
    """

    attempts: int = 5
    timeout: float = 60.0
    base: float = 0.5
    longest: float = 60.0
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if self.attempts < 1 or not self.timeout > 0 or self.base < 0 or self.longest < 0:
            raise UsageError(
                "FB513",
                f"attempts={self.attempts}, timeout={self.timeout}: out of range",
                hint="attempts is at least 1, timeout is above 0",
            )


class Refused(Exception):
    """One call failed.

    Parameters
    ----------
    reason : str
        One sentence, without secrets.
    again : bool
        Whether another try may help.
    outcome : Outcome
        What the item counts as when no try helps.
    wait : float or None
        Seconds that the server asks to wait.
    """

    def __init__(
        self,
        reason: str,
        *,
        again: bool,
        outcome: Outcome = Outcome.FAILED,
        wait: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.outcome = outcome
        self.wait = wait


def calling(call: Callable[[], T], policy: Policy) -> T:
    """Make a call until it succeeds, another try cannot help, or the attempts are used up.

    Raises
    ------
    ModelFault
        With the outcome of the last failure.
    """
    for attempt in range(policy.attempts):
        try:
            return call()
        except Refused as refused:
            if not refused.again:
                raise ModelFault(refused.outcome, refused.reason) from None
            last = refused
        if attempt + 1 < policy.attempts:
            pause = policy.base * 2**attempt if last.wait is None else last.wait
            policy.sleep(min(pause, policy.longest))
    tries = f" ({policy.attempts} tries)" if policy.attempts > 1 else ""
    raise ModelFault(last.outcome, last.reason + tries)


def of_status(status: int, detail: str, retry_after: str | None) -> Refused:
    """Return what an HTTP status means: too many requests and server errors may pass."""
    return Refused(
        f"the server answered {status}" + (f": {detail}" if detail else ""),
        again=status == 429 or status >= 500,
        wait=seconds_of(retry_after),
    )


def seconds_of(retry_after: str | None) -> float | None:
    """Read a ``Retry-After`` header: seconds or a date; ``None`` when it says nothing useful."""
    if retry_after is None:
        return None
    try:
        wait = float(retry_after)
    except ValueError:
        try:
            when = parsedate_to_datetime(retry_after)
        except (ValueError, OverflowError):
            return None
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        wait = (when - datetime.now(UTC)).total_seconds()
    return max(0.0, wait) if wait == wait and wait != float("inf") else None
