import numpy as np
import pytest

from floorbench.build.sound import line
from floorbench.errors import UsageError

RATE = 16_000


def tone(hertz, seconds=1.0):
    return 0.3 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE)


def level(audio):
    inner = audio[800:-800]
    return 10 * np.log10(np.mean(inner**2) / (0.3**2 / 2) + 1e-9)


@pytest.mark.parametrize("law", ["mu-law", "a-law"])
@pytest.mark.parametrize(
    ("hertz", "low", "high"), [(100, -99, -25), (1000, -0.5, 0.5), (3900, -99, -6)]
)
def test_only_the_telephone_band_passes(law, hertz, low, high):
    assert low < level(line.through_line(tone(hertz), RATE, law=law)) < high


def test_nothing_is_delayed():
    click = np.zeros(RATE)
    click[8000] = 0.9
    heard = line.through_line(click, RATE, law="mu-law")
    assert np.argmax(np.abs(heard)) == pytest.approx(4000, abs=1)


def test_values_are_those_of_the_law():
    heard = line.through_line(tone(1000), RATE, law="mu-law")
    assert len(np.unique(heard)) <= 256


@pytest.mark.parametrize("length", [1, 3, 50])
def test_very_short_audio_passes(length):
    heard = line.through_line(np.full(length * 2, 0.1), RATE, law="a-law")
    assert len(heard) == length
    assert np.all(np.isfinite(heard))


def test_an_unknown_law_is_an_error():
    with pytest.raises(UsageError, match="FB884"):
        line.through_line(tone(500), RATE, law="G.722")
