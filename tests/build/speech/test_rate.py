from pathlib import Path

import numpy as np
import pytest

from floorbench.build.speech import rate
from floorbench.build.speech.providers import Reference
from floorbench.errors import DataError, UsageError
from support.speech import RATE, tone


def test_pauses_do_not_slow_anybody_down():
    gap = np.zeros(RATE, np.float32)
    audio = np.concatenate([gap, tone(0.5), gap, tone(0.5), gap])
    assert rate.voiced_seconds(audio, RATE) == pytest.approx(1.0, abs=0.03)


def test_units_are_phonemes_or_syllables():
    assert rate.units("Hello you", "en", 7) == 7
    assert rate.units("Hello you", "en") == 8
    assert rate.units("你好，OK", "zh", 99) == 4


def test_references_outside_the_band_are_left_out_with_their_rate():
    slow, fast = (Reference(path=Path(n), text="你好你好") for n in ("slow.wav", "fast.wav"))
    kept, left = rate.filter_references(
        [(slow, tone(1.0), RATE), (fast, tone(0.4), RATE)],
        language="zh",
        band=rate.Band(low=3.0, high=6.0),
    )
    assert kept == (slow,)
    assert left[0][0] == fast
    assert left[0][1] == pytest.approx(10.0, rel=0.05)


def test_a_reference_without_transcript_cannot_be_counted():
    with pytest.raises(DataError, match=r"FB871.*r\.wav"):
        rate.filter_references(
            [(Reference(path=Path("r.wav")), tone(), RATE)], language="en", band=rate.BANDS["en"]
        )


@pytest.mark.parametrize(("low", "high"), [(0, 1), (2, 2), (3, 1)])
def test_a_band_must_hold_something(low, high):
    with pytest.raises(UsageError, match="FB875"):
        rate.Band(low=low, high=high)


@pytest.mark.needs_speech
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_stretching_changes_the_length_and_not_the_pitch(factor):
    audio = tone(1.0)
    longer = rate.stretched(audio, RATE, factor)
    assert len(longer) == pytest.approx(len(audio) * factor, rel=0.01)
    middle = longer[len(longer) // 4 : 3 * len(longer) // 4]
    peak = np.argmax(np.abs(np.fft.rfft(middle))) / len(middle)
    assert peak == pytest.approx(0.1 / (2 * np.pi), rel=0.02)
