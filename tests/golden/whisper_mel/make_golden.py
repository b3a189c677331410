"""Writes whisper_mel.json from the reference; needs `transformers` and numpy.

    python make_golden.py > whisper_mel.json

It stores a few frames of features for signals that the test rebuilds from the same formulas.
"""

import json
import sys

import numpy as np
import transformers
from transformers import WhisperFeatureExtractor
from transformers.utils import is_torch_available

SOURCE = "transformers.WhisperFeatureExtractor(chunk_length=8), do_normalize=True, numpy path"
RATE = 16_000
WINDOW = 128_000
FRAMES = [0, 1, 2, 397, 398, 399, 400, 401, 402, 500, 650, 797, 798, 799]


def signal(name):
    """The synthetic signals; the test holds the same formulas."""
    seconds = {"chirp-3.98s": 3.98, "chirp-8s": 8.0, "long-9.5s": 9.5, "short-0.3s": 0.3}
    if name == "silence-2s":
        return np.zeros(2 * RATE, dtype=np.float32)
    t = np.arange(int(seconds[name] * RATE)) / RATE
    wave = 0.3 * np.sin(2 * np.pi * (120 + 300 * t) * t) * (1 + np.sin(2 * np.pi * 3 * t))
    wave += 0.02 * np.sin(2 * np.pi * 3100 * t) + 0.01 * np.sin(2 * np.pi * 6500 * t) + 0.003
    return wave.astype(np.float32)


def main():
    if is_torch_available():
        sys.exit("run without torch, so that the numpy path is the one recorded")
    extractor = WhisperFeatureExtractor(chunk_length=8)
    cases = {}
    for name in ("chirp-3.98s", "chirp-8s", "long-9.5s", "short-0.3s", "silence-2s"):
        wave = signal(name)[-WINDOW:]
        wave = np.pad(wave, (WINDOW - len(wave), 0))
        out = extractor(
            wave,
            sampling_rate=RATE,
            return_tensors="np",
            padding="max_length",
            max_length=WINDOW,
            truncation=True,
            do_normalize=True,
        )
        features = out.input_features[0]
        assert features.shape == (80, 800)
        cases[name] = {str(f): [round(float(v), 6) for v in features[:, f]] for f in FRAMES}
        cases[name]["sum"] = round(float(features.astype(np.float64).sum()), 3)
    print(
        json.dumps(
            {
                "source": SOURCE,
                "transformers": transformers.__version__,
                "numpy": np.__version__,
                "script": "make_golden.py",
                "cases": cases,
            }
        )
    )


if __name__ == "__main__":
    main()
