"""Numbers with their uncertainty: coverage, interval, estimate, signature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Ledger of a denominator: what became of every prediction that was due.

    ``expected`` counts what the protocol asks for; ``absent`` are keys without any prediction.
    The classes add up to ``expected``.
    """

    expected: int
    ok: int = 0
    abstained: int = 0
    unsupported: int = 0
    invalid: int = 0
    failed: int = 0
    timeout: int = 0
    absent: int = 0

    def __post_init__(self) -> None:
        total = self.ok + self.absent + sum(self.count(o) for o in Outcome if o is not Outcome.OK)
        if total != self.expected:
            raise ValueError(f"coverage classes add up to {total}, expected {self.expected}")

    def count(self, outcome: Outcome) -> int:
        """Return the number of predictions with that outcome."""
        return int(getattr(self, outcome.value))

    @property
    def share(self) -> float | None:
        """Answered share in [0, 1]; ``None`` when nothing was expected."""
        return self.ok / self.expected if self.expected else None

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(
            **{name: getattr(self, name) + getattr(other, name) for name in Coverage.__slots__}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval, or the reason why there is none.

    ``low`` and ``high`` are both set or both ``None``; ``method`` names how it was made
    (``bca``, ``percentile``, ``clopper-pearson``, ``wilson``, ``none``). ``effective`` is how many
    clusters of equal weight the value is worth, where that is known.
    """

    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = "none"
    clusters: int = 0
    draws: int = 0
    undefined_draws: int = 0
    reason: str | None = None
    warning: str | None = None
    beside: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    effective: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One printed number.

    ``value`` is ``None`` exactly when ``reason`` says why it is undefined. Never rounded or
    clipped before it is stored.
    """

    metric: str
    slice: Mapping[str, str]
    value: float | None
    interval: Interval
    coverage: Coverage
    units: int
    reason: str | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) != (self.reason is not None):
            raise ValueError("an estimate has a value or a reason, not both and not neither")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a number depends on, in two parts; two numbers compare if ``protocol`` is equal."""

    protocol: Mapping[str, JsonValue]
    system: Mapping[str, JsonValue]
