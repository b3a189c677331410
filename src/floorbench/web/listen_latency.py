"""How late responses arrive: a test in which somebody taps, or says "ta", with a steady beat.

The median of response minus beat holds everything between a moment in the recording and the
moment its response is noted: output, input and the participant's own habit of tapping a little
early. It is subtracted from every response, so that a response that feels simultaneous with a
sound has the time of that sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PERIOD = 1.0
"""Seconds between beats."""
BEATS = 12
WARM_UP = 4
"""Beats that are not counted."""
EARLY = 0.3
"""A response up to this many seconds before a beat, or PERIOD minus it after, belongs to it."""
ENOUGH = 6
STEADY = 0.1
"""Largest interquartile range, in seconds, of a test that is relied on."""
FRAME = 0.005
QUIET = 0.25
"""Seconds below the threshold between two bursts of sound."""


class Latency(NamedTuple):
    """The result of a test: seconds, seconds, count, and whether to rely on it."""

    latency: float | None
    spread: float | None
    used: int
    steady: bool


def latency(beats: Sequence[float], responses: Sequence[float]) -> Latency:
    """Return the latency of responses to a steady beat.

    Parameters
    ----------
    beats, responses : sequence of float
        Seconds on one clock. Each response belongs to the beat in whose period it falls; of
        several to one beat the first counts, and warm-up beats do not.

    Returns
    -------
    Latency
        ``latency`` is ``None`` with fewer than six usable beats.
    """
    import numpy as np

    first: dict[int, float] = {}
    for response in sorted(responses):
        for number, beat in enumerate(beats):
            if -EARLY <= response - beat < PERIOD - EARLY:
                first.setdefault(number, response - beat)
                break
    delays = np.array([d for number, d in first.items() if number >= WARM_UP])
    if len(delays) < ENOUGH:
        return Latency(None, None, len(delays), False)
    low, middle, high = np.quantile(delays, [0.25, 0.5, 0.75]).tolist()
    return Latency(middle, high - low, len(delays), high - low <= STEADY)


def bursts(samples: NDArray[np.float32], *, rate: int) -> list[float]:
    """Return when bursts of sound begin, in seconds: clicks, taps, a "ta".

    A burst begins in the first 5 ms that are four times louder than the median of the recording
    and a tenth as loud as its loudest, after a quarter of a second without any such. A recording
    that begins inside a burst does not tell when that one began.
    """
    import numpy as np

    width = max(1, round(FRAME * rate))
    count = len(samples) // width
    if count == 0:
        return []
    frames = samples[: count * width].reshape(count, width).astype(np.float64)
    loudness = np.sqrt((frames**2).mean(axis=1))
    if loudness.max() <= 1e-4:
        return []
    loud = np.flatnonzero(loudness >= max(4 * float(np.median(loudness)), 0.1 * loudness.max()))
    starts = loud[np.diff(loud, prepend=-1) > round(QUIET / FRAME)]
    return [float(s) * width / rate for s in starts]
