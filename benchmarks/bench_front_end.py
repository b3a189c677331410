"""How fast is the log-mel front end beside the published extractor? One run, one thread, ratios.

    python benchmarks/bench_front_end.py

The published extractor needs `transformers` (numpy path) and, for its second path, `torch`; run it
in an environment that has them. Each is left out, and named, when it is missing.
"""

import importlib.util
import os
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when numpy is imported
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import numpy as np

from floorbench.systems.whisper_mel import whisper_mel

RATE, WINDOW = 16_000, 128_000
ROUNDS = 40


def published(use_torch):
    """The published extractor on the padded window, by its torch or its numpy path."""
    import transformers.models.whisper.feature_extraction_whisper as module

    extractor = module.WhisperFeatureExtractor(chunk_length=8)

    def extract(samples):
        module.is_torch_available = lambda: use_torch  # it asks at every call
        kept = samples[-WINDOW:]
        padded = np.pad(kept, (WINDOW - len(kept), 0))
        out = extractor(
            padded,
            sampling_rate=RATE,
            return_tensors="np",
            padding="max_length",
            max_length=WINDOW,
            truncation=True,
            do_normalize=True,
        )
        return out.input_features[0]

    return extract


def competitors():
    """Yield names and functions of what can be run here."""
    yield "floorbench", whisper_mel
    if importlib.util.find_spec("transformers") is None:
        print("left out: transformers is not installed")
        return
    yield "published, numpy path", published(False)
    if importlib.util.find_spec("torch") is None:
        print("left out: torch is not installed")
        return
    import torch

    torch.set_num_threads(1)
    yield "published, torch path", published(True)


def main():
    rng = np.random.default_rng(0)
    entries = list(competitors())
    for seconds in (1, 3, 8):
        samples = (0.1 * rng.standard_normal(seconds * RATE)).astype(np.float32)
        best = dict.fromkeys([name for name, _ in entries], float("inf"))
        for _ in range(ROUNDS):  # interleaved, so that a busy machine disturbs all alike
            for name, extract in entries:
                started = time.perf_counter()
                extract(samples)
                best[name] = min(best[name], time.perf_counter() - started)
        worst = max(np.abs(whisper_mel(samples) - e(samples)).max() for _, e in entries)
        base = best["floorbench"]
        for name, taken in best.items():
            print(f"{seconds} s audio  {name:24} {taken * 1e3:7.2f} ms  {taken / base:6.2f} x")
        print(f"{seconds} s audio  largest difference {worst:.1e}")


if __name__ == "__main__":
    main()
