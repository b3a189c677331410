"""Fakes of voices, recognisers and servers, and what every adapter must do alike."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile

from floorbench.build.speech.providers import ASR, TTS, Aligner, Can, Heard, Spoken, Word
from floorbench.errors import DataError
from support.loopback import LoopbackServer

RATE = 24_000
TEXT = {"en": "Good morning to you.", "zh": "早上好。"}


def tone(seconds: float = 1.0, rate: int = RATE) -> np.ndarray:
    return (0.1 * np.sin(np.arange(round(seconds * rate)) * 0.1)).astype(np.float32)


def wav(audio: np.ndarray, rate: int = RATE) -> bytes:
    room = io.BytesIO()
    soundfile.write(room, audio, rate, format="WAV", subtype="PCM_16")
    return room.getvalue()


def check_words(words: tuple[Word, ...], text: str, seconds: float) -> None:
    def bare(s: str) -> str:
        return "".join(c for c in s.casefold() if c.isalnum())

    assert bare("".join(w.text for w in words)) == bare(text)
    assert all(0 <= w.start <= w.end <= seconds + 0.1 for w in words)
    assert [w.start for w in words] == sorted(w.start for w in words)


def check_tts(tts: TTS, *, voice: object, language: str = "en", emotion: str = "happy") -> None:
    """What every voice must do, by its own flags."""
    assert isinstance(tts, TTS)
    assert json.loads(json.dumps(dict(tts.identity))) == dict(tts.identity)
    said = tts.synthesize(TEXT[language], language=language, voice=voice)
    assert said.audio.dtype == np.float32
    assert said.audio.ndim == 1
    assert len(said.audio) > 0
    assert np.abs(said.audio).max() <= 1.0
    assert said.rate > 0
    assert (said.words is not None) == tts.can.returns_words
    if said.words is not None:
        check_words(said.words, TEXT[language], len(said.audio) / said.rate)
    assert json.loads(json.dumps(dict(said.provenance)))["name"]
    again = tts.synthesize(TEXT[language], language=language, voice=voice)
    if tts.can.deterministic:
        np.testing.assert_array_equal(said.audio, again.audio)
    if tts.can.emotion:
        tts.synthesize(TEXT[language], language=language, voice=voice, emotion=emotion)
    else:
        with pytest.raises(DataError, match="FB871"):
            tts.synthesize(TEXT[language], language=language, voice=voice, emotion=emotion)
    if tts.can.speed:
        tts.synthesize(TEXT[language], language=language, voice=voice, speed=1.1)
    else:
        with pytest.raises(DataError, match="FB871"):
            tts.synthesize(TEXT[language], language=language, voice=voice, speed=1.1)


def check_asr(asr: ASR, *, language: str = "en") -> None:
    """What every recogniser must do, by its own flags."""
    assert isinstance(asr, ASR)
    assert json.loads(json.dumps(dict(asr.identity)))["name"]
    for careful in (False, True):
        heard = asr.transcribe(tone(), RATE, language=language, careful=careful)
        assert heard.text == TEXT[language]
        assert (heard.words is not None) == asr.can.returns_words
        if heard.words is not None:
            check_words(heard.words, TEXT[language], 1.0)


def check_aligner(aligner: Aligner, *, language: str = "en") -> None:
    """What every aligner must do."""
    assert isinstance(aligner, Aligner)
    assert language in aligner.languages
    assert json.loads(json.dumps(dict(aligner.identity)))["name"]
    check_words(
        aligner.align(tone(), RATE, text=TEXT[language], language=language), TEXT[language], 1.0
    )


class FakeTTS:
    """Says a tone of 0.3 s per word between silences; every word has its time."""

    def __init__(self, *, words: bool = True, speed: bool = True) -> None:
        self.can = Can(returns_words=words, speed=speed, deterministic=True)
        self.identity = {"name": "fake"}
        self.calls: list[tuple[str, object, float]] = []

    def synthesize(self, text, *, language, voice, speed=1.0, emotion=None, seed=0, prefix=None):
        self.calls.append((text, voice, speed))
        pieces = text.split()
        each = 0.3 / speed
        audio = np.concatenate([np.zeros(2400), tone(each * len(pieces)), np.zeros(2400)])
        words = tuple(
            Word(text=p, start=round(0.1 + i * each, 4), end=round(0.1 + (i + 1) * each, 4))
            for i, p in enumerate(pieces)
        )
        return Spoken(
            audio=audio.astype(np.float32),
            rate=RATE,
            words=words if self.can.returns_words else None,
            phonemes=4 * len(pieces),
            provenance={"name": "fake", "voice": str(voice), "speed": speed},
        )


class FakeASR:
    """Hears what it is told to, in order; the last text for ever."""

    def __init__(self, *texts: str) -> None:
        self.can = Can(deterministic=True)
        self.identity = {"name": "fake"}
        self.texts = list(texts)
        self.asked: list[bool] = []

    def transcribe(self, audio, rate, *, language, careful=False):
        self.asked.append(careful)
        return Heard(text=self.texts.pop(0) if len(self.texts) > 1 else self.texts[0])


class Server:
    """What a fake server was asked, and the failures it gives first."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.failures: list[tuple[int, dict[str, str]]] = []
        self.speech = wav(tone())
        self.transcript: object = {"text": TEXT["en"]}
        self.raw: bytes | None = None

    def bodies(self) -> list[dict[str, object]]:
        return [json.loads(body) for path, _, body in self.asked if path.endswith("/speech")]


@contextmanager
def serving() -> Iterator[Server]:
    """Run a fake of the OpenAI audio API."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {k.casefold(): v for k, v in self.headers.items()}
            state.asked.append((self.path, headers, body))
            status, headers, kind = 200, {}, "application/json"
            if state.failures:
                status, headers = state.failures.pop(0)
                answer = json.dumps({"error": {"message": "not now"}}).encode()
            elif self.path.endswith("/audio/speech"):
                answer, kind = state.speech, "audio/wav"
                if json.loads(body)["response_format"] == "pcm":
                    answer = np.round(tone() * 32767).astype("<i2").tobytes()
            else:
                made = json.dumps(state.transcript).encode()
                answer = made if state.raw is None else state.raw
            self.send_response(status)
            for name, value in {**headers, "Content-Type": kind}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            pass

    with LoopbackServer(Handler) as server:
        state.url = f"{server.url}/v1"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()


def decoded(reference: str) -> bytes:
    return base64.b64decode(reference.partition("base64,")[2])


def stamps(text: str) -> list[SimpleNamespace]:
    return [
        SimpleNamespace(text=piece, start_time=0.2 * i, end_time=0.2 * (i + 1))
        for i, piece in enumerate(text.split())
    ]
