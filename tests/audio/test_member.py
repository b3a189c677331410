import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.audio import member as members
from floorbench.audio.decode import probe
from floorbench.audio.member import Member
from floorbench.audio.ref import FileAudio, file_of
from floorbench.errors import DataError

RATE = 16_000
KINDS = {
    "wav": ("WAV", "PCM_16"),
    "flac": ("FLAC", "PCM_16"),
    "ogg": ("OGG", "VORBIS"),
    "opus": ("OGG", "OPUS"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
    "sph": ("NIST", "PCM_16"),
}


def inside(tmp_path: Path, file: Path, *, before: int = 777) -> Member:
    """Put a file into a larger one."""
    data = file.read_bytes()
    box = tmp_path / "box.tar"
    box.write_bytes(b"x" * before + data + b"y" * 99)
    return Member(str(box), before, len(data), hashlib.sha256(data).hexdigest(), file.name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_sounds_like_the_file(tmp_path: Path, kind: str) -> None:
    container, subtype = KINDS[kind]
    sound = 0.3 * np.random.default_rng(1).standard_normal((RATE, 2)).clip(-1, 1)
    file = tmp_path / f"a.{kind}"
    soundfile.write(file, sound, RATE, format=container, subtype=subtype)
    member = inside(tmp_path, file)
    assert probe(member) == probe(file)
    for channel in (0, 1, "mix"):
        plain = FileAudio(file, channel=channel, cutoff=0.7)  # type: ignore[arg-type]
        packed = FileAudio(member, channel=channel, cutoff=0.7)  # type: ignore[arg-type]
        assert packed.digest() == plain.digest()
        assert np.array_equal(packed.read(start=0.2, end=0.4), plain.read(start=0.2, end=0.4))
        assert packed.frames == plain.frames


def test_faults_are_those_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a.wav"
    soundfile.write(file, np.zeros(RATE), RATE)
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"FB304 .*promises 32000 bytes of audio, 31900 are there"):
        probe(inside(tmp_path, file))
    (tmp_path / "b.wav").write_bytes(b"no sound at all")
    with pytest.raises(DataError, match=r"FB302 .*box.tar\[b.wav\]"):
        probe(inside(tmp_path, tmp_path / "b.wav"))


def test_a_reference_crosses_to_another_process_and_shows_nothing(tmp_path: Path) -> None:
    file = tmp_path / "complete_1.wav"
    soundfile.write(file, np.zeros(RATE), RATE)
    audio = FileAudio(inside(tmp_path, file), cutoff=0.5)
    back = FileAudio.from_wire(json.loads(json.dumps(audio.to_wire())))
    assert file_of(back) == file_of(audio)
    assert back.digest() == audio.digest()
    assert repr(audio) == "<FileAudio cutoff=0.5 s>"
    with pytest.raises(DataError, match="FB309"):
        FileAudio.from_wire({"member": {"address": "x"}, "channel": None, "cutoff": None})


def test_changed_bytes_are_found_before_they_are_heard(tmp_path: Path) -> None:
    file = tmp_path / "a.wav"
    soundfile.write(file, np.zeros(RATE), RATE)
    member = inside(tmp_path, file)
    box = bytearray((tmp_path / "box.tar").read_bytes())
    box[5000] ^= 1
    (tmp_path / "box.tar").write_bytes(box)
    with pytest.raises(DataError, match=r"FB284 .*box.tar \[a.wav\]: the bytes are not"):
        FileAudio(member).read()


def test_few_members_stay_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "KEPT", 1000)
    kept = members._Held()
    some = [Member("a", n, 400, "", "x") for n in range(4)]
    for member in some:
        kept.put(member, b"0" * 400)
    assert [kept.get(m) is not None for m in some] == [False, False, True, True]
    kept.put(Member("a", 9, 5000, "", "x"), b"0" * 5000)
    assert [kept.get(m) is not None for m in some] == [False] * 4
