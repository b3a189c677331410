"""What is measured on every track: loudness, level, ratio, peak, clipping, length and rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorbench.build import mixing
from floorbench.build.pipeline.stage import Bench, Item, Outcome, made
from floorbench.core.sample import JsonValue
from floorbench.errors import missing_extra

SHORTEST_LOUDNESS_S = 0.4
RUN = 3


def clipped_share(samples: NDArray[np.floating[Any]]) -> float:
    """Return the share of samples in runs of at least three equal samples at the track's peak.

    A single sample at full scale is a loud one; several in a row at the highest value of a track
    whose peak is above -1 dBFS are a waveform that was cut off.

    Examples
    --------
    >>> clipped_share(np.array([0.0, 1.0, 1.0, 1.0, 0.0, 0.1, 0.2, 0.3]))
    0.375
    >>> clipped_share(np.array([0.0, 0.2, 0.2, 0.2, 0.0]))
    0.0
    """
    if not len(samples):
        return 0.0
    peak = float(np.max(np.abs(samples)))
    if peak < 10 ** (-1 / 20):
        return 0.0
    at_peak = np.abs(samples) >= peak - 1 / 32_768
    edges = np.flatnonzero(np.diff(np.concatenate(([0], at_peak.astype(np.int8), [0]))))
    lengths = edges[1::2] - edges[::2]
    return float(lengths[lengths >= RUN].sum() / len(samples))


def loudness_lufs(samples: NDArray[np.floating[Any]], rate: int) -> float | None:
    """Return the integrated loudness (ITU-R BS.1770-4) in LUFS.

    Undefined (``None``) for tracks shorter than one gating block of 0.4 s and for tracks that are
    entirely below the absolute gate of -70 LUFS.
    """
    try:
        import pyloudnorm
    except ImportError:
        raise missing_extra("pyloudnorm", "build") from None
    if len(samples) < SHORTEST_LOUDNESS_S * rate:
        return None
    meter = pyloudnorm.Meter(rate)
    value = float(meter.integrated_loudness(np.asarray(samples, dtype=np.float64)))
    return value if np.isfinite(value) else None


def measure(samples: NDArray[np.floating[Any]], rate: int) -> dict[str, JsonValue]:
    """Return the measures of one mono track.

    Returns
    -------
    dict
        ``duration_s``; ``active_s``, the length of 10 ms windows within 40 dB of the loudest one;
        ``active_level_db`` and ``peak_db`` relative to full scale; ``loudness_lufs``;
        ``clipped_share``. Levels of digital silence are ``None``.
    """
    audio = np.asarray(samples, dtype=np.float64)
    sounding = bool(np.any(audio))
    active = int(mixing.active_windows(audio, rate).sum()) if sounding else 0
    loudness = loudness_lufs(audio, rate)
    return {
        "duration_s": round(len(audio) / rate, 4),
        "active_s": round(active * mixing.WINDOW_S, 2),
        "active_level_db": round(mixing.active_level_db(audio, rate), 2) if sounding else None,
        "peak_db": round(20 * float(np.log10(np.max(np.abs(audio)))), 2) if sounding else None,
        "loudness_lufs": None if loudness is None else round(loudness, 2),
        "clipped_share": round(clipped_share(audio), 6),
    }


class Measure:
    """Measure some tracks of every item and write the figures into its field ``measures``.

    Measuring ``target-clean`` and ``target`` gives the figures before and after the soundscape.
    A track that an item does not have is left out.
    """

    name = "measure"
    version = 1
    deterministic = True

    def __init__(self, *, tracks: tuple[str, ...]) -> None:
        self._tracks = tracks

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the names of the tracks."""
        return {"tracks": list(self._tracks)}

    def start(self) -> None:
        """Nothing to load."""

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Add the figures of every named track that the item has."""
        figures: dict[str, JsonValue] = {}
        for name in self._tracks:
            if name in item.audio:
                samples, rate = bench.load(item.audio[name])
                figures[name] = measure(samples, rate)
        return made(item.having(measures=figures))
