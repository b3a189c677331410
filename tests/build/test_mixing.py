import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.build import mixing
from floorbench.errors import DataError

RATE = 16_000


def tone(seconds: float, level: float = 0.2, hertz: float = 300.0) -> np.ndarray:
    t = np.arange(round(seconds * RATE)) / RATE
    return level * np.sin(2 * np.pi * hertz * t)


def test_active_level_ignores_the_pauses():
    speech = np.concatenate([np.zeros(RATE), tone(1.0), np.zeros(2 * RATE)])
    assert mixing.active_level_db(speech, RATE) == pytest.approx(
        10 * np.log10(0.2**2 / 2), abs=1e-3
    )


@given(st.floats(-20, 30), st.integers(0, 5))
def test_achieved_snr_is_the_requested_one_on_active_speech(snr, seed):
    rng = np.random.default_rng(seed)
    speech = np.concatenate([np.zeros(4000), tone(0.5), np.zeros(6000)])
    noise = rng.standard_normal(3000)
    mix = mixing.add_noise(speech, noise, RATE, snr_db=snr)
    assert mix.requested_db == snr
    assert mix.achieved_db == pytest.approx(snr, abs=1e-6)
    residue = mix.audio - speech
    active = np.mean(speech[4000:12000] ** 2)
    assert 10 * np.log10(active / np.mean(residue**2)) == pytest.approx(snr, abs=0.01)


def test_noise_covers_the_whole_clip_and_is_repeated_when_short():
    speech = tone(1.0)
    noise = np.array([1.0, -1.0, 0.5])
    residue = mixing.add_noise(speech, noise, RATE, snr_db=10).audio - speech
    assert np.all(np.abs(residue[-3:]) > 0)
    np.testing.assert_allclose(residue[:3], residue[3:6])


@pytest.mark.parametrize(
    ("speech", "noise"), [(np.zeros(100), np.ones(10)), (np.ones(100), np.zeros(10))]
)
def test_silence_has_no_ratio(speech, noise):
    with pytest.raises(DataError, match="FB904"):
        mixing.add_noise(speech, noise, RATE, snr_db=0)


def test_fades_are_cosine_squared_and_end_at_zero():
    faded = mixing.fade(np.ones(1600), RATE, start_s=0.01, end_s=0.02)
    assert faded[0] == 0.0
    assert faded[-1] == 0.0
    assert np.all(np.diff(faded[:160]) > 0)
    assert np.all(np.diff(faded[-320:]) < 0)
    assert np.all(faded[160:-320] == 1.0)
    ramp = np.linspace(0, np.pi / 2, 320)
    np.testing.assert_allclose(faded[-320:], np.cos(ramp) ** 2, atol=1e-12)


def test_a_fade_longer_than_the_audio_covers_all_of_it():
    faded = mixing.fade(np.ones(10), RATE, end_s=1.0)
    assert faded[-1] == 0.0
    assert faded[0] == 1.0


def test_cut_keeps_what_lies_before_the_word_time():
    audio = np.arange(1, 1601, dtype=float)
    kept = mixing.cut(audio, RATE, at_s=0.05, fade_s=0.01)
    assert len(kept) == 800
    np.testing.assert_array_equal(kept[:640], audio[:640])
    assert kept[-1] == 0.0


@pytest.mark.parametrize("at", [-0.1, 0.0, 0.1, 3.0])
def test_cut_outside_the_audio_is_an_error(at):
    with pytest.raises(DataError, match="FB904"):
        mixing.cut(np.ones(1600), RATE, at_s=at)


def test_trim_takes_either_end():
    speech = tone(0.5)
    audio = np.concatenate([np.zeros(1600), speech, np.zeros(3200)])
    assert len(mixing.trim(audio, RATE)) == 8000
    assert len(mixing.trim(audio, RATE, end=False)) == 8000 + 3200
    assert len(mixing.trim(audio, RATE, start=False)) == 1600 + 8000


def test_pad_and_level():
    audio = mixing.pad(mixing.to_level(tone(0.5), RATE, -26.0), RATE, before_s=0.1, after_s=0.2)
    assert len(audio) == 1600 + 8000 + 3200
    assert np.all(audio[:1600] == 0)
    assert np.all(audio[-3200:] == 0)
    assert mixing.active_level_db(audio, RATE) == pytest.approx(-26.0, abs=1e-9)


def test_guard_scales_the_whole_mixture_only_when_needed():
    quiet, gain = mixing.guard(np.array([0.5, -0.5]))
    assert gain == 0.0
    np.testing.assert_array_equal(quiet, [0.5, -0.5])
    loud, gain = mixing.guard(np.array([2.0, -1.0]))
    np.testing.assert_allclose(loud, [0.98, -0.49])
    assert gain == pytest.approx(20 * np.log10(0.49))


def test_rooms_are_drawn_from_the_given_generator_and_hold_the_talker():
    rooms = [
        mixing.draw_room(np.random.default_rng(seed), near_m=1.8, far_m=2.4) for seed in range(40)
    ]
    assert rooms[3] == mixing.draw_room(np.random.default_rng(3), near_m=1.8, far_m=2.4)
    assert len({room.rt60_s for room in rooms}) > 20
    for room in rooms:
        assert all(0 < s < size for s, size in zip(room.source, room.size, strict=True))
        assert 0.25 <= room.rt60_s <= 0.5


def test_in_room_is_a_convolution_of_the_dry_length():
    audio = np.random.default_rng(0).standard_normal(500)
    response = np.array([1.0, 0.0, -0.3, 0.1])
    np.testing.assert_allclose(
        mixing.in_room(audio, response), np.convolve(audio, response)[:500], atol=1e-12
    )
