"""NIST SPHERE: telephone corpora come in it, compressed or not."""

from pathlib import Path

import numpy as np
import pytest

from floorbench.audio.decode import decode, probe
from floorbench.audio.ref import FileAudio
from floorbench.audio.sphere import Sphere, sphere_header
from floorbench.errors import DataError

FRAMES = 400


def ulaw(samples: np.ndarray) -> bytes:
    """Encode 16-bit samples by the rule of G.711, one at a time."""
    out = bytearray()
    for sample in samples.ravel().tolist():
        sign, size = (0x80, -sample) if sample < 0 else (0, sample)
        size = min(size, 32635) + 132
        power = size.bit_length() - 8
        out.append(~(sign | power << 4 | (size >> power + 3) & 0x0F) & 0xFF)
    return bytes(out)


def samples() -> np.ndarray:
    return np.random.default_rng(0).integers(-30_000, 30_000, (FRAMES, 2)).astype("<i2")


def sphere(path: Path, body: bytes, *, size: int = 1024, **fields: object) -> Path:
    """Write a header as the corpora have it, then the samples."""
    lines = ["NIST_1A", f"{size:7d}", "conversation_id -s4 2001"]
    for name, value in fields.items():
        kind = "i" if isinstance(value, int) else f"s{len(str(value))}"
        lines.append(f"{name} -{kind} {value}")
    head = "\n".join([*lines, "end_head\n"]).encode().ljust(size)
    path.write_bytes(head + body)
    return path


PCM = {"channel_count": 2, "sample_count": FRAMES, "sample_rate": 8000, "sample_n_bytes": 2}
CODED = {**PCM, "sample_n_bytes": 1, "sample_coding": "ulaw"}
KINDS = {
    "little": (samples().tobytes(), {**PCM, "sample_byte_format": "01", "sample_coding": "pcm"}),
    "big": (samples().astype(">i2").tobytes(), {**PCM, "sample_byte_format": "10"}),
    "ulaw": (ulaw(samples()), {**CODED, "channels_interleaved": "TRUE"}),
    "long header": (ulaw(samples()), {**CODED, "size": 2048}),
    "named .wav": (samples().tobytes(), {**PCM, "sample_byte_format": "01"}),
    "more at the end": (ulaw(samples()) + b"zzzz", CODED),
}


@pytest.mark.parametrize(("body", "fields"), KINDS.values(), ids=KINDS)
def test_uncompressed_samples_are_read(tmp_path: Path, body: bytes, fields: dict) -> None:
    path = sphere(tmp_path / "call.wav", body, **fields)
    assert (probe(path).frames, probe(path).rate, probe(path).channels) == (FRAMES, 8000, 2)
    wanted = samples() / 32768
    for channel in (0, 1):
        found = decode(path, start=100, stop=FRAMES, channel=channel)
        # G.711 keeps five significant bits.
        near = wanted[100:, channel]
        assert np.abs(found - near).max() <= (0.032 if fields.get("sample_coding") == "ulaw" else 0)
    assert FileAudio(path, channel=1).frames == FRAMES


@pytest.mark.parametrize("coding", ["ulaw,embedded-shorten-v2.00", "pcm,embedded-wavpack-v1.0"])
def test_compressed_samples_are_refused_with_the_way_out(tmp_path: Path, coding: str) -> None:
    path = sphere(tmp_path / "sw02001.sph", b"ajkg", **{**CODED, "sample_coding": coding})
    with pytest.raises(
        DataError, match=rf"FB302 .*compressed as '{coding}'(?s:.)*sph2pipe -f wav -p sw02001.sph"
    ):
        probe(path)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"sample_count": FRAMES + 1}, "FB304"),
        ({"sample_count": "many"}, "FB304"),
        ({"channel_count": 0}, "FB302"),
        ({"channel_count": "two"}, "FB302"),
        ({"sample_rate": "fast"}, "FB302"),
        ({"sample_coding": "mpeg"}, "FB302"),
        ({"channels_interleaved": "FALSE"}, "FB302"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(tmp_path: Path, change: dict, code: str) -> None:
    path = sphere(tmp_path / "call.sph", ulaw(samples()), **{**CODED, **change})
    with pytest.raises(DataError, match=code):
        probe(path)


@pytest.mark.parametrize("head", [b"NIST_1A", b"NIST_1A\n   1024\n", b"NIST_1A\nx\nend_head\n"])
def test_a_broken_header_is_refused(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "call.sph").write_bytes(head)
    with pytest.raises(DataError, match="FB302"):
        probe(tmp_path / "call.sph")


def test_other_files_have_no_such_header(tmp_path: Path) -> None:
    (tmp_path / "call.wav").write_bytes(b"RIFF")
    assert sphere_header(tmp_path / "call.wav") is None
    whole = sphere(tmp_path / "call.sph", ulaw(samples()), **CODED)
    assert sphere_header(whole) == Sphere(promised=FRAMES, held=FRAMES)


def test_a_count_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sph"
    head = "NIST_1A\n   1024\nchannel_count -i 1\nsample_n_bytes -i 2\nsample_count -i "
    path.write_bytes(f"{head}{'9' * 5000}\nend_head\n".encode())
    with pytest.raises(DataError, match="FB304"):
        sphere_header(path)
