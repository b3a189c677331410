"""Compare a rebuilt starter set with the shipped one, clip by clip, in samples and dB.

The build voice rounds: on another CPU family a phoneme may last one frame (25 ms) more or less,
after which no two waveforms can be laid over each other. So equal bytes are promised within one
family, and elsewhere that three differences stay within limits: of duration, of active level, and
of band levels after alignment in time.
"""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorbench.build.mixing import Audio, active_level_db
from floorbench.core.words import counted
from floorbench.errors import DataError, Place, missing_extra

HOP_S = 0.025
BAND_EDGES_HZ = (100.0, 300.0, 600.0, 1000.0, 1600.0, 2500.0, 4000.0, 7000.0)
RANGE_DB = 40.0

DURATION_LIMIT_S = 0.15
LEVEL_LIMIT_DB = 0.5
BAND_LIMIT_DB = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far one rebuilt clip lies from the reference.

    Attributes
    ----------
    id : str
    same : bool
        The decoded samples are equal.
    duration : int
        Samples at 16 kHz, rebuilt minus reference.
    level_db : float
        Active level (:func:`floorbench.build.mixing.active_level_db`), rebuilt minus reference.
    band_db : float
        Mean absolute difference of band levels after alignment (:func:`band_difference_db`).
    residual_db : float or None
        RMS of the difference of the samples over the common length, relative to the reference's
        active level; ``None`` when there is no difference. For information, without a limit.
    """

    id: str
    same: bool
    duration: int
    level_db: float
    band_db: float
    residual_db: float | None

    def within(self, *, rate: int) -> bool:
        """Tell whether the three differences keep the limits, limits included."""
        return (
            abs(self.duration) <= DURATION_LIMIT_S * rate
            and abs(self.level_db) <= LEVEL_LIMIT_DB
            and self.band_db <= BAND_LIMIT_DB
        )


def band_levels(audio: Audio, rate: int) -> Audio:
    """Return band levels in dB, shape (frames, bands), relative to the loudest of them.

    Frames of 50 ms (Hann) every 25 ms; seven bands from 100 Hz to 7 kHz; values more than 40 dB
    below the loudest are raised to -40 dB, so that silence and coding noise weigh nothing.
    """
    hop = round(HOP_S * rate)
    size = 2 * hop
    padded = np.pad(audio, (hop, hop + -len(audio) % hop))
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop]
    power = np.abs(np.fft.rfft(frames * np.hanning(size + 1)[:-1], axis=1)) ** 2
    hertz = np.fft.rfftfreq(size, 1 / rate)
    edges = np.searchsorted(hertz, BAND_EDGES_HZ)
    bands = np.add.reduceat(power[:, : edges[-1]], edges[:-1], axis=1)
    loudest = float(np.max(bands))
    if loudest == 0.0:
        raise DataError("FB904", "the signal is digital silence: it has no levels")
    floor = 10 ** (-RANGE_DB / 10)
    levels: Audio = 10 * np.log10(np.maximum(bands / loudest, floor))
    return levels


def band_difference_db(a: Audio, b: Audio) -> float:
    """Return the mean absolute difference in dB of two band-level tables on their best alignment.

    The alignment is a monotone path of steps (1, 1), (1, 0) and (0, 1) from the first frames to
    the last ones (dynamic time warping). Its cost is summed with weight 2 for a diagonal step and
    1 for the others, and divided by the number of frames of both, so that every path has the same
    total weight.

    Parameters
    ----------
    a, b : ndarray, shape (frames, bands)

    Returns
    -------
    float
        0 for equal tables and for tables that differ only in how long a frame lasts.
    """
    cost = np.mean(np.abs(a[:, None, :] - b[None, :, :]), axis=2)
    rows, columns = cost.shape
    total = np.full((rows + 1, columns + 1), np.inf)
    total[0, 0] = 0.0
    for i in range(1, rows + 1):
        across = total[i - 1, 1:] + cost[i - 1]
        diagonal = total[i - 1, :-1] + 2 * cost[i - 1]
        best = np.minimum(across, diagonal)
        left = np.inf
        for j in range(columns):
            left = min(float(best[j]), left + float(cost[i - 1, j]))
            total[i, j + 1] = left
    return float(total[rows, columns] / (rows + columns))


def compare(
    name: str, rebuilt: NDArray[np.int16], reference: NDArray[np.int16], *, rate: int
) -> Difference:
    """Compare the decoded samples of one clip.

    Parameters
    ----------
    name : str
        Its id.
    rebuilt, reference : ndarray of int16, shape (samples,)
    rate : int
        Samples a second of both.

    Raises
    ------
    DataError
        FB904 when one of the two is digital silence.
    """
    a, b = rebuilt / 32768, reference / 32768
    level = active_level_db(b, rate)
    shared = min(len(a), len(b))
    power = float(np.mean((a[:shared] - b[:shared]) ** 2))
    same = len(a) == len(b) and power == 0.0
    return Difference(
        id=name,
        same=same,
        duration=len(a) - len(b),
        level_db=active_level_db(a, rate) - level,
        band_db=0.0 if same else band_difference_db(band_levels(a, rate), band_levels(b, rate)),
        residual_db=float(10 * np.log10(power)) - level if power > 0 else None,
    )


def compare_sets(rebuilt: Path, reference: Path) -> list[Difference]:
    """Compare two sets that hold the same clips.

    Parameters
    ----------
    rebuilt, reference : Path
        Roots, each with ``manifest.json`` and ``audios``.

    Raises
    ------
    DataError
        FB906 when they do not list the same clips, or their rates differ.
    """
    ours, theirs = _clips(rebuilt), _clips(reference)
    if ours != theirs:
        odd = sorted(ours.items() ^ theirs.items())
        raise DataError(
            "FB906",
            f"{counted(len({n for n, _ in odd}), 'clip is', 'clips are')} not in both sets, "
            f"first '{odd[0][0]}'",
            where=Place(str(rebuilt)),
        )
    out = []
    for name, path in sorted(ours.items()):
        a, rate = _read(rebuilt / path)
        b, other = _read(reference / path)
        if rate != other:
            raise DataError("FB906", f"rate {rate}, expected {other}", where=Place(path))
        out.append(compare(name, a, b, rate=rate))
    return out


def summary(differences: list[Difference], *, rate: int) -> dict[str, Any]:
    """Return the worst figures, the limits, this machine's arithmetic and the clips beyond."""
    return {
        "clips": len(differences),
        "equal": sum(d.same for d in differences),
        "within": sum(d.within(rate=rate) for d in differences),
        "worst": {
            "duration_samples": max((abs(d.duration) for d in differences), default=0),
            "level_db": round(max((abs(d.level_db) for d in differences), default=0.0), 3),
            "band_db": round(max((d.band_db for d in differences), default=0.0), 3),
        },
        "limits": {
            "duration_samples": round(DURATION_LIMIT_S * rate),
            "level_db": LEVEL_LIMIT_DB,
            "band_db": BAND_LIMIT_DB,
        },
        "machine": machine(),
        "beyond": [d.id for d in differences if not d.within(rate=rate)],
    }


def machine() -> dict[str, str]:
    """Return processor architecture, its model name where the system tells, and 8-bit sums."""
    from floorbench.audio.onnx import int8_arithmetic

    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = info.read_text("utf-8", errors="replace").splitlines()
        model = next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")
    return {"architecture": platform.machine(), "cpu": model, "int8": int8_arithmetic()}


def _clips(root: Path) -> dict[str, str]:
    path = root / "manifest.json"
    if not path.is_file():
        raise DataError("FB906", "no manifest of a starter set here", where=Place(str(root)))
    manifest = json.loads(path.read_text("utf-8"))
    return {name: str(clip["audio"]) for name, clip in manifest["clips"].items()}


def _read(path: Path) -> tuple[NDArray[np.int16], int]:
    try:
        import soundfile
    except ImportError:
        raise missing_extra("soundfile", "demo") from None
    if not path.is_file():
        raise DataError("FB906", "cannot be read: no such file", where=Place(str(path)))
    samples, rate = soundfile.read(path, dtype="int16")
    return samples, int(rate)
