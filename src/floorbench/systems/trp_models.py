"""Text models on the within-turn TRP task: the catalogue's rows.

``boundary-``, ``yesno-`` and ``generate-`` are ways to ask; what follows names the model. The
rows of the published study are the generated form on the models of its table.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from floorbench.systems.hf_model import HfModel
from floorbench.systems.llm.asking import Boundary, Generated, YesNo
from floorbench.systems.llm.embedded import EmbeddedModel
from floorbench.systems.llm.ollama import HOST, OllamaModel
from floorbench.systems.llm.openai_api import KEY, OPENAI, TOP, OpenAIModel
from floorbench.systems.llm.recorded import Replies
from floorbench.systems.llm.retrying import Policy

ENGLISH = ("en",)


def boundary_smollm2(*, threshold: float = 0.5, model_path: str | None = None) -> Boundary:
    """Return the sentence-end probability of the embedded model."""
    return Boundary(
        model=_embedded(model_path),
        name="boundary-smollm2",
        languages=ENGLISH,
        threshold=threshold,
    )


def yesno_smollm2(*, model_path: str | None = None) -> YesNo:
    """Return yes against no of the embedded model."""
    return YesNo(model=_embedded(model_path), name="yesno-smollm2", languages=ENGLISH)


def generate_smollm2(
    *,
    temperature: float = 0.4,
    seed: int = 0,
    max_tokens: int = 96,
    model_path: str | None = None,
) -> Generated:
    """Return the embedded model writing its answer."""
    return Generated(
        model=_embedded(model_path),
        name="generate-smollm2",
        languages=ENGLISH,
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
    )


def boundary_openai(
    *,
    model: str,
    base_url: str = OPENAI,
    key_env: str = KEY,
    top: int = TOP,
    timeout: float = 60.0,
    attempts: int = 5,
    cache: str | None = None,
    replay: bool = False,
    threshold: float = 0.5,
) -> Boundary:
    """Return the sentence-end probability of a server with ``/completions``.

    ``cache`` is a folder of recorded replies; with ``replay`` nothing else answers, and no key is
    needed.
    """
    served = _openai(model, base_url, key_env, top, timeout, attempts, cache, replay, raw=True)
    return Boundary(model=served, name=f"boundary-{model}", threshold=threshold)


def yesno_openai(
    *,
    model: str,
    base_url: str = OPENAI,
    key_env: str = KEY,
    top: int = TOP,
    timeout: float = 60.0,
    attempts: int = 5,
    cache: str | None = None,
    replay: bool = False,
) -> YesNo:
    """Return yes against no of a server that speaks the OpenAI API.

    ``cache`` is a folder of recorded replies; with ``replay`` nothing else answers, and no key is
    needed.
    """
    served = _openai(model, base_url, key_env, top, timeout, attempts, cache, replay)
    return YesNo(model=served, name=f"yesno-{model}")


def generate_openai(
    *,
    model: str,
    base_url: str = OPENAI,
    key_env: str = KEY,
    timeout: float = 60.0,
    attempts: int = 5,
    cache: str | None = None,
    replay: bool = False,
    temperature: float = 0.4,
    seed: int = 0,
    max_tokens: int = 160,
) -> Generated:
    """Return a model behind the OpenAI API writing its answer.

    ``cache`` is a folder of recorded replies; with ``replay`` nothing else answers, and no key is
    needed.
    """
    return Generated(
        model=_openai(model, base_url, key_env, 0, timeout, attempts, cache, replay),
        name=f"generate-{model}",
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
    )


def boundary_ollama(
    *,
    model: str,
    host: str = HOST,
    context: int = 4096,
    timeout: float = 120.0,
    attempts: int = 3,
    threshold: float = 0.5,
) -> Boundary:
    """Return the sentence-end probability of an Ollama tag."""
    served = _ollama(model, host, context, timeout, attempts)
    return Boundary(model=served, name=f"boundary-{_slug(model)}", threshold=threshold)


def yesno_ollama(
    *,
    model: str,
    host: str = HOST,
    context: int = 4096,
    timeout: float = 120.0,
    attempts: int = 3,
) -> YesNo:
    """Return yes against no of an Ollama tag."""
    served = _ollama(model, host, context, timeout, attempts)
    return YesNo(model=served, name=f"yesno-{_slug(model)}")


def generate_ollama(
    *,
    model: str,
    host: str = HOST,
    context: int = 4096,
    timeout: float = 120.0,
    attempts: int = 3,
    temperature: float = 0.4,
    seed: int = 0,
    max_tokens: int = 160,
) -> Generated:
    """Return an Ollama tag writing its answer."""
    return Generated(
        model=_ollama(model, host, context, timeout, attempts),
        name=f"generate-{_slug(model)}",
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
    )


def boundary_hf(
    *, model: str, device: str = "cpu", dtype: str = "auto", threshold: float = 0.5
) -> Boundary:
    """Return the sentence-end probability of a model of the transformers library."""
    held = HfModel(model=model, device=device, dtype=dtype)
    return Boundary(model=held, name="boundary-hf", threshold=threshold)


def yesno_hf(*, model: str, device: str = "cpu", dtype: str = "auto") -> YesNo:
    """Return yes against no of a model of the transformers library."""
    return YesNo(model=HfModel(model=model, device=device, dtype=dtype), name="yesno-hf")


def generate_hf(
    *,
    model: str,
    device: str = "cpu",
    dtype: str = "auto",
    temperature: float = 0.4,
    seed: int = 0,
    max_tokens: int = 160,
) -> Generated:
    """Return a model of the transformers library writing its answer."""
    return Generated(
        model=HfModel(model=model, device=device, dtype=dtype),
        name="generate-hf",
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
    )


generate_gpt_4o = partial(generate_openai, model="gpt-4o")
generate_phi3_4b = partial(generate_ollama, model="phi3:3.8b")
generate_phi3_14b = partial(generate_ollama, model="phi3:14b")
generate_gemma2_9b = partial(generate_ollama, model="gemma2:9b")
generate_gemma2_27b = partial(generate_ollama, model="gemma2:27b")
generate_llama31_8b = partial(generate_ollama, model="llama3.1:8b")
generate_mistral_7b = partial(generate_ollama, model="mistral:7b")


def _embedded(model_path: str | None) -> EmbeddedModel:
    return EmbeddedModel(path=Path(model_path) if model_path is not None else None)


def _openai(
    model: str,
    base_url: str,
    key_env: str,
    top: int,
    timeout: float,
    attempts: int,
    cache: str | None,
    replay: bool,
    *,
    raw: bool = False,
) -> OpenAIModel:
    return OpenAIModel(
        model=model,
        base_url=base_url,
        key_env=key_env,
        raw=raw,
        top=top,
        replies=Replies(cache, replay=replay),
        policy=Policy(timeout=timeout, attempts=attempts),
    )


def _ollama(model: str, host: str, context: int, timeout: float, attempts: int) -> OllamaModel:
    policy = Policy(timeout=timeout, attempts=attempts)
    return OllamaModel(tag=model, host=host, context=context, policy=policy)


def _slug(tag: str) -> str:
    return tag.replace(":", "-").replace("/", "-")
