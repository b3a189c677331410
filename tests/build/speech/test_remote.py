import numpy as np
import pytest

from floorbench.build.speech.providers import Reference
from floorbench.build.speech.remote import SpeechServer, TranscriptionServer, read_wav
from floorbench.errors import DataError, EnvironmentProblem
from floorbench.systems.llm.retrying import Policy
from support.speech import TEXT, check_asr, check_tts, decoded, serving, tone, wav


def policy(pauses):
    return Policy(attempts=3, timeout=5.0, sleep=pauses.append)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving() as state:
        yield state


@pytest.mark.parametrize("pcm", [None, 24_000])
def test_a_speech_server_conforms(server, pcm):
    check_tts(SpeechServer(model="m", base_url=server.url, pcm_rate=pcm), voice="alloy")
    plain = server.bodies()[0]
    assert plain["voice"] == "alloy"
    assert plain["response_format"] == ("wav" if pcm is None else "pcm")
    assert any(b.get("instructions") == "happy" for b in server.bodies())


def test_the_qwen_route_sends_language_task_and_reference(server, tmp_path):
    path = tmp_path / "r.wav"
    path.write_bytes(wav(tone()))
    tts = SpeechServer(model="q", base_url=server.url, qwen=True)
    check_tts(tts, voice=Reference(path=path, text="hello"))
    body = server.bodies()[0]
    assert (body["task_type"], body["language"], body["ref_text"]) == ("Base", "English", "hello")
    assert decoded(body["ref_audio"]) == path.read_bytes()
    tts.synthesize("你好", language="zh", voice="Vivian")
    assert server.bodies()[-1]["task_type"] == "CustomVoice"
    assert server.bodies()[-1]["language"] == "Chinese"


def test_a_transcription_server_conforms(server):
    check_asr(TranscriptionServer(model="m", base_url=server.url))
    words = TEXT["en"].split()
    server.transcript = {
        "text": TEXT["en"],
        "language": "english",
        "duration": 1.0,
        "words": [{"word": w, "start": i * 0.2, "end": i * 0.2 + 0.2} for i, w in enumerate(words)],
    }
    check_asr(TranscriptionServer(model="m", base_url=server.url, words=True))
    assert b"verbose_json" in server.asked[-1][2]
    assert b"RIFF" in server.asked[-1][2]


def test_busy_servers_are_asked_again_and_told_waits_are_kept(server):
    pauses = []
    server.failures = [(429, {"Retry-After": "7"}), (503, {})]
    SpeechServer(model="m", base_url=server.url, policy=policy(pauses)).synthesize(
        "hi", language="en", voice="a"
    )
    assert pauses == [7.0, 1.0]
    assert len(server.asked) == 3


def test_a_server_that_stays_broken_fails_the_item(server):
    pauses = []
    server.failures = [(500, {})] * 3
    tts = SpeechServer(model="m", base_url=server.url, policy=policy(pauses))
    with pytest.raises(DataError, match=r"FB872.*500.*3 tries"):
        tts.synthesize("hi", language="en", voice="a")


@pytest.mark.parametrize(("status", "code"), [(400, "FB872"), (404, "FB872"), (401, "FB873")])
def test_other_refusals_are_final(server, status, code):
    server.failures = [(status, {})]
    asr = TranscriptionServer(model="m", base_url=server.url, policy=policy([]))
    with pytest.raises((DataError, EnvironmentProblem), match=code):
        asr.transcribe(tone(), 24_000, language="en")
    assert len(server.asked) == 1


def test_a_server_that_is_not_there_fails_the_item():
    tts = SpeechServer(model="m", base_url="http://127.0.0.1:9/v1", policy=policy([]))
    with pytest.raises(DataError, match=r"FB872.*no connection"):
        tts.synthesize("hi", language="en", voice="a")


UNREADABLE = {
    "speech": [b"", b"<html>Login</html>", b"ID3" + bytes(99), wav(tone())[:30], wav(0 * tone())],
    "transcript": [b"", b"<html>Login</html>", b'{"text": "Good mor', b'{"text": null}', b"{}"],
}


@pytest.mark.parametrize("answer", UNREADABLE["speech"])
def test_an_answer_without_sound_is_asked_for_again(server, answer):
    pauses = []
    server.speech = answer
    tts = SpeechServer(model="m", base_url=server.url, policy=policy(pauses))
    with pytest.raises(DataError, match=r"FB872.*\(3 tries\)"):
        tts.synthesize("hi", language="en", voice="a")
    assert pauses == [0.5, 1.0]
    server.speech = wav(tone())
    assert len(tts.synthesize("hi", language="en", voice="a").audio)


@pytest.mark.parametrize("answer", UNREADABLE["transcript"])
def test_an_answer_without_a_text_is_asked_for_again(server, answer):
    pauses = []
    server.raw = answer
    asr = TranscriptionServer(model="m", base_url=server.url, policy=policy(pauses))
    with pytest.raises(DataError, match=r"FB872.*\(3 tries\)"):
        asr.transcribe(tone(), 24_000, language="en")
    assert pauses == [0.5, 1.0]
    server.raw = None
    assert asr.transcribe(tone(), 24_000, language="en").text == TEXT["en"]


def test_the_key_comes_from_the_environment_and_shows_nowhere(server, monkeypatch):
    monkeypatch.setenv("MY_KEY", "s3cret")
    tts = SpeechServer(model="m", base_url=server.url, key_env="MY_KEY")
    said = tts.synthesize("hi", language="en", voice="a")
    assert server.asked[0][1]["authorization"] == "Bearer s3cret"
    assert "s3cret" not in f"{tts.identity} {said.provenance}"


def test_the_public_service_needs_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EnvironmentProblem, match=r"FB873.*OPENAI_API_KEY"):
        SpeechServer(model="tts-1").synthesize("hi", language="en", voice="a")


@pytest.mark.parametrize(
    ("text", "more"),
    [("", {}), ("a" * 4097, {}), ("hi", {"speed": 0.1}), ("hi", {"emotion": "sad"})],
)
def test_what_no_server_takes_is_not_sent(server, text, more):
    tts = SpeechServer(model="m", base_url=server.url, emotion=False)
    with pytest.raises(DataError, match="FB871"):
        tts.synthesize(text, language="en", voice="a", **more)
    assert server.asked == []


def test_a_streamed_header_with_a_wrong_length_is_read():
    content = bytearray(wav(tone()))
    content[4:8] = content[40:44] = b"\xff\xff\xff\xff"
    audio, rate = read_wav(bytes(content))
    assert rate == 24_000
    np.testing.assert_allclose(audio, tone(), atol=1e-4)


def test_channels_are_averaged():
    stereo = np.stack([tone(), np.zeros_like(tone())], axis=1)
    audio, _ = read_wav(wav(stereo))
    np.testing.assert_allclose(audio, tone() / 2, atol=1e-4)


@pytest.mark.parametrize("content", [b"", b"<html>", wav(tone())[:30], b"RIFF0000WAVE"])
def test_what_is_no_wav_is_a_failure_of_the_provider(content):
    with pytest.raises(DataError, match="FB872"):
        read_wav(content)
