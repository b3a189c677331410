"""Models as the catalogue's rows open them: plain parameters in, a model out."""

from __future__ import annotations

from pathlib import Path

from floorbench.systems.llm.embedded import EmbeddedModel
from floorbench.systems.llm.ollama import OllamaModel
from floorbench.systems.llm.openai_api import OpenAIModel
from floorbench.systems.llm.recorded import Replies
from floorbench.systems.llm.retrying import Policy


def embedded_model(path: str | None, *, context: int = 2048, slots: int = 2) -> EmbeddedModel:
    """Return a model file in this process, SmolLM2 without one."""
    file = None if path is None else Path(path)
    return EmbeddedModel(path=file, context=context, slots=slots)


def openai_model(
    model: str,
    *,
    base_url: str,
    key_env: str,
    top: int,
    timeout: float,
    attempts: int,
    cache: str | None,
    replay: bool,
    raw: bool = False,
) -> OpenAIModel:
    """Return a model behind the OpenAI API.

    Parameters
    ----------
    model, base_url, key_env, top, raw
        As in :class:`floorbench.systems.llm.openai_api.OpenAIModel`.
    timeout : float
        Seconds of one attempt.
    attempts : int
        Attempts of one call.
    cache : str or None
        Folder of recorded replies.
    replay : bool
        Answer from recorded replies only; needs no key.
    """
    return OpenAIModel(
        model=model,
        base_url=base_url,
        key_env=key_env,
        raw=raw,
        top=top,
        replies=Replies(cache, replay=replay),
        policy=Policy(timeout=timeout, attempts=attempts),
    )


def ollama_model(
    tag: str, *, host: str, context: int, timeout: float, attempts: int
) -> OllamaModel:
    """Return what an Ollama server has under a tag; the numbers as in :func:`openai_model`."""
    policy = Policy(timeout=timeout, attempts=attempts)
    return OllamaModel(tag=tag, host=host, context=context, policy=policy)


def slug(tag: str) -> str:
    """Return a tag as it stands in a system's name.

    Examples
    --------
    >>> slug("hf.co/phi3:14b")
    'hf.co-phi3-14b'
    """
    return tag.replace(":", "-").replace("/", "-")
