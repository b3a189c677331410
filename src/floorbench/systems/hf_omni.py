"""Qwen3-Omni in this process, through the class and the processor of the transformers library.

The published runs asked it over HTTP (see ``qwen3-omni``); this is the model's own inference, for
machines that hold its 70 GB.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Level, Outcome
from floorbench.core.words import counted
from floorbench.errors import UsageError
from floorbench.systems.common import choice
from floorbench.systems.hf_model import DTYPES, hashes, open_library, unloadable
from floorbench.systems.llm.chat import RATE, ChatTurn, Sound, samples_of
from floorbench.systems.llm.protocol import Completion, ModelFault, ModelInfo, Usage
from floorbench.systems.prompted import Prompted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


SHORTEST = 1600
"""Samples of the shortest sound that the encoder gets."""


class OmniChat:
    """Qwen3-Omni that hears and writes; its voice is not loaded.

    Parameters
    ----------
    model : str
        Folder of the weights, or their name on the hub.
    device : str
        ``cpu``, ``cuda``, ``auto`` (spread over what is there; needs accelerate).
    dtype : str
        ``auto`` takes the type the weights are stored in.

    Notes
    -----
    Messages pass through the model's own chat template, sounds through its own feature extractor at
    16 kHz. Image and video processors are left out: they need torchvision and get no input here.
    A sound below 0.1 s, which the encoder cannot take, is filled up with silence. At temperature 0
    the most probable token is taken; above, sampling draws from a stream of its own.
    Code from a model's folder is never run.

    Source: the published model card (``return_audio=False``, talker disabled).
    """

    deterministic = True
    hears = True

    def __init__(self, *, model: str, device: str = "cpu", dtype: str = "auto") -> None:
        if not model:
            raise UsageError("FB513", "model is empty")
        self._model = model
        self._device = device
        self._dtype = choice("dtype", dtype, DTYPES)
        self._net: Any = None
        self._processor: Any = None
        self._drawing = threading.Lock()  # one global stream of random numbers
        self.info = ModelInfo(
            name="qwen3-omni-hf",
            level=Level.REAL_CODE_PATH,
            licence="the model's own",
            parameters={
                "model": Path(model).name,
                "dtype": self._dtype,
                "device": device,
                "shortest": SHORTEST,
            },
        )

    def load(self) -> None:
        """Load weights and processor; idempotent.

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
        where: dict[str, Any] = {"local_files_only": local}
        if self._device == "auto":
            where["device_map"] = "auto"
        try:
            self._processor = self._open_processor(transformers, local)
            net = transformers.Qwen3OmniMoeForConditionalGeneration.from_pretrained(
                self._model,
                dtype=dtype,
                **where,
            )
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise unloadable(self._model, local, error) from None
        net.disable_talker()
        net.eval()
        self._net = net if self._device == "auto" else net.to(self._device)
        self.info = replace(
            self.info,
            weights=hashes(Path(self._model)) if local else {},
            parameters={
                **self.info.parameters,
                "class": type(net).__name__,
                "processor": type(self._processor).__name__,
                "revision": getattr(net.config, "_commit_hash", None),
                "transformers": transformers.__version__,
            },
        )

    def ask(
        self,
        turns: Sequence[ChatTurn],
        *,
        system: str,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        answers: Sequence[str] | None = None,
        schema: Mapping[str, JsonValue] | None = None,
        repeat: int = 0,
    ) -> Completion:
        """Answer the last turn (see :class:`floorbench.systems.llm.chat.ChatModel`).

        Raises
        ------
        UsageError
            ``FB513`` for ``answers`` or ``schema``: nothing constrains what this class writes.
        ModelFault
            ``failed`` when the dialogue does not fit.
        """
        if answers is not None or schema is not None:
            raise UsageError("FB513", "structured=true is not possible with this model")
        self.load()
        import torch

        given = self.inputs(turns, system=system)
        read = given["input_ids"].shape[1]
        limit = self._net.config.thinker_config.text_config.max_position_embeddings
        if read + max_tokens > limit:
            raise ModelFault(
                Outcome.FAILED,
                f"{counted(read, 'token')} and {max_tokens} more do not fit into {limit}",
            )
        settings: dict[str, Any] = {"thinker_do_sample": False}
        if temperature:
            settings = {"thinker_do_sample": True, "thinker_temperature": temperature}
        devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
        with self._drawing, torch.random.fork_rng(devices), torch.inference_mode():
            torch.manual_seed(seed)
            said = self._net.generate(
                **given.to(self._net.device).to(self._net.dtype),
                return_audio=False,
                thinker_max_new_tokens=max_tokens,
                thinker_eos_token_id=self._processor.tokenizer.eos_token_id,
                **settings,
            )
        said = said[0] if isinstance(said, tuple) else said  # (text, audio) in older versions
        written = getattr(said, "sequences", said)[0, read:].tolist()
        ended = self._processor.tokenizer.eos_token_id in written
        return Completion(
            text=self._processor.tokenizer.decode(written, skip_special_tokens=True),
            finished=ended,
            usage=Usage(prompt=read, evaluated=read, generated=len(written) - ended),
        )

    def inputs(self, turns: Sequence[ChatTurn], *, system: str) -> Any:
        """Return what the model's processor makes of a dialogue: tokens and sound features."""
        sounds: list[NDArray[np.float32]] = []
        messages: list[dict[str, Any]] = []
        if system:
            messages = [{"role": "system", "content": [{"type": "text", "text": system}]}]
        for turn in turns:
            parts: list[dict[str, str]] = []
            for part in turn.parts:
                if isinstance(part, Sound):
                    parts.append({"type": "audio", "audio": f"sound-{len(sounds)}"})
                    sounds.append(_long_enough(samples_of(part)))
                else:
                    parts.append({"type": "text", "text": part})
            messages.append({"role": turn.role, "content": parts})
        try:
            text = self._processor.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
        except Exception as error:  # a template is a program, it may raise anything
            raise ModelFault(Outcome.FAILED, f"the chat template fails: {error}") from None
        heard = {"audio": sounds, "sampling_rate": RATE} if sounds else {}
        return self._processor(text=[text], return_tensors="pt", padding=True, **heard)

    def _open_processor(self, transformers: Any, local: bool) -> Any:
        real = transformers.Qwen3OmniMoeProcessor

        class Hearing(real):  # type: ignore[misc,valid-type]
            """The processor without its eyes."""

            def check_argument_for_proper_class(self, name: str, part: Any) -> Any:
                if part is None and name in ("image_processor", "video_processor"):
                    return None
                return super().check_argument_for_proper_class(name, part)

        Hearing.__name__ = Hearing.__qualname__ = real.__name__
        tokens = transformers.AutoTokenizer.from_pretrained(self._model, local_files_only=local)
        stored, _ = real.get_processor_dict(self._model, local_files_only=local)
        return Hearing(
            feature_extractor=transformers.WhisperFeatureExtractor.from_pretrained(
                self._model, local_files_only=local
            ),
            tokenizer=tokens,
            chat_template=stored.get("chat_template") or tokens.chat_template,
        )


def _long_enough(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    return np.pad(samples, (0, max(0, SHORTEST - samples.size)))


def qwen3_omni_hf(
    *,
    model: str = "Qwen/Qwen3-Omni-30B-A3B-Instruct",
    device: str = "auto",
    dtype: str = "auto",
    temperature: float = 0.0,
    seed: int = 0,
    max_tokens: int = 64,
) -> Prompted:
    """Return Qwen3-Omni in this process; parameters as in :class:`OmniChat` and ``Prompted``."""
    return Prompted(
        model=OmniChat(model=model, device=device, dtype=dtype),
        name="qwen3-omni-hf",
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
    )
