"""A small language model inside this process: llama.cpp through xllamacpp, on the CPU, offline.

Every number is reproducible to the bit on one machine, whatever was asked before. Floating-point
sums depend on how many tokens are read at a time, so the way in which a prompt is read is fixed:
opening, each piece and closing are read one after the other, and the last token of each by
itself. What is already in the model's cache was therefore computed exactly as it would be again,
and a run that is resumed in the middle of a turn gives the numbers of a run that was not.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from floorbench.audio import assets
from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Level, Outcome
from floorbench.core.words import counted
from floorbench.errors import SystemProblem, UsageError, missing_extra
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

ASSET = "smollm2-135m"
_MARK = "\u2402"  # stands for the pieces while the chat template is applied


class _Reading(NamedTuple):
    """A prompt as chunks of tokens: the reusable ones, and what comes after them."""

    chain: tuple[tuple[int, ...], ...]
    tail: tuple[int, ...]


class EmbeddedModel:
    """A GGUF model in this process.

    Parameters
    ----------
    path : Path or None
        The model file; SmolLM2-135M-Instruct (4-bit) from the assets by default.
    context : int
        Tokens that fit into one prompt with its answer.
    slots : int
        Prompts with different openings that are kept at the same time.

    Raises
    ------
    UsageError
        ``FB513`` for numbers below 1.
    """

    can = Capabilities(top=1_000_000, cache=True, deterministic=True)

    def __init__(self, *, path: Path | None = None, context: int = 2048, slots: int = 2) -> None:
        if context < 1 or slots < 1:
            raise UsageError("FB513", f"context={context}, slots={slots}: both are at least 1")
        self._path = path
        self._context = context
        self._slots = slots
        self._server: Any = None
        self._kept: dict[tuple[int, ...], int] = {}
        self._chains: list[tuple[tuple[int, ...], ...]] = [()] * slots
        self._tokens: dict[tuple[str, bool, bool], tuple[int, ...]] = {}
        self._frames: dict[tuple[str | None, str, str], tuple[str, str]] = {}
        self.info = ModelInfo(
            name="SmolLM2-135M-Instruct" if path is None else path.stem,
            level=Level.MEASURED if path is None else Level.REAL_CODE_PATH,
            licence="Apache-2.0" if path is None else "unknown",
            parameters={"context": context, "threads": 1},
        )

    def load(self) -> None:
        """Find the weights and start the model; idempotent.

        Raises
        ------
        EnvironmentProblem
            ``FB401`` without xllamacpp, ``FB411`` or ``FB412`` without the weights.
        SystemProblem
            ``FB501`` when llama.cpp cannot read them.
        """
        if self._server is not None:
            return
        try:
            import xllamacpp
        except ImportError:
            raise missing_extra("xllamacpp", "llama") from None
        file = self._path if self._path is not None else assets.locate(ASSET)
        if not file.is_file():
            raise SystemProblem("FB501", f"there is no model file {file}")
        try:
            self._server = xllamacpp.Server(self._settings(xllamacpp, file))
        except (RuntimeError, ValueError) as error:
            raise SystemProblem("FB501", f"llama.cpp cannot load {file.name}: {error}") from None
        self.info = replace(
            self.info,
            weights={file.name: assets.sha256_of(file)},
            parameters={**self.info.parameters, "xllamacpp": xllamacpp.__version__},
        )

    @property
    def address(self) -> str:
        """Address of the server inside this process, once loaded."""
        found: str = self._server.listening_address
        return found

    def _settings(self, library: Any, file: Path) -> Any:
        settings = library.CommonParams()
        settings.model.path = str(file)
        settings.n_ctx = self._context * self._slots
        settings.n_parallel = self._slots
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
        settings.n_threads_http = 1
        settings.n_gpu_layers = 0
        settings.cache_ram_mib = settings.n_ctx_checkpoints = 0
        settings.offline = True
        settings.warmup = settings.fit_params = settings.ui = False
        settings.verbosity = -1
        return settings

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
        reading = self._read(prompt)
        size = sum(map(len, reading.chain)) + len(reading.tail)
        if size + max_tokens > self._context:
            raise ModelFault(
                Outcome.FAILED,
                f"{counted(size, 'token')} and {max_tokens} more "
                f"do not fit into a context of {self._context}",
            )
        slot = self._slot(reading.chain[0])
        done = Usage()
        for chunks in self._missing(slot, reading.chain):
            tokens = [t for chunk in chunks for t in chunk]
            if len(chunks[-1]) > 1:
                done += _usage(self._ask(slot, tokens[:-1], n_predict=0))
            if chunks != reading.chain or reading.tail:
                done += _usage(self._ask(slot, tokens, n_predict=0))
        self._chains[slot] = reading.chain
        tokens = [t for chunk in reading.chain for t in chunk]
        if len(reading.tail) > 1:
            done += _usage(self._ask(slot, [*tokens, *reading.tail[:-1]], n_predict=0))
        answer = self._ask(
            slot,
            [*tokens, *reading.tail],
            n_predict=max_tokens,
            temperature=temperature,
            seed=seed,
            stop=list(stop),
            n_probs=top,
        )
        last = _usage(answer)
        choice = answer["choices"][0]
        return Completion(
            text=choice["text"],
            first=_candidates(choice.get("logprobs")) if top else None,
            finished=choice.get("finish_reason") != "length",
            usage=Usage(
                prompt=last.prompt,
                evaluated=done.evaluated + last.evaluated,
                generated=answer["usage"]["completion_tokens"],
            ),
        )

    # ---- helpers -----------------------------------------------------------------------------

    def _read(self, prompt: Prompt) -> _Reading:
        before, after = self._frame(prompt) if prompt.chat else (prompt.opening, prompt.closing)
        head = self._tokenise(before, special=True, begins=True)
        pieces = tuple(self._tokenise(piece, special=False) for piece in prompt.pieces)
        return _Reading((head, *pieces), self._tokenise(after, special=True) if after else ())

    def _frame(self, prompt: Prompt) -> tuple[str, str]:
        """Apply the model's own chat template around the pieces."""
        key = (prompt.system, prompt.opening, prompt.closing)
        if key not in self._frames:
            shown = replace(prompt, pieces=(_MARK,)).messages
            rendered = self._post("/apply-template", {"messages": shown})["prompt"]
            before, mark, after = rendered.partition(_MARK)
            if not mark or _MARK in after:
                raise ModelFault(Outcome.FAILED, "the chat template does not keep the text as is")
            self._frames[key] = (before, after)
        return self._frames[key]

    def _tokenise(self, text: str, *, special: bool, begins: bool = False) -> tuple[int, ...]:
        key = (text, special, begins)
        if key not in self._tokens:
            # As llama.cpp's own server does: a model that begins with a token of its own gets it.
            body = {"content": text, "add_special": begins, "parse_special": special}
            self._tokens[key] = tuple(self._post("/tokenize", body)["tokens"])
        return self._tokens[key]

    def _slot(self, head: tuple[int, ...]) -> int:
        """Return the place where prompts with this opening are kept, dropping the oldest."""
        slot = self._kept.pop(head, None)
        if slot is None:
            free = set(range(self._slots)) - set(self._kept.values())
            slot = min(free) if free else self._kept.pop(next(iter(self._kept)))
            self._chains[slot] = ()
        self._kept[head] = slot
        return slot

    def _missing(
        self, slot: int, chain: tuple[tuple[int, ...], ...]
    ) -> list[tuple[tuple[int, ...], ...]]:
        """Return the beginnings of the chain that are not yet in the slot, shortest first."""
        same = takewhile(
            lambda pair: pair[0] == pair[1], zip(self._chains[slot], chain, strict=False)
        )
        known = len(list(same))
        return [chain[: n + 1] for n in range(known, len(chain))]

    def _ask(self, slot: int, tokens: list[int], **settings: JsonValue) -> dict[str, Any]:
        fixed = {"cache_prompt": True, "id_slot": slot, "temperature": 0.0}
        try:
            answer = self._server.handle_completions({"prompt": tokens, **fixed, **settings})
        except (RuntimeError, ValueError) as error:
            raise self._fault(slot, str(error)) from None
        if "error" in answer:
            raise self._fault(slot, str(answer["error"].get("message", "refused")))
        found: dict[str, Any] = answer
        return found

    def _fault(self, slot: int, reason: str) -> ModelFault:
        self._chains[slot] = ()
        return ModelFault(Outcome.FAILED, reason)

    def _post(self, path: str, body: JsonValue) -> Any:
        request = urllib.request.Request(  # noqa: S310 -- our own server on the loopback
            self._server.listening_address + path,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return json.load(answer)


def _usage(answer: dict[str, Any]) -> Usage:
    return Usage(
        prompt=int(answer["usage"]["prompt_tokens"]),
        evaluated=int(answer["timings"]["prompt_n"]),
    )


def _candidates(logprobs: Any) -> tuple[Token, ...] | None:
    """Read the candidates of the first token; nothing is made up for missing ones."""
    if not logprobs or not logprobs.get("content"):
        return None
    first = logprobs["content"][0]["top_logprobs"]
    return tuple(Token(c["token"] or END_OF_TEXT, float(c["logprob"])) for c in first)
