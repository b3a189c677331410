"""Voices and recognisers behind any server that speaks the OpenAI audio API.

Repeats, time-outs and the handling of keys are those of the language model clients: 429 and 5xx
are tried again with growing pauses, other refusals are not; keys come from the environment alone.
"""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from floorbench.build.speech.providers import Audio, Can, Heard, Reference, Spoken, Word
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.errors import DataError, EnvironmentProblem, missing_extra
from floorbench.systems.llm.http import check_url, too_late
from floorbench.systems.llm.openai_api import KEY, OPENAI, retry_after
from floorbench.systems.llm.protocol import ModelFault
from floorbench.systems.llm.retrying import Policy, Refused, calling, of_status

LONGEST_INPUT = 4096
SPEEDS = (0.25, 4.0)
LANGUAGES = {"en": "English", "zh": "Chinese"}
"""Names that Qwen's models use."""


class Endpoint:
    """One server: client, key and repeats."""

    def __init__(self, *, base_url: str, key_env: str, policy: Policy | None) -> None:
        self.url = check_url("base_url", base_url)
        self.policy = policy or Policy()
        self._key_env = key_env
        self._client: Any = None
        self._secret = ""

    def client(self) -> Any:
        """Return the client, made on first need.

        Raises
        ------
        EnvironmentProblem
            ``FB401`` without the library, ``FB873`` without a key where one is needed.
        """
        if self._client is None:
            try:
                import openai
            except ImportError:
                raise missing_extra("openai", "openai") from None
            self._secret = os.environ.get(self._key_env, "")
            if not self._secret and self.url == OPENAI:
                raise EnvironmentProblem(
                    "FB873", f"the environment variable {self._key_env} is not set"
                )
            self._client = openai.OpenAI(
                api_key=self._secret or "none",
                base_url=self.url,
                timeout=self.policy.timeout,
                max_retries=0,
            )
        return self._client

    def call(self, make: Callable[[], Any]) -> Any:
        """Call the server as often as the policy says.

        Raises
        ------
        EnvironmentProblem
            ``FB873`` when the server refuses the key: no other item would fare better.
        DataError
            ``FB872`` for every other failure.
        """
        import openai

        def once() -> Any:
            try:
                return make()
            except openai.APITimeoutError:
                raise too_late(self.policy.timeout) from None
            except openai.APIStatusError as error:
                if error.status_code in (401, 403):
                    raise EnvironmentProblem(
                        "FB873", f"{self.url} answered {error.status_code}"
                    ) from None
                detail = " ".join(self._clean(error.response.text).split())[:160]
                raise of_status(
                    error.status_code, detail, retry_after(error.response.headers)
                ) from None
            except openai.APIConnectionError as error:
                cause = self._clean(str(error.__cause__ or error))
                raise Refused(f"no connection: {cause}", again=True) from None
            except openai.OpenAIError as error:
                raise Refused(
                    self._clean(f"{type(error).__name__}: {error}"), again=False
                ) from None
            except ValueError:  # a broken JSON answer comes as it is
                raise Refused("the answer cannot be read", again=True) from None

        try:
            return calling(once, self.policy)
        except ModelFault as fault:
            raise DataError("FB872", f"{self.url}: {fault.reason}") from None

    def _clean(self, text: str) -> str:
        return text.replace(self._secret, "<key>") if self._secret else text


class SpeechServer:
    """A voice behind ``/audio/speech``.

    Parameters
    ----------
    model : str
    base_url : str
        Address of the API, ending in ``/v1``.
    key_env : str
        Environment variable that holds the key.
    pcm_rate : int or None
        Rate of the server's raw 16-bit PCM, which is asked for then; ``None`` asks for WAV.
    emotion : bool
        Whether the server takes instructions on how to speak.
    qwen : bool
        Whether it is vLLM-Omni with a Qwen3-TTS model: language and task are sent along, and a
        reference recording is cloned.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str = OPENAI,
        key_env: str = KEY,
        pcm_rate: int | None = None,
        emotion: bool = True,
        qwen: bool = False,
        policy: Policy | None = None,
    ) -> None:
        self._server = Endpoint(base_url=base_url, key_env=key_env, policy=policy)
        self._model = model
        self._pcm_rate = pcm_rate
        self._qwen = qwen
        self.can = Can(clones=qwen, emotion=emotion, speed=True)

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Server and model."""
        return {
            "name": "speech server",
            "base_url": self._server.url,
            "model": self._model,
            "pcm_rate": self._pcm_rate,
            "qwen": self._qwen,
        }

    def synthesize(
        self,
        text: str,
        *,
        language: str,
        voice: str | Reference,
        speed: float = 1.0,
        emotion: str | None = None,
        seed: int = 0,
        prefix: str | None = None,
    ) -> Spoken:
        """Speak a text (see :class:`floorbench.build.speech.providers.TTS`)."""
        if not 0 < len(text) <= LONGEST_INPUT:
            raise DataError(
                "FB871", f"{counted(len(text), 'character')}; a server takes 1 to {LONGEST_INPUT}"
            )
        if not SPEEDS[0] <= speed <= SPEEDS[1]:
            raise DataError("FB871", f"speed {speed} lies outside {SPEEDS[0]} to {SPEEDS[1]}")
        if emotion is not None and not self.can.emotion:
            raise DataError("FB871", "this server takes no emotion")
        extra: dict[str, JsonValue] = {}
        named = voice if isinstance(voice, str) else ""
        if self._qwen:
            extra = {"language": LANGUAGES.get(language, language), "task_type": "CustomVoice"}
        if isinstance(voice, Reference):
            if not self.can.clones:
                raise DataError("FB871", "this server does not clone: name a voice")
            sound = base64.b64encode(voice.path.read_bytes()).decode()
            extra |= {"task_type": "Base", "ref_audio": f"data:audio/wav;base64,{sound}"}
            extra |= {"ref_text": voice.text} if voice.text else {"x_vector_only_mode": True}
        settings: dict[str, Any] = {
            "model": self._model,
            "input": text,
            "voice": named,
            "speed": speed,
            "response_format": "wav" if self._pcm_rate is None else "pcm",
        }
        if emotion is not None:
            settings["instructions"] = emotion
        if extra:
            settings["extra_body"] = extra
        create = self._server.client().audio.speech.create
        audio, rate = self._server.call(lambda: self._sound(create(**settings).content))
        who = named or "reference"
        return Spoken(
            audio=audio,
            rate=rate,
            provenance={**self.identity, "voice": who, "speed": speed, "emotion": emotion},
        )

    def _sound(self, content: bytes) -> tuple[Audio, int]:
        """Read an answer; one that holds no sound is a failed call that may be tried again."""
        try:
            if self._pcm_rate is None:
                audio, rate = read_wav(content)
            else:
                audio, rate = _pcm(content), self._pcm_rate
        except DataError as error:
            raise Refused(error.what, again=True) from None
        if not np.any(audio):
            raise Refused("it answered with no audio", again=True)
        return audio, rate


