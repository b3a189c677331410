"""Any causal language model of the transformers library, in this process."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from floorbench.core.vocab import Level, Outcome
from floorbench.core.words import counted
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
from floorbench.systems.llm.together import Call

DTYPES = ("auto", "float32", "bfloat16", "float16")


class _Row:
    """One call of a batch, and what is written of it so far."""

    def __init__(self, call: Call, ids: Any, generator: Any) -> None:
        self.call, self.ids, self.generator = call, ids, generator
        self.written: list[int] = []
        self.first: tuple[Token, ...] | None = None
        self.text, self.ended = "", False

    @property
    def full(self) -> bool:
        return len(self.written) >= self.call.max_tokens

    def said(self) -> Completion:
        usage = Usage(prompt=len(self.ids), evaluated=len(self.ids), generated=len(self.written))
        return Completion(text=self.text, first=self.first, finished=self.ended, usage=usage)


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

    Calls in a batch are filled up on the left and masked; the sums of a longer row are taken in
    another order. Log probabilities moved by up to 2e-6 in 32 bits and 8e-3 in bfloat16.
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
        call = Call(
            prompt=prompt,
            max_tokens=max_tokens,
            temperature=temperature,
            seed=seed,
            stop=tuple(stop),
            top=top,
        )
        (said,) = self.complete_all([call])
        if isinstance(said, ModelFault):
            raise said
        return said

    def complete_all(self, calls: Sequence[Call]) -> list[Completion | ModelFault]:
        """Continue several prompts side by side.

        Parameters
        ----------
        calls : sequence of Call

        Returns
        -------
        list
            In order; the fault of a call that does not fit stands in its place.
        """
        self.load()
        found: list[Completion | ModelFault | _Row] = [self._row(call) for call in calls]
        rows = [row for row in found if isinstance(row, _Row)]
        if rows:
            self._write(rows)
        return [row.said() if isinstance(row, _Row) else row for row in found]

    def _row(self, call: Call) -> _Row | ModelFault:
        import torch

        try:
            ids = self._ids(call.prompt)[0]
        except ModelFault as fault:
            return fault
        limit = getattr(self._net.config, "max_position_embeddings", None)
        if limit is not None and len(ids) + call.max_tokens > limit:
            return ModelFault(
                Outcome.FAILED,
                f"{counted(len(ids), 'token')} and {call.max_tokens} more do not fit into {limit}",
            )
        generator = torch.Generator(device=self._device).manual_seed(call.seed)
        return _Row(call, ids, generator)

    def _write(self, rows: list[_Row]) -> None:
        """Let the model write all rows, token by token, until each has ended."""
        import torch

        longest = max(len(row.ids) for row in rows)
        alike = all(len(row.ids) == longest for row in rows)
        fed = torch.zeros((len(rows), longest), dtype=torch.long, device=self._device)
        mask = torch.zeros_like(fed)
        for n, row in enumerate(rows):
            fed[n, longest - len(row.ids) :] = row.ids
            mask[n, longest - len(row.ids) :] = 1
        given = {**self._cache(), **self._last_only()}
        with torch.inference_mode():
            while not all(row.ended or row.full for row in rows):
                if not alike:
                    given["attention_mask"] = mask
                    places = (mask.cumsum(-1) - 1).clamp(min=0)
                    given["position_ids"] = places[:, -fed.shape[1] :]
                logits = self._net(input_ids=fed, use_cache=True, **given).logits[:, -1].float()
                chosen = [self._take(row, logits[n]) for n, row in enumerate(rows)]
                fed = torch.tensor(chosen, device=self._device)[:, None]
                mask = torch.cat([mask, torch.ones_like(fed)], dim=1)

    def _take(self, row: _Row, logits: Any) -> int:
        """Give a row its next token; one that has ended is fed anything."""
        if row.ended or row.full:
            return 0
        if row.call.top and row.first is None:
            row.first = self._first(logits, row.call.top)
        token = int(_next(logits, row.call.temperature, row.generator))
        if token in self._ends():
            row.ended = True
        else:
            row.written.append(token)
            text = self._tokens.decode(row.written, skip_special_tokens=True)
            row.ended, row.text = _cut(text, row.call.stop)
        return token

    def _last_only(self) -> dict[str, int]:
        """Return the argument that leaves out scores of all but the last token, if there is one."""
        takes = inspect.signature(self._net.forward).parameters
        return {"logits_to_keep": 1} if "logits_to_keep" in takes else {}

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
