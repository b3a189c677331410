import numpy as np
import pytest

from floorbench.build.pipeline.stage import Item
from floorbench.build.sound import measures
from support.bench import FakeBench

RATE = 16_000


def tone(seconds, peak):
    return peak * np.sin(2 * np.pi * 997 * np.arange(round(seconds * RATE)) / RATE)


def test_levels_of_a_full_scale_tone():
    audio = np.concatenate([np.zeros(RATE), tone(1.0, 1.0)])
    got = measures.measure(audio, RATE)
    assert got["duration_s"] == 2.0
    assert got["active_s"] == 1.0
    assert got["active_level_db"] == pytest.approx(-3.01, abs=0.01)
    assert got["peak_db"] == pytest.approx(0.0, abs=0.02)


def test_loudness_is_that_of_the_standard():
    # BS.1770: a 997 Hz tone at full scale in one channel reads -3.01 LKFS.
    assert measures.loudness_lufs(tone(3.0, 1.0), RATE) == pytest.approx(-3.01, abs=0.1)
    assert measures.loudness_lufs(tone(3.0, 0.1), RATE) == pytest.approx(-23.01, abs=0.1)


@pytest.mark.parametrize("audio", [tone(0.3, 0.5), np.zeros(RATE)])
def test_loudness_is_undefined_for_short_and_silent_tracks(audio):
    assert measures.loudness_lufs(audio, RATE) is None


def test_silence_has_no_level():
    got = measures.measure(np.zeros(RATE), RATE)
    assert got["active_level_db"] is None
    assert got["peak_db"] is None
    assert got["active_s"] == 0


def test_a_cut_waveform_is_clipped_and_a_loud_one_is_not():
    assert measures.clipped_share(tone(1.0, 0.999)) == 0.0
    cut = np.clip(tone(1.0, 2.0), -1, 1)
    beyond = np.mean(np.abs(tone(1.0, 2.0)) >= 1)
    assert measures.clipped_share(cut) == pytest.approx(beyond, abs=0.01)
    assert measures.clipped_share(np.zeros(0)) == 0.0


def test_the_stage_measures_the_named_tracks_that_are_there():
    bench = FakeBench()
    item = Item(id="a", audio={"target": bench.keep(tone(1.0, 0.5).astype(np.float32), RATE)})
    stage = measures.Measure(tracks=("target", "target-clean"))
    stage.start()
    (out,) = stage.make(item, bench).items
    assert set(out.fields["measures"]) == {"target"}
    assert out.fields["measures"]["target"]["peak_db"] == pytest.approx(-6.02, abs=0.05)
    assert stage.settings() == {"tracks": ["target", "target-clean"]}
