"""Synthetic sounds for tests: a buzzing voice that VADs take for speech, noise, silence.

Good for shapes, gates and determinism; no score on them means anything.
"""

import numpy as np

RATE = 16_000
VOWELS = ((700, 1200, 2500), (300, 2200, 3000), (500, 900, 2400), (400, 1900, 2600))


def voice(seconds, *, rate=RATE, pitch=120.0):
    """Pulses through three formants, a vowel every 0.18 s, peak 0.3."""
    n = int(seconds * rate)
    t = np.arange(n) / rate
    f0 = pitch * (1 + 0.15 * np.sin(2 * np.pi * 0.7 * t) + 0.03 * np.sin(2 * np.pi * 5 * t))
    pulses = np.diff(np.floor(np.cumsum(f0) / rate), prepend=0.0)
    pulses += 0.005 * np.random.default_rng(0).standard_normal(n)
    out = np.zeros(n)
    step = int(0.18 * rate)
    taps = np.arange(600)
    for index, start in enumerate(range(0, n, step)):
        piece = pulses[start : start + step + 800]
        fade = np.sin(np.pi * np.arange(len(piece)) / len(piece))
        for centre, width in zip(VOWELS[index % 4], (80, 100, 140), strict=True):
            ring = np.exp(-np.pi * width * taps / rate) * np.sin(2 * np.pi * centre * taps / rate)
            out[start : start + len(piece)] += np.convolve(piece, ring)[: len(piece)] * fade
    return (0.3 * out / np.abs(out).max()).astype(np.float32)


def silence(seconds, *, rate=RATE):
    return np.zeros(int(seconds * rate), dtype=np.float32)


def noise(seconds, *, rate=RATE, level=0.1, seed=1):
    n = int(seconds * rate)
    return (level * np.random.default_rng(seed).standard_normal(n)).astype(np.float32)


def utterance(*, before=0.5, speech=2.0, after=0.75):
    """Silence, voice, silence at 16 kHz."""
    return np.concatenate([silence(before), voice(speech), silence(after)])
