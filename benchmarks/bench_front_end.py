"""How fast is the log-mel front end beside the published extractor and beside librosa? One thread.

The published extractor has a path in numpy and one in torch. librosa computes the same mel bands
without the normalisation of the window, so it only has to come near.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.ratios import OURS, Case, Work, peer
from floorbench.systems.whisper_mel import (
    BANDS,
    FRAMES,
    HOP,
    N_FFT,
    RATE,
    WINDOW,
    slaney_bank,
    whisper_mel,
)

PUBLISHED = {"WhisperFeatureExtractor, numpy": False, "WhisperFeatureExtractor, torch": True}


def published(samples: np.ndarray, use_torch: bool) -> Work:
    """Return the published extractor on the padded window, by its torch or its numpy path."""
    import transformers.models.whisper.feature_extraction_whisper as module

    if use_torch:
        import torch

        torch.set_num_threads(1)
    extractor = module.WhisperFeatureExtractor(chunk_length=8)

    def extract() -> Any:
        module.is_torch_available = lambda: use_torch  # it asks at every call
        kept = samples[-WINDOW:]
        out = extractor(
            np.pad(kept, (WINDOW - len(kept), 0)),
            sampling_rate=RATE,
            return_tensors="np",
            padding="max_length",
            max_length=WINDOW,
            truncation=True,
            do_normalize=True,
        )
        return out.input_features[0]

    return extract


def librosa_mel(samples: np.ndarray) -> Work:
    """Return librosa's log-mel spectrogram of the padded window."""
    import librosa

    def extract() -> Any:
        kept = samples[-WINDOW:].astype(np.float64)
        window = np.pad(kept, (WINDOW - len(kept), 0))
        window = (window - window.mean()) / np.sqrt(window.var() + 1e-7)
        mel = librosa.feature.melspectrogram(
            y=window, sr=RATE, n_fft=N_FFT, hop_length=HOP, n_mels=BANDS, pad_mode="reflect"
        )
        log = np.log10(np.maximum(mel[:, :FRAMES], 1e-10))
        return ((np.maximum(log, log.max() - 8.0) + 4.0) / 4.0).astype(np.float32)

    return extract


def plain_numpy(samples: np.ndarray) -> Work:
    """Return the same features from the whole window at once, as one would write them down."""
    hann = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(N_FFT) / N_FFT)
    bank = slaney_bank()

    def extract() -> Any:
        kept = samples[-WINDOW:].astype(np.float64)
        window = np.pad(kept, (WINDOW - len(kept), 0))
        window = (window - window.mean()) / np.sqrt(window.var() + 1e-7)
        padded = np.pad(window, N_FFT // 2, mode="reflect")
        frames = np.lib.stride_tricks.sliding_window_view(padded, N_FFT)[::HOP][:FRAMES]
        power = np.abs(np.fft.rfft(frames * hann)) ** 2
        log = np.log10(np.maximum(bank @ power.T, 1e-10))
        return ((np.maximum(log, log.max() - 8.0) + 4.0) / 4.0).astype(np.float32)

    return extract


def near(found: Mapping[str, Any]) -> None:
    """Raise when a peer's features are not ours."""
    for name, features in found.items():
        worst = float(np.abs(features - found[OURS]).max())
        if worst > 2e-3:
            raise AssertionError(f"{name} differs by {worst:.1e}")


def cases(full: bool) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    for seconds in (1, 3, 8):
        samples = (0.1 * rng.standard_normal(seconds * RATE)).astype(np.float32)
        peers: dict[str, Work | str] = {"numpy, the whole window at once": plain_numpy(samples)}
        for name, use_torch in PUBLISHED.items():
            needs = ("transformers", "torch") if use_torch else ("transformers",)
            peers[name] = peer(needs, published, samples, use_torch)
        peers["librosa melspectrogram"] = peer(("librosa",), librosa_mel, samples)
        yield Case(
            name="log-mel features of one window",
            size=f"{seconds} s of audio at its end",
            ours=partial(whisper_mel, samples),
            peers=peers,
            rounds=25 if full else 11,
            per=(1, "window"),
            agree=near,
        )
