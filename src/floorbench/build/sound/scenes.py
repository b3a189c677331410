"""What each scenario may sound like: who is heard, how far away, how loud, over what noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from floorbench.datasets.codett_labels import SCENARIOS
from floorbench.errors import UsageError, did_you_mean

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneRanges:
    """Ranges that one item's values are drawn from, evenly.

    Parameters
    ----------
    level_db : (float, float)
        Active level of the target in dB relative to full scale.
    distance_m : (float, float) or None
        Talker to microphone; ``None`` is a close microphone without a room.
    room_share : float
        Share of items with a room, in [0, 1].
    babble_db : (float, float) or None
        Ratio of the target's active power to babble power; ``None`` is without babble.
    noise_db : (float, float) or None
        Ratio to a background noise recording.
    noise_share : float
        Share of items with background noise, in [0, 1].
    burst : bool
        Whether the target itself is a non-speech recording.
    """

    level_db: Range
    distance_m: Range | None = None
    room_share: float = 0.0
    babble_db: Range | None = None
    noise_db: Range | None = None
    noise_share: float = 0.0
    burst: bool = False


_CLOSE = SceneRanges(level_db=(-29.0, -23.0), noise_db=(15.0, 30.0), noise_share=0.3)
DEFAULT: Mapping[str, SceneRanges] = {
    **dict.fromkeys(SCENARIOS, _CLOSE),
    "Invalidation": SceneRanges(level_db=(-36.0, -24.0), burst=True),
    "SideTalk": replace(_CLOSE, level_db=(-33.0, -26.0), distance_m=(0.8, 1.5), room_share=1.0),
    "Collaboration": replace(
        _CLOSE, level_db=(-31.0, -25.0), distance_m=(0.8, 1.5), room_share=1.0
    ),
    "Cooperation": replace(_CLOSE, level_db=(-31.0, -25.0), distance_m=(0.8, 1.5), room_share=1.0),
    "Distraction": SceneRanges(
        level_db=(-40.0, -34.0), distance_m=(1.8, 2.4), room_share=1.0, babble_db=(5.0, 15.0)
    ),
    "Exclusion": SceneRanges(
        level_db=(-35.0, -29.0), distance_m=(1.4, 2.2), room_share=1.0, babble_db=(5.0, 15.0)
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The values of one item; ``None`` where the scene has no such part."""

    level_db: float
    distance_m: float | None
    babble_db: float | None
    noise_db: float | None
    burst: bool


def draw(ranges: SceneRanges, rng: np.random.Generator) -> Drawn:
    """Draw one item's values; every scene takes the same number of draws."""
    level, distance, room, babble, noise, noisy = rng.random(6)
    return Drawn(
        level_db=_at(ranges.level_db, level),
        distance_m=_at(ranges.distance_m, distance)
        if ranges.distance_m is not None and room < ranges.room_share
        else None,
        babble_db=None if ranges.babble_db is None else _at(ranges.babble_db, babble),
        noise_db=_at(ranges.noise_db, noise)
        if ranges.noise_db is not None and noisy < ranges.noise_share
        else None,
        burst=ranges.burst,
    )


def with_changes(changes: Mapping[str, Mapping[str, Any]]) -> dict[str, SceneRanges]:
    """Return the default scenes with some ranges of some scenarios replaced.

    Raises
    ------
    UsageError
        FB884 for an unknown scenario or range, or a range that is not two ascending numbers.

    Examples
    --------
    >>> with_changes({"Distraction": {"babble_db": [0, 5]}})["Distraction"].babble_db
    (0.0, 5.0)
    """
    result = dict(DEFAULT)
    for scenario, values in changes.items():
        if scenario not in result:
            raise UsageError(
                "FB884",
                f"there is no scenario {scenario!r} to change the sound of",
                hint=_near(scenario, result),
            )
        known = asdict(result[scenario])
        filled = {}
        for name, value in values.items():
            if name not in known:
                raise UsageError("FB884", f"a scene has no {name!r}", hint=_near(name, known))
            filled[name] = _checked(scenario, name, value)
        result[scenario] = replace(result[scenario], **filled)
    return result


def _checked(scenario: str, name: str, value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if name == "burst" and isinstance(value, bool):
        return value
    if name.endswith("_share") and number and 0 <= value <= 1:
        return float(value)
    if name in {"distance_m", "babble_db", "noise_db"} and value is None:
        return None
    if (
        name.endswith(("_db", "_m"))
        and isinstance(value, list | tuple)
        and len(value) == 2
        and all(isinstance(v, int | float) and np.isfinite(v) for v in value)
        and value[0] <= value[1]
        and (name != "distance_m" or value[0] > 0)
    ):
        return (float(value[0]), float(value[1]))
    raise UsageError("FB884", f"{scenario}.{name} cannot be {value!r}")


def _near(name: str, known: Iterable[str]) -> str:
    near = did_you_mean(name, known)
    return f"did you mean '{near}'?" if near else f"known: {', '.join(known)}"


def _at(ends: Range, share: float) -> float:
    return round(ends[0] + (ends[1] - ends[0]) * float(share), 2)
