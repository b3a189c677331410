"""A dataset's files are compared with its list; its sounds are decoded, each once."""

from __future__ import annotations

import hashlib
from pathlib import Path

from floorbench.core.sample import AudioRef, Observation, Sample, Turn
from floorbench.core.vocab import Role
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.file_check import audio_of, changed_files, unreadable_audio
from support import codett_tiny


def listed(folder: Path, *names: str) -> list[str]:
    return [f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}" for n in names]


def test_a_folder_without_a_list_has_nothing_to_compare(tmp_path: Path) -> None:
    assert changed_files(tmp_path) == []


def test_each_line_that_does_not_fit_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    (folder / "sub").mkdir(parents=True)
    for name in ("same", "sub/changed", "lost"):
        (folder / name).write_text(name)
    (tmp_path / "outside").write_text("secret")
    rows = listed(folder, "same", "sub/changed", "lost")
    rows += [f"{'a' * 64}  ../outside", "no list at all", f"{'A' * 64}  same", ""]
    (folder / "checksums.txt").write_text("\n".join(rows), encoding="utf-8")
    (folder / "sub/changed").write_text("Changed")
    (folder / "lost").unlink()
    found = [(f.code, f.where.line, f.what) for f in changed_files(folder) if f.where]
    assert found == [
        ("FB277", 2, "'sub/changed' has other bytes"),
        ("FB277", 3, "'lost' is missing"),
        ("FB277", 4, "'../outside' leads out of the folder"),
        ("FB277", 5, "no checksum and path in this line"),
        ("FB277", 6, "no checksum and path in this line"),
    ]


def test_a_sound_is_read_once_and_a_broken_one_is_named(tmp_path: Path) -> None:
    folder = codett_tiny.build(tmp_path, history=1)
    source = CodettSource(folder)
    told: list[int] = []
    samples, sounds, faults = unreadable_audio(source, told.append)
    assert (samples, faults) == (len(list(source.samples())), [])
    assert told == list(range(1, samples + 1))
    refs = [ref for sample in source.samples() for ref in audio_of(sample)]
    assert 0 < sounds <= len(refs)
    broken = next(iter(sorted(folder.rglob("*.wav"))))
    broken.write_bytes(b"RIFF")
    again = unreadable_audio(CodettSource(folder))
    assert again[:2] == (samples, sounds)
    assert len(again[2]) == 1
    assert broken.name in str(again[2][0])


def test_the_sounds_of_a_sample_are_those_of_turns_and_channels(tmp_path: Path) -> None:
    folder = codett_tiny.build(tmp_path, history=0)
    ref: AudioRef = next(r for s in CodettSource(folder).samples() for r in audio_of(s))
    observation = Observation(
        language="en",
        turns=(Turn(role=Role.USER, text="only words"), Turn(role=Role.USER, audio=ref)),
        channels={Role.SYSTEM: ref},
    )
    sample = Sample(id="a", cluster="a", observation=observation, target={})
    assert list(audio_of(sample)) == [ref, ref]