def _pcm(content: bytes) -> Audio:
    whole = content[: len(content) // 2 * 2]
    scaled: Audio = np.frombuffer(whole, dtype="<i2").astype(np.float32) / np.float32(32768)
    return scaled


def read_wav(content: bytes) -> tuple[Audio, int]:
    """Read a 16-bit PCM WAV whose header may lie about its length, as streamed ones do.

    Raises
    ------
    DataError
        ``FB872`` when it is no such WAV.
    """
    if content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        raise DataError("FB872", f"the answer is no WAV file: it begins with {content[:12]!r}")
    at, rate, channels, plain = 12, 0, 1, False
    while at + 8 <= len(content):
        name, size = content[at : at + 4], int.from_bytes(content[at + 4 : at + 8], "little")
        body = at + 8
        if name == b"fmt ":
            kind, channels = (
                int.from_bytes(content[body + i : body + i + 2], "little") for i in (0, 2)
            )
            rate = int.from_bytes(content[body + 4 : body + 8], "little")
            bits = int.from_bytes(content[body + 14 : body + 16], "little")
            plain = kind in (1, 0xFFFE) and bits == 16 and channels > 0
        elif name == b"data":
            if not plain:
                raise DataError("FB872", "the WAV file is not 16-bit PCM")
            samples = _pcm(content[body : body + size])
            whole = len(samples) // channels * channels
            mono: Audio = np.mean(samples[:whole].reshape(-1, channels), axis=1, dtype=np.float32)
            return mono, rate
        at = body + size + size % 2
    raise DataError("FB872", "the WAV file holds no samples")


class TranscriptionServer:
    """A recogniser behind ``/audio/transcriptions``.

    Parameters
    ----------
    words : bool
        Whether to ask for word times (``verbose_json``).
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str = OPENAI,
        key_env: str = KEY,
        words: bool = False,
        policy: Policy | None = None,
    ) -> None:
        self._server = Endpoint(base_url=base_url, key_env=key_env, policy=policy)
        self._model = model
        self.can = Can(returns_words=words)

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Server and model."""
        return {
            "name": "transcription server",
            "base_url": self._server.url,
            "model": self._model,
            "words": self.can.returns_words,
        }

    def transcribe(self, audio: Audio, rate: int, *, language: str, careful: bool = False) -> Heard:
        """Write down what is said (see :class:`floorbench.build.speech.providers.ASR`)."""
        settings: dict[str, Any] = {
            "model": self._model,
            "language": language,
            "temperature": 0.0,
            "file": ("clip.wav", wav_bytes(audio, rate), "audio/wav"),
            "response_format": "verbose_json" if self.can.returns_words else "json",
        }
        if self.can.returns_words:
            settings["timestamp_granularities"] = ["word"]
        create = self._server.client().audio.transcriptions.create
        answer = self._server.call(lambda: _with_text(create(**settings)))
        text, found = answer.text, getattr(answer, "words", None)
        words = None
        if self.can.returns_words and found is not None:
            words = tuple(
                Word(text=w.word, start=round(float(w.start), 4), end=round(float(w.end), 4))
                for w in found
            )
        return Heard(text=text.strip(), words=words)


def _with_text(answer: Any) -> Any:
    if not isinstance(getattr(answer, "text", None), str):
        raise Refused("it answered without a text", again=True)
    return answer


def wav_bytes(audio: Audio, rate: int) -> bytes:
    """Return mono samples as a 16-bit WAV file."""
    import soundfile

    room = io.BytesIO()
    soundfile.write(room, audio, rate, format="WAV", subtype="PCM_16")
    return room.getvalue()
