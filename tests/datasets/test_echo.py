"""What a matched-contrast set shows, and what it keeps to itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.core.vocab import Role
from floorbench.datasets.echo import EchoSource
from floorbench.datasets.echo_integrity import window_end
from floorbench.datasets.open import open_dataset
from floorbench.errors import DataError
from support import echo_tiny


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return echo_tiny.build(tmp_path / "set")


def test_it_is_found_by_looking(folder: Path) -> None:
    source = open_dataset(folder)
    assert isinstance(source, EchoSource)
    again = open_dataset(source.locator())
    assert again.digest() == source.digest()
    assert [s.id for s in again.samples()] == [s.id for s in source.samples()]


def test_groups_are_clusters_and_their_types_strata(tmp_path: Path) -> None:
    source = EchoSource(echo_tiny.build(tmp_path / "set", copies=2))
    for sample in source.samples():
        assert sample.cluster == sample.id[:-2]
        kind = {"ib": "I-B", "io": "I-O", "bo": "B-O", "ibo": "three-role"}
        assert sample.stratum == f"{sample.id[:2]} x {kind[sample.id.split('-')[1]]}"


def test_a_sample_of_a_three_role_group_has_two_pairs(folder: Path) -> None:
    linked = {s.id: s.target["pairs"] for s in EchoSource(folder).samples()}
    assert [(c, side) for _, c, side in linked["zh-ibo-0-b"]] == [("I-B", "b"), ("B-O", "a")]
    assert len(linked["zh-ib-0-i"]) == 1


def test_nothing_is_audible_after_the_widest_window(folder: Path) -> None:
    for sample in EchoSource(folder).samples():
        end = sample.observation.cutoff
        assert end == window_end(sample.target["events"]["insertion_end"], echo_tiny.PLANNED, 1.0)
        for audio in sample.observation.channels.values():
            assert audio.cutoff == end
            with pytest.raises(DataError, match="FB307"):
                audio.read(end=end + 0.01)


def test_the_planned_end_bounds_the_window() -> None:
    assert window_end(2.0, 5.0, 0.0) == 2.0
    assert window_end(2.0, 5.0, 1.0) == 3.0
    assert window_end(2.0, 2.5, 1.0) == 2.5


def test_a_reacting_system_channel_is_silenced_from_the_onset_in_all_roles(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["system_channel"] = "silent_from_onset"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    lengths = set()
    for sample in EchoSource(folder).samples():
        onset = sample.target["events"]["insertion_start"]
        heard = sample.observation.channels[Role.SYSTEM].read()
        first = round(onset * echo_tiny.RATE)
        assert np.any(heard[:first])
        assert not np.any(heard[first:])
        lengths.add(heard.size - first)
    assert len(lengths) == 1  # where it ends tells nothing either


def test_the_digest_changes_with_a_text_a_time_and_a_sound(folder: Path) -> None:
    before = EchoSource(folder).digest()
    text = (folder / "samples.jsonl").read_text()
    (folder / "samples.jsonl").write_text(text.replace("it began", "it started", 1))
    assert EchoSource(folder).digest() != before
    (folder / "samples.jsonl").write_text(text)
    assert EchoSource(folder).digest() == before


def test_a_path_outside_is_refused(folder: Path) -> None:
    text = (folder / "samples.jsonl").read_text()
    (folder / "samples.jsonl").write_text(text.replace("audio/zh-ib-0-i-u.wav", "../x.wav"))
    with pytest.raises(DataError, match="FB308"):
        list(EchoSource(folder).samples())


def test_another_folder_is_not_claimed(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("[]")
    assert not EchoSource.detect(tmp_path)
    (tmp_path / "manifest.json").write_text("{broken")
    assert not EchoSource.detect(tmp_path)
    with pytest.raises(DataError):
        EchoSource(tmp_path)


@pytest.mark.parametrize(
    ("role", "rule", "seconds", "refused"),
    [
        ("user", "planned", 1.6, "the user channel has 1.600 s, the events need 1.640 s"),
        ("user", "planned", 1.64, None),
        ("system", "planned", 2.5, "the system channel has 2.500 s, the events need 2.640 s"),
        ("system", "silent_from_onset", 0.9, "the system channel has 0.900 s, the events need 1."),
        ("system", "silent_from_onset", 1.0, None),
    ],
)
def test_events_past_the_end_of_the_audio_are_the_datas_fault(
    folder: Path, role: str, rule: str, seconds: float, refused: str | None
) -> None:
    first = echo_tiny.rows()[0]
    file = folder / first["audio"][role]["path"]
    sound, rate = soundfile.read(file, dtype="float32")
    soundfile.write(file, sound[: round(seconds * rate)], rate, "PCM_16")
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace('"planned"', f'"{rule}"'), "utf-8")
    source = EchoSource(folder)
    if refused is None:
        assert [s.id for s in source.samples()] == [r["sample_id"] for r in echo_tiny.rows()]
        return
    with pytest.raises(DataError, match=r"FB263.*") as raised:
        next(source.samples())
    assert refused in str(raised.value)
    assert first["sample_id"] in str(raised.value)
