import json

import numpy as np
import pytest
import soundfile

from floorbench.build import starter_codett
from floorbench.build.starter_compare import (
    BAND_LIMIT_DB,
    DURATION_LIMIT_S,
    LEVEL_LIMIT_DB,
    Difference,
    band_difference_db,
    band_levels,
    compare,
    compare_sets,
    summary,
)
from floorbench.errors import DataError

RATE = 16_000


CENTRES_HZ = (200, 450, 800, 1300, 2000, 3200, 5500)


def words(*numbers, each_s=0.3, level=0.1):
    """Words of equal length, each its own seven tones; 0 is silence."""
    t = np.arange(round(each_s * RATE)) / RATE
    parts = []
    for number in numbers:
        gains = 10 ** (np.random.default_rng(number).uniform(-30, 0, 7) / 20) * (number > 0)
        tones = [g * np.sin(2 * np.pi * f * t) for g, f in zip(gains, CENTRES_HZ, strict=True)]
        parts.append(level * np.sum(tones, axis=0))
    return np.round(32767 * np.concatenate(parts)).astype(np.int16)


SAID = words(1, 2, 0, 3, 4)


def test_equal_samples_differ_by_nothing():
    found = compare("a", SAID, SAID.copy(), rate=RATE)
    assert found == Difference(
        id="a", same=True, duration=0, level_db=0.0, band_db=0.0, residual_db=None
    )
    assert found.within(rate=RATE)


def test_a_level_change_is_told_in_db_and_the_bands_do_not_see_it():
    found = compare("a", np.round(SAID * 10 ** (-3 / 20)).astype(np.int16), SAID, rate=RATE)
    assert found.level_db == pytest.approx(-3.0, abs=0.01)
    assert found.band_db < 0.2
    # 1 - 10 ** (-3 / 20) of the samples is left over.
    assert found.residual_db == pytest.approx(20 * np.log10(1 - 10 ** (-3 / 20)), abs=1.0)
    assert not found.within(rate=RATE)


def test_a_frame_more_in_one_word_keeps_the_limits_though_the_waves_do_not_fit():
    longer = words(1, each_s=0.325)
    rebuilt = np.concatenate([longer, SAID[round(0.3 * RATE) :]])
    found = compare("a", rebuilt, SAID, rate=RATE)
    assert found.duration == 400
    assert found.residual_db is not None
    assert found.residual_db > -10
    assert found.band_db < BAND_LIMIT_DB / 2
    assert found.within(rate=RATE)


@pytest.mark.parametrize(
    "other",
    [
        words(1, 3, 0, 2, 4),
        words(1, 2, 0, 3),
        words(1, 2, 2, 3, 4),
        words(5, 6, 0, 7, 8),
    ],
    ids=["order", "word missing", "pause filled", "another voice"],
)
def test_other_words_break_a_limit(other):
    assert not compare("a", other, SAID, rate=RATE).within(rate=RATE)


def test_limits_are_kept_when_met_and_broken_one_by_one():
    at = {"duration": -round(DURATION_LIMIT_S * RATE), "level_db": -LEVEL_LIMIT_DB}
    base = {"id": "a", "same": False, "residual_db": 0.0, "band_db": BAND_LIMIT_DB} | at
    assert Difference(**base).within(rate=RATE)
    for change in ({"duration": at["duration"] - 1}, {"level_db": -LEVEL_LIMIT_DB - 0.01}):
        assert not Difference(**(base | change)).within(rate=RATE)
    assert not Difference(**(base | {"band_db": BAND_LIMIT_DB + 0.01})).within(rate=RATE)


def test_bands_lie_where_the_tone_is_and_silence_is_the_floor():
    t = np.arange(4800) / RATE
    tone = np.concatenate([0.1 * np.sin(2 * np.pi * 800 * t), np.zeros(4800)])
    levels = band_levels(tone, RATE)
    assert levels.shape[1] == 7
    assert np.argmax(levels[5]) == 2
    assert levels.max() == 0.0
    assert np.all(levels[-5:] == -40.0)
    with pytest.raises(DataError, match="FB904"):
        band_levels(np.zeros(1600), RATE)


def test_the_alignment_is_the_best_of_all_monotone_paths():
    rng = np.random.default_rng(3)
    a, b = rng.uniform(-40, 0, (4, 2)), rng.uniform(-40, 0, (5, 2))

    def cheapest(i, j):
        """Every path, tried one by one, from the last frames back."""
        cost = float(np.mean(np.abs(a[i] - b[j])))
        if i == 0 and j == 0:
            return 2 * cost
        ways = []
        if i and j:
            ways.append(cheapest(i - 1, j - 1) + 2 * cost)
        if i:
            ways.append(cheapest(i - 1, j) + cost)
        if j:
            ways.append(cheapest(i, j - 1) + cost)
        return min(ways)

    assert band_difference_db(a, b) == pytest.approx(cheapest(3, 4) / 9)


def a_set(root, **clips):
    for name, samples in clips.items():
        path = root / "audios" / f"{name}.opus"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, samples, RATE, format="OGG", subtype="OPUS")
    listed = {name: {"audio": f"audios/{name}.opus"} for name in clips}
    text = json.dumps({"parameters": {}, "clips": listed})
    (root / "manifest.json").write_text(text, "utf-8")
    return root


def test_verify_prints_figures_limits_and_arithmetic_and_fails_beyond_a_limit(tmp_path, capsys):
    reference = a_set(tmp_path / "r", a=SAID, b=SAID[::-1])
    same = a_set(tmp_path / "s", a=SAID, b=SAID[::-1])
    arguments = ["--verify", "--against", str(reference), "--out"]
    assert starter_codett.main([*arguments, str(same)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["digest_equal"] is True
    assert (told["clips"], told["equal"], told["beyond"]) == (2, 2, [])
    assert told["limits"]["level_db"] == LEVEL_LIMIT_DB
    assert told["limits"]["duration_samples"] == DURATION_LIMIT_S * RATE
    assert told["machine"]["int8"] in ("exact", "saturating")
    assert told["machine"]["architecture"]
    other = a_set(tmp_path / "o", a=SAID, b=SAID)
    assert starter_codett.main([*arguments, str(other)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["digest_equal"] is False
    assert told["beyond"] == ["b"]
    assert told["worst"]["band_db"] > BAND_LIMIT_DB


def test_sets_of_other_clips_or_without_a_file_are_refused(tmp_path):
    reference = a_set(tmp_path / "r", a=SAID, b=SAID)
    with pytest.raises(DataError, match="first 'b'"):
        compare_sets(a_set(tmp_path / "o", a=SAID), reference)
    broken = a_set(tmp_path / "m", a=SAID, b=SAID)
    (broken / "audios" / "b.opus").unlink()
    with pytest.raises(DataError, match="FB906"):
        compare_sets(broken, reference)
    with pytest.raises(DataError, match="no manifest"):
        compare_sets(tmp_path, reference)


def test_the_worst_of_no_clip_is_nothing():
    assert summary([], rate=RATE)["worst"]["duration_samples"] == 0
