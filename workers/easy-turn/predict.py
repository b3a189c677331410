"""Easy Turn: a transcript and one of four tags from the user's whole turn. Chinese.

Written to the interface of the published inference script (``recognize4llmasr.py``); not run on
the weights by the project. The instruction is one of the five that the model was trained with: it
is read from the repository's ``conf/prompt.yaml`` and only its hash is told.
"""

import hashlib
import re
import sys
from pathlib import Path

import floorbench_worker as worker

TASK = "<TRANSCRIBE> <BACKCHANNEL> <COMPLETE>"
LABELS = ["complete", "incomplete", "backchannel", "wait"]
TAG = re.compile("<(" + "|".join(LABELS) + ")>", re.IGNORECASE)
HELLO = {
    "name": "easy-turn",
    "version": "2509.23938",
    "labels": LABELS,
    "languages": ["zh"],
    "context": "current user turn",
    "rate": 16000,
    "label_map": "easy-turn",
    "licence": "Apache-2.0",
}


class Model:
    """The model in the folder ``--model``: ``train.yaml``, the checkpoint ``*.pt``."""

    def __init__(self, options):
        sys.path.insert(0, options.repository)
        import torch
        import yaml
        from wenet.utils.init_model import init_model
        from wenet.utils.init_tokenizer import init_tokenizer

        torch.manual_seed(777)
        folder = Path(options.model)
        checkpoint = next(folder.glob("*.pt"))
        configs = yaml.safe_load((folder / "train.yaml").read_text())
        prompts = yaml.safe_load((Path(options.repository) / "conf" / "prompt.yaml").read_text())
        self.prompt = prompts[TASK][int(options.prompt or 0)]
        HELLO["weights"] = {checkpoint.name: hashlib.sha256(checkpoint.read_bytes()).hexdigest()}
        HELLO["parameters"] = {"prompt_sha256": hashlib.sha256(self.prompt.encode()).hexdigest()}
        options.checkpoint, options.jit = str(checkpoint), False
        options.use_lora, options.lora_ckpt_path = False, None
        init_tokenizer(configs)
        self.model, self.configs = init_model(options, configs)
        self.model = self.model.to(options.device).eval()
        self.device, self.torch = options.device, torch

    def __call__(self, samples):
        import numpy as np
        from wenet.dataset import processor

        wave = self.torch.from_numpy(np.array(samples, dtype=np.float32))[None]
        item = {"key": "x", "wav": wave, "sample_rate": 16000, "label": [], "txt": ""}
        conf = self.configs["dataset_conf"]["log_mel_spectrogram_conf"]
        feats = processor.compute_log_mel_spectrogram(item, **conf)["feat"][None].to(self.device)
        lengths = self.torch.tensor([feats.shape[1]], device=self.device)
        with self.torch.no_grad():
            return self.model.generate(wavs=feats, wavs_len=lengths, prompt=self.prompt)[0]


class Stub:
    """No model: every turn is complete."""

    def __init__(self, options):
        pass

    def __call__(self, samples):
        return "好<COMPLETE>" if max(samples, default=0.0) > 0 else "<INCOMPLETE>"


def answer(model, item):
    """Ask about one turn; the last tag of the answer counts."""
    if "user" not in item.get("channels", {}):
        return {"outcome": "unsupported", "reason": "no audio of the user"}
    raw = model(worker.samples(item["channels"]["user"]))
    tags = TAG.findall(raw)
    if not tags:
        return {"outcome": "invalid", "raw": raw, "reason": "no tag in the answer"}
    return {"label": tags[-1].lower(), "raw": raw}


if __name__ == "__main__":
    options = worker.arguments(
        "Easy Turn for floorbench",
        repository="checkout of ASLP-lab/Easy-Turn: Easy_Turn/examples/wenetspeech/whisper",
        prompt="which of the five trained instructions, from 0",
    )
    worker.serve(
        HELLO,
        lambda: (Stub if options.stub else Model)(options),
        lambda model, items: [answer(model, item) for item in items],
    )
