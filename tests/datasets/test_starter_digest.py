import json

import numpy as np
import pytest
import soundfile

from floorbench.datasets.starter_digest import pcm_sha256, starter_digest

RNG = np.random.default_rng(4)
SOUND = (8000 * RNG.uniform(-1, 1, 16_000)).astype(np.int16)


def save(path, samples):
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, 16_000, format="OGG", subtype="OPUS")


@pytest.fixture
def folder(tmp_path):
    for name, value in (
        ("manifest.json", {"parameters": {"seed": 1}, "totals": {"items": 1}}),
        ("texts/en.json", {"dialogues": ["hello"]}),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value))
    line = tmp_path / "jsonls/EN/syn/SystemIdle/Takeover/Completion.jsonl"
    line.parent.mkdir(parents=True)
    line.write_text('{"id": "a"}\n')
    save(tmp_path / "audios/EN/syn/1.opus", SOUND)
    return tmp_path


def test_container_bytes_do_not_matter(folder):
    before = starter_digest(folder)
    path = folder / "audios/EN/syn/1.opus"
    old = path.read_bytes()
    # bytes 14 to 17 of an Ogg page hold the stream number, 22 to 25 its checksum
    page_ends = [i for i in range(len(old)) if old[i : i + 4] == b"OggS"]
    new = bytearray(old)
    for start in page_ends:
        new[start + 14 : start + 18] = b"\x07\x07\x07\x07"
    for start, end in zip(page_ends, [*page_ends[1:], len(new)], strict=True):
        new[start + 22 : start + 26] = bytes(4)
        new[start + 22 : start + 26] = _ogg_crc(bytes(new[start:end])).to_bytes(4, "little")
    path.write_bytes(bytes(new))
    assert path.read_bytes() != old
    assert starter_digest(folder) == before


def _ogg_crc(page: bytes) -> int:
    crc = 0
    for byte in page:
        crc ^= byte << 24
        for _ in range(8):
            crc = ((crc << 1) ^ 0x04C11DB7) if crc & 0x80000000 else crc << 1
            crc &= 0xFFFFFFFF
    return crc


def _text(folder):
    (folder / "texts/en.json").write_text('{"dialogues": ["hullo"]}')


def _line(folder):
    path = next(folder.glob("jsonls/**/*.jsonl"))
    path.write_text('{"id": "b"}\n')


def _parameter(folder):
    (folder / "manifest.json").write_text('{"parameters": {"seed": 2}}')


def _sound(folder):
    save(folder / "audios/EN/syn/1.opus", SOUND[::-1])


def _extra(folder):
    save(folder / "audios/EN/syn/2.opus", SOUND)


def _name(folder):
    (folder / "audios/EN/syn/1.opus").rename(folder / "audios/EN/syn/3.opus")


@pytest.mark.parametrize("change", [_text, _line, _parameter, _sound, _extra, _name])
def test_what_is_written_or_heard_matters(folder, change):
    before = starter_digest(folder)
    change(folder)
    assert starter_digest(folder) != before


def test_totals_and_line_ends_do_not_matter(folder):
    before = starter_digest(folder)
    (folder / "manifest.json").write_text('{"parameters": {"seed": 1}, "totals": {}}')
    path = next(folder.glob("jsonls/**/*.jsonl"))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert starter_digest(folder) == before


def test_pcm_digest_is_of_little_endian_16_bit_samples(tmp_path):
    import hashlib

    path = tmp_path / "a.wav"
    soundfile.write(path, SOUND, 16_000)
    assert pcm_sha256(path) == hashlib.sha256(SOUND.astype("<i2").tobytes()).hexdigest()
