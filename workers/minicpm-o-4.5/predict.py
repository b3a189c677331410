"""MiniCPM-o 4.5: asked with the task's question, or (``--duplex``) listening second by second.

Written to the published model card and its remote code; not run on the weights by the project.
In duplex mode it speaks for itself: there is no documented way to make it say a given utterance.
"""

import hashlib
import json
from pathlib import Path

import floorbench_worker as worker

RATE = 16000
HALF = {
    "name": "minicpm-o-4.5",
    "version": "4.5",
    "modalities": ["audio", "question"],
    "context": "dialogue",
    "rate": RATE,
    "licence": "Apache-2.0",
}
DUPLEX = {
    "name": "minicpm-o-4.5-duplex",
    "version": "4.5",
    "labels": ["speak", "stop"],
    "context": "dialogue",
    "rate": RATE,
    "step": 1.0,
    "parameters": {"floor": "own"},
    "licence": "Apache-2.0",
}


class Model:
    """The model in the folder ``--model``, with the remote code that lies there."""

    def __init__(self, options):
        import torch
        from transformers import AutoModel

        self.model = (
            AutoModel.from_pretrained(
                options.model,
                trust_remote_code=True,
                attn_implementation="sdpa",
                torch_dtype=torch.bfloat16,
                init_vision=False,
                init_audio=True,
                init_tts=bool(options.duplex),
            )
            .eval()
            .to(options.device)
        )
        index = Path(options.model) / "model.safetensors.index.json"
        told = HALF if not options.duplex else DUPLEX
        told["weights"] = {index.name: hashlib.sha256(index.read_bytes()).hexdigest()}
        self.voice = options.voice
        if options.duplex:
            self.model = self.model.as_duplex()

    def chat(self, messages):
        return self.model.chat(
            msgs=messages, use_tts_template=False, generate_audio=False, sampling=False,
            max_new_tokens=64,
        )  # fmt: skip

    def prepare(self, prompt):
        self.model.prepare(
            prefix_system_prompt=prompt, ref_audio=self.voice, prompt_wav_path=self.voice
        )

    def listen(self, samples):
        import numpy as np

        self.model.streaming_prefill(audio_waveform=np.array(samples, dtype=np.float32))
        return self.model.streaming_generate(prompt_wav_path=self.voice)


class Stub:
    """No model: answers the first allowed answer; speaks when it has heard something."""

    def __init__(self, options):
        self.heard = False

    def chat(self, messages):
        return messages[0]["content"][0].splitlines()[-1]

    def prepare(self, prompt):
        self.heard = False

    def listen(self, samples):
        self.heard = self.heard or max(map(abs, samples)) > 0.01
        return {"is_listen": not self.heard, "text": ""}


def answer(model, item):
    """Ask the task's question about one dialogue, the past as messages."""
    question = item.get("question")
    if question is None or "user" not in item.get("channels", {}):
        return {"outcome": "unsupported", "reason": "no question or no audio of the user"}
    messages = [{"role": "system", "content": [question["text"]]}]
    for turn in item.get("turns", []):
        user = turn["role"] != "system"
        content = sound(turn["audio"]) if user and "audio" in turn else turn.get("text", "")
        messages.append({"role": "user" if user else "assistant", "content": [content]})
    messages.append({"role": "user", "content": [sound(item["channels"]["user"])]})
    raw = model.chat(messages)
    return {"raw": raw} if raw.strip() else {"outcome": "invalid", "reason": "an empty answer"}


def sound(audio):
    """Return sound as the model takes it; plain numbers where numpy is not there."""
    samples = worker.samples(audio)
    try:
        import numpy as np
    except ImportError:
        return list(samples)
    return np.array(samples, dtype=np.float32)


class Stream:
    """One stream: a decision a second, reported when it changes."""

    def __init__(self, model, setup):
        self.model, self.speaking = model, False
        model.prepare(json.dumps([t["text"] for t in setup["turns"]], ensure_ascii=False))

    def push(self, chunk):
        said = self.model.listen(worker.samples(chunk["audio"]["user"]))
        speaks = not said["is_listen"]
        if speaks == self.speaking:
            return []
        self.speaking = speaks
        return [{"label": "speak" if speaks else "stop", "time": chunk["end"]}]

    def close(self):
        return []


if __name__ == "__main__":
    options = worker.arguments(
        "MiniCPM-o 4.5 for floorbench",
        flags=("duplex",),
        voice="WAV file with the voice it speaks with (duplex)",
    )

    def load():
        return (Stub if options.stub else Model)(options)

    if options.duplex:
        worker.serve_stream(DUPLEX, load, Stream)
    else:
        worker.serve(HALF, load, lambda model, items: [answer(model, item) for item in items])
