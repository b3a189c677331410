import json

import numpy as np
import pytest
import soundfile

from floorbench.build.sound.pools import Pool, samples_of
from floorbench.errors import DataError, UsageError

RATE = 16_000


def write(path, samples, rate=RATE):
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate)


def tone(seconds=0.2, rate=RATE):
    return 0.3 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)


def credits(folder, **entries):
    (folder / "credits.json").write_text(json.dumps(entries), "utf-8")


def test_only_described_and_allowed_recordings_are_used(tmp_path):
    for name in ("a.wav", "b.flac", "c.wav", "knock/d.wav"):
        write(tmp_path / name, tone())
    (tmp_path / "notes.txt").write_text("no sound")
    credits(
        tmp_path,
        **{
            "a.wav": {"licence": "CC0", "kind": "bell", "author": "Ann", "source": "her desk"},
            "b.flac": {"licence": "CC-BY-4.0", "kind": "horn"},
            "c.wav": {"licence": "CC0"},
        },
    )
    assert [r.credit()["kind"] for r in Pool(tmp_path).recordings] == ["bell"]
    more = Pool(tmp_path, licences=("cc0", "cc-by-4.0", "unknown"))
    assert [(r.name, r.kind, r.licence) for r in more.recordings] == [
        ("a.wav", "bell", "CC0"),
        ("b.flac", "horn", "CC-BY-4.0"),
        ("knock/d.wav", "knock", "unknown"),
    ]


def test_a_pool_counts_by_content_and_not_by_place(tmp_path):
    for folder in ("x", "y"):
        write(tmp_path / folder / "tap" / "1.wav", tone())
    first, second = (Pool(tmp_path / f, licences=("unknown",)) for f in ("x", "y"))
    assert first.digest() == second.digest()
    write(tmp_path / "y" / "tap" / "1.wav", 0.5 * tone())
    assert Pool(tmp_path / "y", licences=("unknown",)).digest() != first.digest()


def test_draws_are_different_recordings_and_repeatable(tmp_path):
    for i in range(6):
        write(tmp_path / "tap" / f"{i}.wav", tone())
    pool = Pool(tmp_path, licences=("unknown",))
    drawn = pool.draw(np.random.default_rng(4), 5)
    assert len({r.name for r in drawn}) == 5
    assert drawn == pool.draw(np.random.default_rng(4), 5)
    assert len(pool.draw(np.random.default_rng(4), 99)) == 6


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    write(tmp_path / "out.wav", tone())
    write(tmp_path / "pool" / "tap" / "in.wav", tone())
    (tmp_path / "pool" / "tap" / "link.wav").symlink_to(tmp_path / "out.wav")
    pool = Pool(tmp_path / "pool", licences=("unknown",))
    assert [r.name for r in pool.recordings] == ["tap/in.wav"]


@pytest.mark.parametrize("made", [False, True])
def test_no_folder_or_nothing_usable_is_one_error(tmp_path, made):
    folder = tmp_path / "pool"
    if made:
        write(folder / "a.wav", tone())
    with pytest.raises(UsageError, match="FB881"):
        Pool(folder)


@pytest.mark.parametrize("content", ["{", "[]", '{"a.wav": 3}', '{"a.wav": {}, "a.wav": {}}'])
def test_broken_credits_name_the_file(tmp_path, content):
    (tmp_path / "credits.json").write_text(content)
    with pytest.raises(DataError, match="FB882") as caught:
        Pool(tmp_path)
    assert "credits.json" in str(caught.value)


def test_a_recording_is_mono_at_the_rate_asked_for(tmp_path):
    write(
        tmp_path / "tap" / "s.wav",
        np.column_stack([tone(rate=48_000), 0 * tone(rate=48_000)]),
        48_000,
    )
    recording = Pool(tmp_path, licences=("unknown",)).recordings[0]
    audio = samples_of(recording, RATE)
    assert len(audio) == round(0.2 * RATE)
    assert np.max(np.abs(audio)) == pytest.approx(0.15, abs=0.01)


@pytest.mark.parametrize("fault", ["text", "empty", "silent"])
def test_an_unusable_recording_is_one_error(tmp_path, fault):
    path = tmp_path / "tap" / "x.wav"
    write(path, {"text": tone(), "empty": np.zeros(0), "silent": np.zeros(100)}[fault])
    if fault == "text":
        path.write_text("not a sound")
    with pytest.raises(DataError, match="FB883"):
        samples_of(Pool(tmp_path, licences=("unknown",)).recordings[0], RATE)
