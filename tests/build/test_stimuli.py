import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench import formats
from floorbench.build.stimuli import cut, faded, marked, ms98
from floorbench.build.stimuli_turns import TurnRules
from floorbench.datasets.manifest import read_manifest
from floorbench.datasets.trp import TrpSource
from floorbench.errors import DataError, UsageError
from floorbench.formats import Document, Entry, Tier

RATE = 8000
RULES = TurnRules(pause=0.2, max_pause=2.0, backchannel=0.5, shortest=1.0, longest=60.0)
WORDS = (("so", 1.0, 1.4), ("yes.", 1.5, 2.0), ("then", 2.5, 3.0), ("home", 3.0, 3.5))


def tier(name: str, *entries: tuple[str, float, float]) -> Tier:
    return Tier(
        name=name,
        entries=tuple(
            Entry(start=Decimal(str(a)), end=Decimal(str(b)), text=text) for text, a, b in entries
        ),
    )


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    """Two channels, the speaker on the second: amplitude says the second it is."""
    path = tmp_path / "talk.TextGrid"
    document = Document(
        tiers=(
            tier("words", *WORDS),
            tier("turns", ("x", 1.0, 3.5)),
            tier("other", ("mhm", 2.1, 2.4)),
        ),
        duration=Decimal(5),
    )
    assert not formats.write(document, path)
    speech = np.repeat(np.arange(5) / 10, RATE)
    soundfile.write(tmp_path / "talk.wav", np.stack([speech * 0, speech], axis=1), RATE)
    return path


def make(annotated: Path, out: Path, *, turns: str | None = "turns", **options: object) -> object:
    recording = marked(
        annotated, words="words", turns=turns, other=None if turns else "other", rules=RULES,
        audio=annotated.parent, channel=1,
    )  # fmt: skip
    return cut([recording], out, rules=RULES, lead=0.5, language="en", licence="mine", **options)


@pytest.mark.parametrize("turns", ["turns", None])
def test_a_turn_is_cut_with_its_words_and_sound(
    annotated: Path, tmp_path: Path, turns: str | None
) -> None:
    make(annotated, tmp_path / "set", turns=turns)
    source = TrpSource(tmp_path / "set")
    (stimulus,) = source.stimuli
    assert source.panels is None
    assert (stimulus.id, stimulus.offset, stimulus.turn_end) == ("talk-words-0001000", 0.5, 3.0)
    assert [(w.text, w.start, w.end, w.mark) for w in stimulus.words] == [
        ("so", 0.5, 0.9, None),
        ("yes", 1.0, 1.5, "."),
        ("then", 2.0, 2.5, None),
        ("home", 2.5, 3.0, None),
    ]
    sound, rate = soundfile.read(tmp_path / "set" / "audio" / f"{stimulus.id}.wav")
    assert (rate, len(sound)) == (RATE, 3 * RATE)
    assert sound[RATE] == pytest.approx(0.1, abs=1e-4)  # 1.5 s in the recording
    manifest = read_manifest(tmp_path / "set")
    assert manifest is not None
    assert (manifest.licence, manifest.ranks) == ("mine", False)
    assert list(manifest.pcm) == [f"audio/{stimulus.id}.wav"]
    made = json.loads((tmp_path / "set" / "manifest.json").read_text())["made_by"]
    assert made["possible_completions"] == {stimulus.id: 2}
    assert set(made["sources"]) == {"talk.TextGrid", "talk.wav"}


def test_a_set_is_never_overwritten(annotated: Path, tmp_path: Path) -> None:
    make(annotated, tmp_path / "set")
    with pytest.raises(UsageError, match="FB276"):
        make(annotated, tmp_path / "set")


def test_no_way_or_two_ways_to_turns(annotated: Path) -> None:
    for turns, other in ((None, None), ("turns", "other")):
        with pytest.raises(UsageError, match="FB271"):
            marked(annotated, words="words", turns=turns, other=other, rules=RULES,
                   audio=None, channel=None)  # fmt: skip


def test_a_recording_that_ends_before_its_turn(annotated: Path, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "talk.wav", np.zeros((2 * RATE, 2)), RATE)
    with pytest.raises(DataError, match=r"FB274.*the recording at 2\.000 s"):
        make(annotated, tmp_path / "set")


def test_nothing_left_says_why(annotated: Path, tmp_path: Path) -> None:
    rules = TurnRules(pause=0.2, max_pause=2.0, backchannel=0.5, shortest=30.0, longest=60.0)
    recording = marked(
        annotated, words="words", turns="turns", other=None, rules=rules, audio=None, channel=None
    )
    with pytest.raises(UsageError, match="too short: 1"):
        cut([recording], tmp_path / "set", rules=rules, lead=0, language="en", licence="-")
    assert not (tmp_path / "set").exists()


