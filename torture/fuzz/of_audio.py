"""Recordings in every container, and what stands beside them."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import numpy as np

from floorbench.audio.decode import decode, probe
from floorbench.audio.sphere import sphere_header
from floorbench.build.sound.pools import _credits, samples_of
from floorbench.build.speech.remote import read_wav
from torture.fuzz.files import file
from torture.fuzz.of_answers import seeds
from torture.fuzz.target import Target, law

RATE = 8000


@cache
def wav(container: str = "WAV", subtype: str = "PCM_16", channels: int = 1) -> bytes:
    import soundfile

    tone = 0.3 * np.sin(2 * np.pi * 200 * np.arange(1600) / RATE)
    buffer = io.BytesIO()
    frames = np.stack([tone] * channels, axis=1)
    rate = 16_000 if subtype == "OPUS" else RATE
    soundfile.write(buffer, frames, rate, format=container, subtype=subtype)
    return buffer.getvalue()


@cache
def _sphere() -> bytes:
    body = (3000 * np.sin(2 * np.pi * 200 * np.arange(1600) / RATE)).astype("<i2").tobytes()
    head = (
        "NIST_1A\n   1024\nchannel_count -i 1\nsample_count -i 1600\nsample_rate -i 8000\n"
        "sample_n_bytes -i 2\nsample_byte_format -s2 01\nsample_sig_bits -i 16\n"
        "sample_coding -s3 pcm\nend_head\n"
    )
    return head.encode().ljust(1024) + body


def _audio(path: Path) -> None:
    info = probe(path)
    law(info.rate > 0 and info.frames > 0 and info.channels > 0, f"{info}")
    stop = min(info.frames, 400_000)
    samples = decode(path, start=0, stop=stop, channel=0)
    law(samples.shape == (stop,), f"{samples.shape} for {stop} frames")
    law(np.isfinite(samples).all(), "a sample that is not finite")
    if stop > 10:
        half = decode(path, start=stop // 2, stop=stop, channel=0)
        law(
            np.array_equal(half, samples[stop // 2 :]),
            "reading from the middle gives other samples",
        )


def _sphere_head(path: Path) -> None:
    found = sphere_header(path)
    law(found is None or (found.promised >= 0 and found.held >= 0), f"{found}")


def _remote(data: bytes, folder: Path) -> None:
    samples, rate = read_wav(data)
    law(rate > 0, f"a rate of {rate} Hz")
    law(samples.ndim == 1 and np.isfinite(samples).all(), "not one finite channel")


def _pool(path: Path) -> None:
    import dataclasses

    from floorbench.build.sound.pools import Recording

    given = {f.name: "x" for f in dataclasses.fields(Recording)} | {"path": path}
    samples = samples_of(Recording(**given), RATE)
    law(np.isfinite(samples).all() and len(samples), "nothing or not finite")


def _credit(path: Path) -> None:
    law(isinstance(_credits(path), dict), "no table")


AUDIO_TOKENS = (b"RIFF", b"RF64", b"WAVE", b"ds64", b"data", b"fmt ", b"LIST", b"OggS", b"fLaC",
                b"NIST_1A", b"end_head", b"sample_count -i ", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff",
                b"OpusHead", b"ID3")  # fmt: skip


TARGETS = [
    *(
        Target(
            name=f"audio-{name}",
            seeds=lambda data=data: [d() for d in data],
            read=file(f"a{suffix}", _audio),
            covers=("floorbench.audio.decode:probe", "floorbench.audio.decode:decode",
                    "floorbench.audio.containers:check_complete"),
            tokens=AUDIO_TOKENS,
            native=True,
            share=0.5,
        )
        for name, suffix, data in (
            ("wav", ".wav", (wav, lambda: wav("WAV", "FLOAT"),
                             lambda: wav("RF64", "PCM_24", 2), lambda: wav("WAV", "ULAW"))),
            ("flac", ".flac", (lambda: wav("FLAC"), lambda: wav("FLAC", "PCM_24", 2))),
            ("ogg", ".ogg", (lambda: wav("OGG", "VORBIS"),)),
            ("opus", ".opus", (lambda: wav("OGG", "OPUS"),)),
            ("mp3", ".mp3", (lambda: wav("MP3", "MPEG_LAYER_III"),)),
            ("sphere", ".sph", (_sphere,)),
        )
    ),
    Target(
        name="audio-sphere-header",
        seeds=lambda: [_sphere()[:1100]],
        read=file("a.sph", _sphere_head),
        covers=("floorbench.audio.sphere:sphere_header",),
        tokens=(b"sample_count -i ", b"channel_count -i ", b"sample_n_bytes -i ", b"end_head\n",
                b"sample_coding -s4 ulaw\n", b"pcm,embedded-shorten-v2.00", b"NIST_1A\n"),
    ),
    Target(
        name="audio-remote-wav",
        seeds=lambda: [wav(), wav("WAV", "PCM_16", 2)],
        read=_remote,
        covers=("floorbench.build.speech.remote:read_wav", "floorbench.build.speech.remote:_pcm"),
        tokens=AUDIO_TOKENS,
    ),
    Target(
        name="audio-pool",
        seeds=lambda: [wav()],
        read=file("a.wav", _pool),
        covers=("floorbench.build.sound.pools:samples_of",),
        tokens=AUDIO_TOKENS,
        native=True,
        share=0.3,
    ),
    Target(
        name="audio-credits",
        seeds=seeds({"a.wav": {"author": "x", "licence": "CC0-1.0"}}),
        read=file("credits.json", _credit),
        covers=("floorbench.build.sound.pools:_credits",),
    ),
]  # fmt: skip
