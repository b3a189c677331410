"""Chat models on tasks that ask a question: the catalogue's rows."""

from __future__ import annotations

from functools import partial

from floorbench.systems.common import choice
from floorbench.systems.llm.gemini import GOOGLE, GeminiChat
from floorbench.systems.llm.gemini import KEY as GEMINI_KEY
from floorbench.systems.llm.openai_api import KEY, OPENAI
from floorbench.systems.llm.openai_chat import OpenAIChat
from floorbench.systems.llm.recorded import Replies
from floorbench.systems.llm.retrying import Policy
from floorbench.systems.llm.rows import embedded_model
from floorbench.systems.llm.served import ServedModel
from floorbench.systems.prompted import Prompted

ROLES = ("interruption", "backchannel", "off_talk")
MODALITIES = ("text", "audio")


def prompted_smollm2(
    *, max_tokens: int = 40, structured: bool = True, model_path: str | None = None
) -> Prompted:
    """Return the embedded model behind an OpenAI-compatible server inside this process."""
    return Prompted(
        model=ServedModel(model=embedded_model(model_path, context=4096, slots=1)),
        name="prompted-smollm2",
        languages=("en",),
        max_tokens=max_tokens,
        structured=structured,
    )


def prompted_openai(
    *,
    model: str,
    modality: str = "text",
    base_url: str = OPENAI,
    key_env: str = KEY,
    audio_part: str = "input_audio",
    stream: bool = False,
    structured: bool = False,
    temperature: float = 0.0,
    seed: int = 0,
    max_tokens: int = 64,
    timeout: float = 60.0,
    attempts: int = 5,
    cache: str | None = None,
    replay: bool = False,
    labels: list[str] | None = None,
    name: str = "prompted-openai",
) -> Prompted:
    """Return any model behind the OpenAI API.

    Parameters
    ----------
    model : str
        The server's name of it.
    modality : str
        ``text`` or ``audio``: what it gets of the user.
    base_url, key_env, audio_part, stream
        As in :class:`floorbench.systems.llm.openai_chat.OpenAIChat`.
    structured, temperature, seed, max_tokens, labels, name
        As in :class:`floorbench.systems.prompted.Prompted`.
    timeout : float
        Seconds that one call may take.
    attempts : int
        Calls at most for one answer.
    cache : str or None
        Folder of recorded replies.
    replay : bool
        Answer from recorded replies only; needs no key.
    """
    chat = OpenAIChat(
        model=model,
        base_url=base_url,
        key_env=key_env,
        hears=choice("modality", modality, MODALITIES) == "audio",
        audio_part=audio_part,
        stream=stream,
        replies=Replies(cache, replay=replay),
        policy=Policy(timeout=timeout, attempts=attempts),
    )
    return Prompted(
        model=chat,
        name=name,
        labels=None if labels is None else tuple(labels),
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
        structured=structured,
    )


def prompted_gemini(
    *,
    model: str,
    modality: str = "text",
    base_url: str = GOOGLE,
    key_env: str = GEMINI_KEY,
    stream: bool = False,
    structured: bool = False,
    temperature: float = 0.0,
    seed: int = 0,
    max_tokens: int = 2048,
    timeout: float = 120.0,
    attempts: int = 5,
    cache: str | None = None,
    replay: bool = False,
    labels: list[str] | None = None,
    name: str = "prompted-gemini",
) -> Prompted:
    """Return any Gemini model; parameters as in :func:`prompted_openai`."""
    chat = GeminiChat(
        model=model,
        base_url=base_url,
        key_env=key_env,
        hears=choice("modality", modality, MODALITIES) == "audio",
        stream=stream,
        replies=Replies(cache, replay=replay),
        policy=Policy(timeout=timeout, attempts=attempts),
    )
    return Prompted(
        model=chat,
        name=name,
        labels=None if labels is None else tuple(labels),
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
        structured=structured,
    )


gpt_4o_audio = partial(
    prompted_openai, name="gpt-4o-audio", model="gpt-4o-audio-preview-2025-06-03", modality="audio"
)
"""GPT-4o with sound; the snapshot of the published runs is not known."""
qwen3_omni = partial(
    prompted_openai,
    name="qwen3-omni",
    model="Qwen/Qwen3-Omni-30B-A3B-Instruct",
    modality="audio",
    base_url="http://127.0.0.1:8000/v1",
    key_env="VLLM_API_KEY",
    audio_part="audio_url",
)
"""Qwen3-Omni behind a vLLM server of yours: the published runs went over HTTP too."""
gemini_3_pro = partial(
    prompted_gemini, name="gemini-3-pro", model="gemini-3-pro-preview", modality="audio"
)
gemini_31_pro = partial(
    prompted_gemini, name="gemini-3.1-pro", model="gemini-3.1-pro-preview", labels=list(ROLES)
)
"""Gemini 3.1 Pro on words; it declares ECHO's roles (other labels by parameter)."""