def word_file(folder: Path, call: str, side: str, rows: list[tuple[float, float, str]]) -> None:
    text = "".join(f"{call}{side}-ms98-a-0001 {a} {b} {w}\n" for a, b, w in rows)
    (folder / f"{call}{side}-ms98-a-word.text").write_text(text)


def test_turns_of_an_ms98_folder_with_and_without_sound(tmp_path: Path) -> None:
    for call in ("sw2001", "sw2002"):
        a = [
            (0.0, 1.0, "yes"),
            (1.0, 1.5, "[silence]"),
            (1.5, 3.0, "h[ow]-"),
            (3.0, 9.0, "[noise]"),
        ]
        b = [
            (0.0, 4.0, "[silence]"),
            (4.0, 5.0, "right"),
            (5.0, 5.5, "[silence]"),
            (5.5, 9.0, "okay_1"),
        ]
        word_file(tmp_path, call, "A", a)
        word_file(tmp_path, call, "B", b)
    word_file(tmp_path, "sw2003", "A", [(0.0, 1.0, "alone")])
    soundfile.write(tmp_path / "sw02001.wav", np.full((9 * RATE, 2), [0.1, 0.3]), RATE)
    out = tmp_path / "set"
    report = cut(
        list(ms98(tmp_path, rules=RULES, audio=tmp_path)), out, rules=RULES, lead=0.0,
        language="en", licence="-",
    )  # fmt: skip
    assert (report.taken, report.with_audio) == (4, 2)
    stimuli = {s.id: s for s in TrpSource(out).stimuli}
    assert [w.text for w in stimuli["sw2001-A-0000000"].words] == ["yes", "h-"]
    assert [w.text for w in stimuli["sw2002-B-0004000"].words] == ["right", "okay"]
    sound, _ = soundfile.read(out / "audio" / "sw2001-B-0004000.wav")
    assert sound[RATE] == pytest.approx(0.3, abs=1e-4)


def test_a_folder_without_calls(tmp_path: Path) -> None:
    word_file(tmp_path, "sw2003", "A", [(0.0, 1.0, "alone")])
    with pytest.raises(DataError, match="FB211"):
        list(ms98(tmp_path, rules=RULES))


def test_a_draw_depends_on_its_seed_only(annotated: Path, tmp_path: Path) -> None:
    entries = tuple(
        e
        for i in range(8)
        for e in (("yes", 10.0 * i, 10 * i + 1), ("no", 10 * i + 1.5, 10 * i + 2))
    )
    path = tmp_path / "many.TextGrid"
    marks = tuple(("x", 10.0 * i, 10.0 * i + 2) for i in range(8))
    formats.write(Document(tiers=(tier("words", *entries), tier("turns", *marks))), path)
    drawn = []
    for i, seed in enumerate((1, 1, 2)):
        recording = marked(path, words="words", turns="turns", other=None, rules=RULES,
                           audio=None, channel=None)  # fmt: skip
        cut([recording], tmp_path / f"set{i}", rules=RULES, lead=0, language="en", licence="-",
            sample=3, seed=seed)  # fmt: skip
        drawn.append([s.id for s in TrpSource(tmp_path / f"set{i}").stimuli])
    assert drawn[0] == drawn[1] != drawn[2]
    assert [len(d) for d in drawn] == [3, 3, 3]


def test_real_turns_come_near_the_papers_table(real_data: Path, tmp_path: Path) -> None:
    rules = TurnRules(pause=0.2, max_pause=2, backchannel=1, shortest=15, longest=60)
    found = list(ms98(real_data / "swb_ms98", rules=rules))
    assert len(found) == 82
    report = cut(found, tmp_path / "set", rules=rules, lead=0.1, language="en", licence="-")
    stimuli = TrpSource(tmp_path / "set").stimuli
    assert report.taken == len(stimuli) > 300
    assert 25 < np.mean([s.turn_end for s in stimuli]) < 35  # the paper's lists: 30.5 and 31.7 s
    assert 80 < np.mean([len(s.words) for s in stimuli]) < 110  # 91.3 and 99.7


def test_cuts_fade() -> None:
    sound = np.ones(RATE, dtype=np.float32)
    out = faded(sound, rate=RATE)
    assert out[0] < 0.01
    assert out[-1] < 0.01
    assert np.all(out[40:-40] == 1)
    assert np.all(sound == 1)
