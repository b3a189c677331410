import json

import numpy as np
import pytest

from floorbench.build.kokoro import Kokoro, cut_time
from floorbench.errors import DataError

FRAMES = np.array([4, 2, 2, 2, 3, 3, 1, 2, 5])


def test_cut_lies_in_the_middle_of_the_space_moved_by_75_ms():
    # start 4, a 2, b 2 | space 2 | c 3, d 3 | space 1 | e 2, end 5
    first = cut_time(phonemes="ab cd e", frames=FRAMES, groups=1)
    second = cut_time(phonemes="ab cd e", frames=FRAMES, groups=2)
    assert first == pytest.approx((4 + 2 + 2 + 1) * 0.025 - 0.075)
    assert second == pytest.approx((4 + 2 + 2 + 2 + 3 + 3 + 0.5) * 0.025 - 0.075)


@pytest.mark.parametrize("groups", [0, 3, -1])
def test_there_must_be_a_word_on_both_sides(groups):
    with pytest.raises(DataError, match="FB903"):
        cut_time(phonemes="ab cd e", frames=FRAMES, groups=groups)


def test_durations_must_fit_the_symbols():
    with pytest.raises(DataError, match="FB903"):
        cut_time(phonemes="ab cd", frames=FRAMES, groups=1)


class _Session:
    def __init__(self):
        self.feeds = None

    def run(self, names, feeds):
        assert names == ["audio", "duration"]
        self.feeds = feeds
        count = feeds["tokens"].shape[1]
        return np.full(600 * count, 0.1, np.float32), np.ones(count, np.int64)


@pytest.fixture
def voice(tmp_path, monkeypatch):
    import onnxruntime

    session = _Session()
    monkeypatch.setattr(onnxruntime, "InferenceSession", lambda *a, **k: session)
    (tmp_path / "vocab.json").write_text(json.dumps({"a": 5, "b": 6, " ": 16}))
    (tmp_path / "voices").mkdir()
    for number, name in enumerate(("x", "y")):
        table = np.tile(np.arange(510, dtype=np.float32)[:, None], 256) + number
        table.tofile(tmp_path / "voices" / f"{name}.bin")
    return Kokoro(tmp_path), session


def test_tokens_have_marks_and_the_style_row_counts_the_symbols(voice):
    kokoro, session = voice
    said = kokoro.say(phonemes="a?b a", voice="x", speed=1.1)
    assert said.phonemes == "ab a"
    np.testing.assert_array_equal(session.feeds["tokens"], [[0, 5, 6, 16, 5, 0]])
    assert session.feeds["style"].shape == (1, 256)
    assert session.feeds["style"][0, 0] == 3.0
    assert session.feeds["speed"] == np.float32(1.1)
    assert len(said.frames) == len(said.phonemes) + 2


def test_a_blend_is_the_mean_of_its_voices(voice):
    kokoro, _ = voice
    np.testing.assert_allclose(kokoro.style("x+y"), (kokoro.style("x") + kokoro.style("y")) / 2)


@pytest.mark.parametrize(("phonemes", "name"), [("???", "x"), ("a" * 511, "x"), ("a", "nobody")])
def test_what_cannot_be_said_is_one_clear_error(voice, phonemes, name):
    kokoro, _ = voice
    with pytest.raises(DataError, match="FB903"):
        kokoro.say(phonemes=phonemes, voice=name, speed=1.0)
