"""The committed starter set is whole: every file decodes and every number in it agrees."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import soundfile

import floorbench
from floorbench.datasets.starter_digest import starter_digest

ROOT = Path(floorbench.__file__).parent / "datasets" / "starter" / "codett"
MANIFEST = json.loads((ROOT / "manifest.json").read_text("utf-8"))
CLIPS = MANIFEST["clips"]
LINES = [
    (path, json.loads(line))
    for path in sorted(ROOT.glob("jsonls/**/*.jsonl"))
    for line in path.read_text("utf-8").splitlines()
]
USER = re.compile(r"系统当前状态: <\|(SystemIdle|SystemSpeaking)\|> 输入内容：(.*)", re.DOTALL)


def test_every_file_decodes_and_lies_within_bounds():
    for clip in CLIPS.values():
        info = soundfile.info(ROOT / clip["audio"])
        assert (info.samplerate, info.channels, info.subtype) == (16_000, 1, "OPUS")
        assert info.frames == round(clip["duration_s"] * 16_000)
        assert 0.31 <= clip["duration_s"] <= 12.0, clip
        assert clip["guard_gain_db"] <= 0.0


def test_levels_are_near_what_was_asked():
    for name, clip in CLIPS.items():
        audio, _ = soundfile.read(ROOT / clip["audio"])
        assert 0.001 < np.max(np.abs(audio)) < 1.0, name
        if clip.get("babble_db") is None:
            expected = clip["level_db"] + clip["guard_gain_db"]
            assert abs(clip["level_achieved_db"] - expected) < 0.5, name
        else:
            assert abs(clip["snr_achieved_db"] - clip["snr_requested_db"]) < 0.01, name


def test_spoken_targets_end_in_the_recorded_silence():
    tail = round(MANIFEST["silence"]["tail_s"] * 16_000)
    assert tail == 3200
    for name, clip in CLIPS.items():
        if clip.get("room") is None:
            audio, _ = soundfile.read(ROOT / clip["audio"])
            assert np.max(np.abs(audio[-tail + 800 :])) < 0.01, name


def test_the_set_is_small_and_has_no_strangers():
    files = {p.relative_to(ROOT).as_posix() for p in ROOT.glob("audios/**/*") if p.is_file()}
    assert files == {clip["audio"] for clip in CLIPS.values()}
    size = sum((ROOT / name).stat().st_size for name in files)
    assert size <= 16 * 2**20
    assert size == MANIFEST["totals"]["audio_bytes"]


def test_counts_agree_in_folders_lines_and_manifest():
    counts = Counter()
    for path, line in LINES:
        language, _, state, action = path.relative_to(ROOT / "jsonls").parts[:4]
        gold = line["messages"][-1]["content"]
        assert gold == f"<|{action}|><|{path.stem}|>"
        assert line["language"] == language.lower()
        found = USER.fullmatch(line["messages"][-2]["content"])
        assert found
        assert found[1] == state
        assert (found[2] == "") == (path.stem == "Invalidation")
        counts[f"{line['language']}/{state}/{action}/{path.stem}"] += 1
    assert counts == MANIFEST["totals"]["per_label"]
    assert len(counts) == 28
    assert min(counts.values()) >= 6
    assert counts["en/SystemIdle/Takeover/Completion"] >= 20
    assert counts["en/SystemIdle/Dismiss/Incomplete"] >= 20
    assert len({line["id"] for _, line in LINES}) == len(LINES) == MANIFEST["totals"]["items"]


def test_each_line_has_five_rounds_with_audio_of_its_dialogue():
    by_audio = {clip["audio"]: clip for clip in CLIPS.values()}
    for _, line in LINES:
        users = [m for m in line["messages"] if m["role"] == "user"]
        assert len(users) == 6
        clips = [by_audio[m["audio"]] for m in users]
        assert {c["dialogue"] for c in clips} == {line["dialogue"]}
        for message, clip in zip(users, clips, strict=True):
            found = USER.fullmatch(message["content"])
            assert found
            assert found[2] == clip["text"]
        assert len({c["voice"] for c in clips if c["role"] == "user"}) == 1


def test_names_of_audio_files_carry_no_label():
    for clip in CLIPS.values():
        assert re.fullmatch(r"audios/(EN|ZH)/syn/[0-9a-f]{12}\.opus", clip["audio"])


def test_every_recording_is_named_with_author_and_source():
    text = (ROOT / "LICENSES.md").read_text("utf-8")
    used = {clip["noise"] for clip in CLIPS.values() if clip.get("noise")}
    assert len(used) >= 12
    for name in used:
        assert re.search(
            rf"^\| `{name}\.flac` \| \S.* \| <http\S+> \| [0-9a-f]{{64}} \|$", text, re.M
        )
    listed = set(re.findall(r"^\| `(\w+)\.flac`", text, re.M))
    assert listed == used
    assert "Kokoro-82M" in text
    assert "Apache-2.0" in text


@pytest.mark.parametrize("key", ["version", "notice", "licence", "parameters", "voice_model"])
def test_the_manifest_says_what_the_set_is(key):
    assert MANIFEST[key]


def test_the_digest_is_the_recorded_one():
    assert starter_digest(ROOT) == MANIFEST["digest"]
