"""Text models on the within-turn TRP task: the catalogue's rows.

``boundary-``, ``yesno-`` and ``generate-`` are ways to ask; what follows names the model. The
rows of the published study are the generated form on the models of its table.
"""

from __future__ import annotations

from functools import partial

from floorbench.systems.hf_model import HfModel
from floorbench.systems.llm.asking import Boundary, Generated, YesNo
from floorbench.systems.llm.ollama import HOST
from floorbench.systems.llm.openai_api import KEY, OPENAI, TOP
from floorbench.systems.llm.rows import embedded_model, ollama_model, openai_model, slug

ENGLISH = ("en",)


def boundary_smollm2(*, threshold: float = 0.5, model_path: str | None = None) -> Boundary:
    """Return the sentence-end probability of the embedded model."""
    return Boundary(
        model=embedded_model(model_path),
        name="boundary-smollm2",
        languages=ENGLISH,
        threshold=threshold,
    )


def yesno_smollm2(*, model_path: str | None = None) -> YesNo:
    """Return yes against no of the embedded model."""
    return YesNo(model=embedded_model(model_path), name="yesno-smollm2", languages=ENGLISH)


def generate_smollm2(
    *,
    temperature: float = 0.4,
    seed: int = 0,
    max_tokens: int = 96,
    model_path: str | None = None,
) -> Generated:
    """Return the embedded model writing its answer."""
    return Generated(
        model=embedded_model(model_path),
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
    served = openai_model(
        model,
        base_url=base_url,
        key_env=key_env,
        top=top,
        timeout=timeout,
        attempts=attempts,
        cache=cache,
        replay=replay,
        raw=True,
    )
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
    served = openai_model(
        model,
        base_url=base_url,
        key_env=key_env,
        top=top,
        timeout=timeout,
        attempts=attempts,
        cache=cache,
        replay=replay,
    )
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
    served = openai_model(
        model,
        base_url=base_url,
        key_env=key_env,
        top=0,
        timeout=timeout,
        attempts=attempts,
        cache=cache,
        replay=replay,
    )
    return Generated(
        model=served,
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
    served = ollama_model(model, host=host, context=context, timeout=timeout, attempts=attempts)
    return Boundary(model=served, name=f"boundary-{slug(model)}", threshold=threshold)


def yesno_ollama(
    *,
    model: str,
    host: str = HOST,
    context: int = 4096,
    timeout: float = 120.0,
    attempts: int = 3,
) -> YesNo:
    """Return yes against no of an Ollama tag."""
    served = ollama_model(model, host=host, context=context, timeout=timeout, attempts=attempts)
    return YesNo(model=served, name=f"yesno-{slug(model)}")


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
    served = ollama_model(model, host=host, context=context, timeout=timeout, attempts=attempts)
    return Generated(
        model=served,
        name=f"generate-{slug(model)}",
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
