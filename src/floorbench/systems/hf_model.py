"""Any causal language model of the transformers library, in this process."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from floorbench.core.vocab import Level, Outcome
from floorbench.errors import EnvironmentProblem, UsageError, missing_extra
from floorbench.systems.common import choice
from floorbench.systems.llm.protocol import (
    END_OF_TEXT,
    Capabilities,
    Completion,
    ModelFault,
    ModelInfo,
    Prompt,
    Token,
    Usage,
)

DTYPES = ("auto", "float32", "bfloat16", "float16")


class HfModel:
    """A model that ``AutoModelForCausalLM`` can load.

    Parameters
    ----------
    model : str
        Folder of the model, or its name on the hub (which needs the network once).
    device : str
        ``cpu``, ``cuda``, ``cuda:1`` ...
    dtype : str
        ``auto`` takes the type the weights are stored in.
    name : str or None
        Name in specs; the folder's by default.
    licence : str
        The model's licence.

    Notes
    -----
    Code from a model's folder is never run (``trust_remote_code`` is off).
    """

    can = Capabilities(top=1_000_000, deterministic=True)

    def __init__(
        self,
        *,
        model: str,
        device: str = "cpu",
        dtype: str = "auto",
        name: str | None = None,
        licence: str = "the model's own",
    ) -> None:
        if not model:
            raise UsageError("FB513", "model is empty")
        self._model = model
        self._device = device
        self._dtype = choice("dtype", dtype, DTYPES)
        self._net: Any = None
        self._tokens: Any = None
        self.info = ModelInfo(
            name=name or Path(model).name,
            level=Level.REAL_CODE_PATH,
            licence=licence,
            parameters={"model": Path(model).name, "dtype": self._dtype, "device": device},
        )

    def load(self) -> None:
        """Load weights and tokenizer; idempotent.

        Raises
        ------
        EnvironmentProblem
            ``FB401`` without torch and transformers, ``FB554`` for an incomplete folder,
            ``FB559`` when the hub cannot be reached.
        """
        if self._net is not None:
            return
        transformers, dtype = open_library(self._dtype)
        local = Path(self._model).is_dir()
        try:
            self._tokens = transformers.AutoTokenizer.from_pretrained(
                self._model, local_files_only=local
            )
            net = transformers.AutoModelForCausalLM.from_pretrained(
                self._model, dtype=dtype, local_files_only=local
            )
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise unloadable(self._model, local, error) from None
        self._net = net.to(self._device).eval()
        self.info = replace(
            self.info,
            weights=hashes(Path(self._model)) if local else {},
            parameters={
                **self.info.parameters,
                "class": type(net).__name__,
                "revision": getattr(net.config, "_commit_hash", None),
                "transformers": transformers.__version__,
            },
        )

    def complete(
        self,
        prompt: Prompt,
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        top: int = 0,
    ) -> Completion:
        """Continue a prompt (see :class:`floorbench.systems.llm.protocol.TextModel`)."""
        self.load()
        import torch

        ids = self._ids(prompt)
        limit = getattr(self._net.config, "max_position_embeddings", None)
        if limit is not None and ids.shape[1] + max_tokens > limit:
            raise ModelFault(
                Outcome.FAILED,
                f"{ids.shape[1]} tokens and {max_tokens} more do not fit into {limit}",
            )
        generator = torch.Generator(device=self._device).manual_seed(seed)
        written: list[int] = []
        first: tuple[Token, ...] | None = None
        kept, fed, text, ended = self._cache(), ids, "", False
        with torch.inference_mode():
            while len(written) < max_tokens and not ended:
                logits = self._net(input_ids=fed, use_cache=True, **kept).logits[0, -1].float()
                if top and first is None:
                    first = self._first(logits, top)
                fed = _next(logits, temperature, generator).reshape(1, 1)
                ended = int(fed) in self._ends()
                if not ended:
                    written.append(int(fed))
                    text = self._tokens.decode(written, skip_special_tokens=True)
                    ended, text = _cut(text, stop)
        return Completion(
            text=text,
            first=first,
            finished=ended,
            usage=Usage(prompt=ids.shape[1], evaluated=ids.shape[1], generated=len(written)),
        )

    def _cache(self) -> dict[str, Any]:
        """Return an empty cache, which grows in place, under the installed library's name."""
        import transformers

        takes = inspect.signature(self._net.forward).parameters
        name = "cache" if "cache" in takes else "past_key_values"
        return {name: transformers.DynamicCache(config=self._net.config)}

    def _ids(self, prompt: Prompt) -> Any:
        if not prompt.chat:
            found = self._tokens(prompt.text, return_tensors="pt")["input_ids"]
            return found.to(self._device)
        messages = prompt.messages
        try:
            found = self._template(messages)
        except Exception as error:  # a template is a program, it may raise anything
            if prompt.system is None or "system" not in str(error).casefold():
                raise ModelFault(Outcome.FAILED, f"the chat template fails: {error}") from None
            joined = f"{prompt.system}\n\n{prompt.text}"  # templates without a system role
            found = self._template([{"role": "user", "content": joined}])
        return found["input_ids"].to(self._device)

    def _template(self, messages: list[dict[str, str]]) -> Any:
        return self._tokens.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )

    def _first(self, logits: Any, top: int) -> tuple[Token, ...]:
        values, ids = logits.log_softmax(-1).topk(min(top, logits.numel()))
        ends = self._ends()
        return tuple(
            Token(END_OF_TEXT if i in ends else self._tokens.decode([i]), float(v))
            for i, v in zip(ids.tolist(), values.tolist(), strict=True)
        )

    def _ends(self) -> set[int]:
        declared = self._net.generation_config.eos_token_id
        ends = declared if isinstance(declared, list) else [declared]
        return {i for i in (*ends, self._tokens.eos_token_id) if i is not None}


def open_library(dtype: str) -> tuple[Any, Any]:
    """Return transformers, and a type of numbers as it takes it (``FB401`` without the extra)."""
    try:
        import torch
        import transformers
    except ModuleNotFoundError as error:
        raise missing_extra(str(error.name), "hf") from None
    return transformers, "auto" if dtype == "auto" else getattr(torch, dtype)


def _next(logits: Any, temperature: float, generator: Any) -> Any:
    import torch

    if temperature == 0:
        return logits.argmax()
    return torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)[0]


def _cut(text: str, stop: Sequence[str]) -> tuple[bool, str]:
    found = [text.index(s) for s in stop if s in text]
    return (True, text[: min(found)]) if found else (False, text)


def hashes(folder: Path) -> dict[str, str]:
    """Return the hash of every file with weights, of any size."""
    files = sorted((*folder.glob("*.safetensors"), *folder.glob("*.bin")))
    return {file.name: _sha256(file) for file in files}


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def unloadable(model: str, local: bool, error: Exception) -> EnvironmentProblem:
    """Return what to tell when a model cannot be loaded."""
    first = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
    if local:
        return EnvironmentProblem("FB554", f"'{model}' cannot be loaded: {first}")
    return EnvironmentProblem(
        "FB559",
        f"'{model}' is no folder here, and the hub did not give it: {first}",
        hint=f"download it elsewhere and give the folder: --set model=PATH (wanted: {model})",
    )
