"""Levels, cuts, fades, rooms and noise for built audio; plain arrays in, plain arrays out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorbench.errors import DataError, missing_extra

Audio = NDArray[np.float64]

ACTIVE_RANGE_DB = 40.0
WINDOW_S = 0.01


def _windows(audio: Audio, rate: int) -> Audio:
    size = max(1, round(rate * WINDOW_S))
    count = -(-len(audio) // size)
    padded = np.zeros(count * size)
    padded[: len(audio)] = audio
    power: Audio = np.mean(padded.reshape(count, size) ** 2, axis=1)
    return power


def active_windows(audio: Audio, rate: int) -> NDArray[np.bool_]:
    """Mark the 10 ms windows whose power lies within 40 dB of the loudest one."""
    power = _windows(audio, rate)
    if not np.any(power > 0):
        raise DataError("FB904", "the signal is digital silence: it has no active part")
    mask: NDArray[np.bool_] = power > np.max(power) * 10 ** (-ACTIVE_RANGE_DB / 10)
    return mask


def active_level_db(audio: Audio, rate: int) -> float:
    """Return the mean power of the active windows in dB relative to full scale.

    Examples
    --------
    >>> tone = np.concatenate([np.full(1600, 0.1), np.zeros(1600)])
    >>> round(active_level_db(tone, 16000), 6)
    -20.0
    """
    power = _windows(audio, rate)
    return float(10 * np.log10(np.mean(power[active_windows(audio, rate)])))


def to_level(audio: Audio, rate: int, level_db: float) -> Audio:
    """Scale so that the active level is ``level_db`` dB relative to full scale."""
    return audio * 10 ** ((level_db - active_level_db(audio, rate)) / 20)


def trim(audio: Audio, rate: int, *, start: bool = True, end: bool = True) -> Audio:
    """Drop the inactive windows before the first and after the last active one."""
    size = max(1, round(rate * WINDOW_S))
    active = np.flatnonzero(active_windows(audio, rate))
    first = int(active[0]) * size if start else 0
    last = (int(active[-1]) + 1) * size if end else len(audio)
    return audio[first:last]


def fade(audio: Audio, rate: int, *, start_s: float = 0.0, end_s: float = 0.0) -> Audio:
    """Apply cosine-squared fades; the last sample of a fade-out is exactly zero."""
    result = audio.copy()
    for seconds, reverse in ((start_s, False), (end_s, True)):
        count = min(round(seconds * rate), len(audio))
        if count:
            ramp = np.sin(np.linspace(0.0, np.pi / 2, count)) ** 2
            if reverse:
                result[len(result) - count :] *= ramp[::-1]
            else:
                result[:count] *= ramp
    return result


def cut(audio: Audio, rate: int, *, at_s: float, fade_s: float = 0.01) -> Audio:
    """Keep the audio before ``at_s`` and fade its end.

    Raises
    ------
    DataError
        FB904 when the cut lies outside the audio.
    """
    count = round(at_s * rate)
    if not 0 < count < len(audio):
        raise DataError("FB904", f"cut at {at_s} s outside audio of {len(audio) / rate:.3f} s")
    return fade(audio[:count], rate, end_s=fade_s)


def pad(audio: Audio, rate: int, *, before_s: float, after_s: float) -> Audio:
    """Put digital silence before and after."""
    return np.pad(audio, (round(before_s * rate), round(after_s * rate)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """A mixture and the signal-to-noise ratio that was asked for and reached, in dB."""

    audio: Audio
    requested_db: float
    achieved_db: float


def add_noise(speech: Audio, noise: Audio, rate: int, *, snr_db: float) -> Mix:
    """Add noise at a ratio of active speech power to mean noise power.

    The noise is repeated or cut to the length of the speech. The achieved ratio is measured on
    the two scaled parts.

    Raises
    ------
    DataError
        FB904 when one of the two is silent.
    """
    if not np.any(noise):
        raise DataError("FB904", "the noise is digital silence")
    repeated = np.resize(noise, len(speech))
    speech_db = active_level_db(speech, rate)
    gain = 10 ** ((speech_db - snr_db - _mean_db(repeated)) / 20)
    scaled = repeated * gain
    return Mix(
        audio=speech + scaled,
        requested_db=snr_db,
        achieved_db=speech_db - _mean_db(scaled),
    )


def _mean_db(audio: Audio) -> float:
    return float(10 * np.log10(np.mean(audio**2)))


def guard(audio: Audio, *, peak: float = 0.98) -> tuple[Audio, float]:
    """Scale the whole mixture down when its peak exceeds ``peak``; return it and the gain in dB."""
    highest = float(np.max(np.abs(audio), initial=0.0))
    if highest <= peak:
        return audio, 0.0
    return audio * (peak / highest), float(20 * np.log10(peak / highest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A shoebox room: size, source and microphone in metres, reverberation time in seconds."""

    size: tuple[float, float, float]
    source: tuple[float, float, float]
    microphone: tuple[float, float, float]
    rt60_s: float


def draw_room(rng: np.random.Generator, *, near_m: float, far_m: float) -> Room:
    """Draw a room and a talker at a distance between ``near_m`` and ``far_m``."""
    size = (rng.uniform(4.5, 7.0), rng.uniform(4.0, 6.0), rng.uniform(2.5, 3.2))
    microphone = (size[0] / 2, size[1] / 2, 1.1)
    distance, angle = rng.uniform(near_m, far_m), rng.uniform(0, 2 * np.pi)
    source = (
        float(np.clip(microphone[0] + distance * np.cos(angle), 0.3, size[0] - 0.3)),
        float(np.clip(microphone[1] + distance * np.sin(angle), 0.3, size[1] - 0.3)),
        1.5,
    )
    return Room(
        size=_millimetres(*size),
        source=_millimetres(*source),
        microphone=_millimetres(*microphone),
        rt60_s=round(float(rng.uniform(0.25, 0.5)), 3),
    )


def _millimetres(x: float, y: float, z: float) -> tuple[float, float, float]:
    return round(float(x), 3), round(float(y), 3), round(float(z), 3)


def impulse_response(room: Room, rate: int) -> Audio:
    """Return the room's impulse response from its direct peak on, scaled to a peak of one.

    Image sources only, so nothing is random. The direct path's delay is taken off: times in the
    dry signal stay valid.
    """
    try:
        import pyroomacoustics
    except ImportError:
        raise missing_extra("pyroomacoustics", "build") from None
    pra: Any = pyroomacoustics
    pra.constants.set("num_threads", 1)
    absorption, order = pra.inverse_sabine(room.rt60_s, room.size)
    shoebox = pra.ShoeBox(
        room.size, fs=rate, materials=pra.Material(absorption), max_order=min(order, 20)
    )
    shoebox.add_source(room.source)
    shoebox.add_microphone(room.microphone)
    shoebox.compute_rir()
    response = np.asarray(shoebox.rir[0][0], dtype=np.float64)
    peak = int(np.argmax(np.abs(response)))
    result: Audio = response[peak:] / response[peak]
    return result


def in_room(audio: Audio, response: Audio) -> Audio:
    """Convolve with an impulse response and keep the dry length."""
    size = 1 << (len(audio) + len(response) - 1).bit_length()
    wet = np.fft.irfft(np.fft.rfft(audio, size) * np.fft.rfft(response, size), size)
    result: Audio = wet[: len(audio)]
    return result
