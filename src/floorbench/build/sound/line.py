"""A narrow-band telephone line: 300 to 3,400 Hz, 8 kHz, G.711 companding."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from floorbench.errors import UsageError, missing_extra

RATE = 8_000
BAND_HZ = (300.0, 3_400.0)
LAWS = {"mu-law": "ULAW", "a-law": "ALAW"}


def through_line(samples: NDArray[np.float64], rate: int, *, law: str) -> NDArray[np.float64]:
    """Return what arrives at the other end of a telephone line, at 8 kHz.

    The band-pass runs forwards and backwards, so nothing is delayed and event times stay valid.

    Parameters
    ----------
    samples : ndarray of float64, shape (n,)
        Mono in [-1, 1].
    rate : int
        Hz.
    law : str
        ``mu-law`` or ``a-law``.

    Raises
    ------
    UsageError
        FB884 for another law.
    """
    try:
        from scipy.signal import butter, sosfiltfilt
    except ImportError:
        raise missing_extra("scipy", "build") from None
    import soundfile
    import soxr

    check_law(law)
    narrow = soxr.resample(samples, rate, RATE)
    band = butter(4, BAND_HZ, btype="bandpass", fs=RATE, output="sos")
    kept = sosfiltfilt(band, narrow, padlen=min(60, max(0, len(narrow) - 1)))
    coded = io.BytesIO()
    soundfile.write(coded, np.clip(kept, -1.0, 1.0), RATE, format="WAV", subtype=LAWS[law])
    coded.seek(0)
    heard: NDArray[np.float64] = soundfile.read(coded, dtype="float64")[0]
    return heard


def check_law(law: str) -> None:
    """Refuse a law that no telephone line has (``FB884``)."""
    if law not in LAWS:
        raise UsageError("FB884", f"there is no telephone law {law!r}; known: {', '.join(LAWS)}")
