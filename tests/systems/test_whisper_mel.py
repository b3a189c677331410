"""The front end against the published extractor's own values, and the laws that follow."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorbench.systems.whisper_mel import WINDOW, slaney_bank, whisper_mel
from sounds import noise, voice

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "whisper_mel" / "whisper_mel.json").read_text()
)
RATE = 16_000
BASE = voice(2.0)
SECONDS = {"chirp-3.98s": 3.98, "chirp-8s": 8.0, "long-9.5s": 9.5, "short-0.3s": 0.3}


def signal(name):
    """The same formulas as in tests/golden/whisper_mel/make_golden.py."""
    if name == "silence-2s":
        return np.zeros(2 * RATE, dtype=np.float32)
    t = np.arange(int(SECONDS[name] * RATE)) / RATE
    wave = 0.3 * np.sin(2 * np.pi * (120 + 300 * t) * t) * (1 + np.sin(2 * np.pi * 3 * t))
    wave += 0.02 * np.sin(2 * np.pi * 3100 * t) + 0.01 * np.sin(2 * np.pi * 6500 * t) + 0.003
    return wave.astype(np.float32)


@pytest.mark.parametrize("name", GOLDEN["cases"])
def test_equals_the_reference(name):
    features = whisper_mel(signal(name))
    case = GOLDEN["cases"][name]
    for frame, bands in case.items():
        if frame != "sum":
            assert np.abs(features[:, int(frame)] - bands).max() < 2e-5, frame
    assert features.astype(np.float64).sum() == pytest.approx(case["sum"], abs=0.05)


def plain(samples):
    """The definition, frame by frame, without any shortcut."""
    kept = np.asarray(samples[-WINDOW:], dtype=np.float64)
    window = np.concatenate([np.zeros(WINDOW - kept.size), kept])
    window = (window - window.mean()) / np.sqrt(window.var() + 1e-7)
    padded = np.concatenate([window[200:0:-1], window, window[-2:-202:-1]])
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    turns = np.exp(-2j * np.pi * np.outer(np.arange(201), np.arange(400)) / 400)
    frames = np.stack([padded[160 * t : 160 * t + 400] * hann for t in range(800)])
    power = np.abs(frames @ turns.T) ** 2
    bands = np.log10(np.maximum(slaney_bank() @ power.T, 1e-10))
    return (np.maximum(bands, bands.max() - 8) + 4) / 4


@pytest.mark.parametrize(
    "length", [0, 1, 199, 200, 201, 359, 360, 361, 40_000, 127_999, 128_000, 128_001, 140_000]
)
def test_every_padding_equals_the_plain_definition(length):
    samples = np.concatenate([voice(4.0), noise(5.0)])[:length]
    got = whisper_mel(samples)
    assert got.shape == (80, 800)
    assert got.dtype == np.float32
    assert np.abs(got - plain(samples)).max() < 1e-5


def test_only_the_last_eight_seconds_count():
    tail = noise(8.0)
    longer = np.concatenate([voice(3.0), tail])
    assert np.array_equal(whisper_mel(longer), whisper_mel(tail))


def test_zeros_in_front_change_nothing():
    short = voice(2.0)
    padded = np.concatenate([np.zeros(3_333, dtype=np.float32), short])
    assert np.abs(whisper_mel(short) - whisper_mel(padded)).max() < 1e-5


@given(st.floats(0.05, 3.0))
@settings(max_examples=10)
def test_law_loudness_does_not_matter(gain):
    louder = (BASE * np.float32(gain)).astype(np.float32)
    assert np.abs(whisper_mel(BASE) - whisper_mel(louder)).max() < 0.02


def test_filters_have_unit_area_and_peak_in_order():
    bank = slaney_bank()
    assert bank.shape == (80, 201)
    assert (bank >= 0).all()
    peaks = bank.argmax(axis=1)
    assert (np.diff(peaks) >= 0).all()
    assert bank[20:].sum(axis=1) * 40 == pytest.approx(np.ones(60), rel=0.1)
