import pytest

from floorbench.build.speech.aligning import PocketsphinxAligner
from floorbench.build.speech.making import make_aligners, make_asr, make_tts
from floorbench.build.speech.providers import ASR, TTS
from floorbench.errors import DataError, UsageError


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ({"provider": "kokoro"}, "kokoro-82m-int8"),
        (
            {"provider": "server", "model": "m", "base_url": "http://localhost:1/v1"},
            "speech server",
        ),
        ({"provider": "qwen3-tts", "model": "m", "kind": "clone"}, "qwen3-tts"),
        ({"provider": "indextts2", "folder": "ckpt"}, "indextts2"),
    ],
)
def test_voices_are_made_without_loading_anything(tmp_path, spec, name):
    tts = make_tts(spec, cache=tmp_path)
    assert isinstance(tts, TTS)
    assert tts.identity["name"] == name
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ({"provider": "whisper"}, "whisper whisper-base"),
        ({"provider": "whisper", "model": "large-v3"}, "whisper large-v3"),
        ({"provider": "server", "model": "m"}, "transcription server"),
        ({"provider": "qwen3-asr", "model": "m"}, "qwen3-asr"),
    ],
)
def test_recognisers_are_made_without_loading_anything(tmp_path, spec, name):
    asr = make_asr(spec, cache=tmp_path)
    assert isinstance(asr, ASR)
    assert asr.identity["name"] == name


def test_pocketsphinx_is_the_last_to_be_asked():
    made = make_aligners([{"provider": "pocketsphinx"}, {"provider": "qwen3", "model": "m"}])
    assert [a.identity["name"] for a in made] == ["qwen3-forced-aligner", "pocketsphinx"]
    assert isinstance(make_aligners([])[0], PocketsphinxAligner)


def test_a_server_s_patience_can_be_set_and_is_no_part_of_what_it_is(tmp_path):
    spec = {"provider": "server", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    hasty = {**spec, "attempts": 1, "timeout": 2}
    for make in (make_tts, make_asr):
        assert make(hasty, cache=tmp_path).identity == make(spec, cache=tmp_path).identity
        with pytest.raises(UsageError, match="FB513"):
            make({**spec, "attempts": 0}, cache=tmp_path)
    with pytest.raises(DataError, match="FB872") as caught:
        make_tts(hasty, cache=tmp_path).synthesize("hi", language="en", voice="a")
    assert "tries" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"provider": "kokora"}, "kokora"),
        ({}, "None"),
        ({"provider": "server", "model": "m", "api_key": "x"}, "api_key"),
        ({"provider": "qwen3-tts"}, "model"),
    ],
)
def test_an_unknown_provider_or_argument_is_refused(tmp_path, spec, told):
    with pytest.raises(UsageError, match=f"FB875.*{told}"):
        make_tts(spec, cache=tmp_path)
