import csv
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.build import call_clips
from floorbench.build.call_clips import NO_SOUND, cut_calls
from floorbench.core.vocab import Role
from floorbench.datasets.open import open_dataset
from floorbench.errors import DataError, EnvironmentProblem, UsageError
from floorbench.events.pauses import PauseRules

RATE = 8000
WORDS = """speaker,word,start,end
caller,my,0.5,0.8
caller,number,0.8,1.2
caller,is,1.2,1.5
caller,five,2.5,3.0
agent,thank,3.6,4.2
agent,you,4.2,5.5
caller,bye,6.5,7.0
"""
RULES = PauseRules(silence=0.25)


def calls(folder: Path, *names: str, seconds: float = 8.0, words: str = WORDS) -> Path:
    """Calls whose user channel counts its own samples, so that a cut shows where it was made."""
    folder.mkdir(parents=True, exist_ok=True)
    size = round(seconds * RATE)
    counting = (np.arange(size) // 2).astype(np.int16)
    both = np.stack([counting, np.zeros_like(counting)], axis=1)
    both[round(3.6 * RATE) : round(5.5 * RATE), 1] = 9000
    for name in names or ("one",):
        soundfile.write(folder / f"{name}.wav", both, RATE, subtype="PCM_16")
        (folder / f"{name}.csv").write_text(words, encoding="utf-8")
    return folder


def at(seconds: float) -> int:
    """What the user channel holds there."""
    return round(seconds * RATE) // 2


def opened(folder: Path, **options: object):  # type: ignore[no-untyped-def]
    return open_dataset(folder, user="caller", **options)


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "labels.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def test_every_clip_ends_so_long_after_its_last_word(tmp_path: Path) -> None:
    (report,) = cut_calls(opened(calls(tmp_path / "calls")), tmp_path / "out", rules=RULES)
    assert report.labels == {"incomplete": 1, "complete": 1}
    assert report.left_out == {"nobody speaks after it": 1}
    first, second = rows(tmp_path / "out")
    assert (first["label"], first["text"], first["cluster"]) == (
        "incomplete",
        "my number is",
        "one",
    )
    assert (second["label"], second["text"]) == ("complete", "my number is five")
    assert (second["turn"], second["pause"], second["next"]) == ("0.500", "3.000", "3.600")
    for row, last in ((first, 1.5), (second, 3.0)):
        heard, rate = soundfile.read(tmp_path / "out" / row["path"], dtype="int16")
        assert rate == RATE
        assert (heard[0], heard[-1]) == (at(0.3), at(last + 0.25) - 1)


def test_a_clip_is_shortened_at_its_beginning(tmp_path: Path) -> None:
    source = opened(calls(tmp_path / "calls"))
    cut_calls(source, tmp_path / "out", rules=RULES, context=1.0)
    sizes = [len(soundfile.read(tmp_path / "out" / r["path"])[0]) for r in rows(tmp_path / "out")]
    assert sizes == [RATE, RATE]


def test_a_whole_turn_goes_on_after_its_last_word(tmp_path: Path) -> None:
    source = opened(calls(tmp_path / "calls"))
    (report,) = cut_calls(source, tmp_path / "out", rules=RULES, turns=True, tail=2.0, context=1.0)
    assert report.labels == {"complete": 1}
    (row,) = rows(tmp_path / "out")
    heard, _ = soundfile.read(tmp_path / "out" / row["path"], dtype="int16")
    assert (heard[0], heard[-1]) == (at(0.3), at(5.0) - 1)
    assert (row["end"], row["pause"], row["text"]) == ("2.700", "3.000", "my number is five")
    cut_calls(source, tmp_path / "long", rules=RULES, turns=True, tail=9.0)
    (row,) = rows(tmp_path / "long")
    heard, _ = soundfile.read(tmp_path / "long" / row["path"], dtype="int16")
    assert heard[-1] == at(6.5) - 1  # the same side speaks again


def test_the_folder_is_a_set_of_clips_with_the_call_as_cluster(tmp_path: Path) -> None:
    cut_calls(opened(calls(tmp_path / "calls", "one", "two")), tmp_path / "out", rules=RULES)
    source = open_dataset(tmp_path / "out")
    samples = list(source.samples())
    assert [s.target["label"] for s in samples] == ["incomplete", "complete"] * 2
    assert {s.cluster for s in samples} == {"given:one", "given:two"}
    assert samples[0].observation.text == "my number is"
    assert set(samples[0].observation.channels) == {Role.USER}
    assert "what happened next" in " ".join(source.describe()["notices"])
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["made_by"]["rules"]["silence"] == 0.25


def test_dev_and_test_share_no_call_and_a_seed_repeats_them(tmp_path: Path) -> None:
    source = opened(calls(tmp_path / "calls", *(f"c{n}" for n in range(6))))
    dev, test = cut_calls(source, tmp_path / "out", rules=RULES, dev=0.3, seed=4)
    assert (dev.folder.name, dev.calls, test.folder.name, test.calls) == ("dev", 2, "test", 4)
    ids = [{r["cluster"] for r in rows(tmp_path / "out" / part)} for part in ("dev", "test")]
    assert not ids[0] & ids[1]
    assert len(ids[0] | ids[1]) == 6
    cut_calls(source, tmp_path / "again", rules=RULES, dev=0.3, seed=4)
    assert {r["cluster"] for r in rows(tmp_path / "again" / "dev")} == ids[0]


def test_both_sides(tmp_path: Path) -> None:
    source = opened(calls(tmp_path / "calls"))
    cut_calls(source, tmp_path / "out", rules=RULES, sides=(Role.USER, Role.SYSTEM))
    assert [(r["side"], r["text"]) for r in rows(tmp_path / "out")][-1] == ("system", "thank you")


def test_words_without_blanks_are_joined_without(tmp_path: Path) -> None:
    folder = calls(tmp_path / "calls", words=WORDS.replace("my", "我的").replace("number", "号码"))
    cut_calls(opened(folder, language="zh"), tmp_path / "out", rules=RULES)
    assert rows(tmp_path / "out")[0]["text"] == "我的号码is"


def test_a_recording_that_ends_in_the_silence_gives_no_clip(tmp_path: Path) -> None:
    words = WORDS.replace("5.5", "4.5").replace("6.5,7.0", "5.9,5.95") + "agent,so,6.0,6.55\n"
    source = opened(calls(tmp_path / "calls", seconds=6.55, words=words))
    (report,) = cut_calls(
        source, tmp_path / "out", rules=PauseRules(silence=1.0, alone=0, backchannel=0)
    )
    assert report.left_out[NO_SOUND] == 1


def test_swapped_channels_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "calls"
    folder.mkdir()
    both = np.zeros((8 * RATE, 2))
    both[round(0.5 * RATE) : 3 * RATE, 0] = 0.1
    both[round(3.6 * RATE) : round(5.5 * RATE), 1] = 0.1
    soundfile.write(folder / "one.wav", both, RATE)
    (folder / "one.csv").write_text(WORDS.replace("bye,6.5,7.0", "bye,6.5,6.6"), encoding="utf-8")
    with pytest.raises(DataError, match=r"FB279 .*swapped"):
        cut_calls(open_dataset(folder, user="agent"), tmp_path / "out", rules=RULES)
    assert not (tmp_path / "out").exists()
    cut_calls(open_dataset(folder), tmp_path / "out", rules=RULES)


def test_what_cannot_be_cut_is_refused(tmp_path: Path) -> None:
    folder = calls(tmp_path / "calls")
    source = opened(folder)
    cut_calls(source, tmp_path / "out", rules=RULES)
    with pytest.raises(UsageError, match=r"FB278 .*there are clips already"):
        cut_calls(source, tmp_path / "out", rules=RULES)
    for wrong in (
        {"dev": 0.0},
        {"dev": 1.0},
        {"dev": 0.5},
        {"lead": -1.0},
        {"context": 0.1},
        {"context": float("inf")},
        {"tail": 0},
    ):
        with pytest.raises(UsageError, match=r"FB103"):
            cut_calls(source, tmp_path / "new", rules=RULES, **wrong)
    only = calls(tmp_path / "only", words="speaker,word,start,end\ncaller,a,1,2\nagent,b,1,2\n")
    with pytest.raises(DataError, match=r"FB278 .*no pause of user has a label"):
        cut_calls(opened(only), tmp_path / "new", rules=RULES)
    (folder / "one.wav").unlink()
    (folder / "one.csv").rename(folder / "one.words.csv")
    with pytest.raises(DataError, match=r"FB278 .*no sound"):
        cut_calls(open_dataset(folder, reader="two-channel"), tmp_path / "new", rules=RULES)


@pytest.mark.parametrize("dev", [None, 0.5])
def test_there_is_never_half_a_folder(tmp_path: Path, monkeypatch, dev: float | None) -> None:  # type: ignore[no-untyped-def]
    source = opened(calls(tmp_path / "calls", "one", "two"))
    cut_calls(source, tmp_path / "whole", rules=RULES, dev=dev)
    finish, seen = call_clips._finish, []

    def dies(*args: object) -> None:
        finish(*args)  # type: ignore[arg-type]
        seen.append((tmp_path / "out").exists())
        raise KeyboardInterrupt

    monkeypatch.setattr(call_clips, "_finish", dies)
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)  # nobody tidies up after a kill
    with pytest.raises(KeyboardInterrupt):
        cut_calls(source, tmp_path / "out", rules=RULES, dev=dev)
    monkeypatch.undo()
    assert seen == [False]
    left = tmp_path / ".out.cut"
    assert left.is_dir()
    (left / "audio").mkdir(exist_ok=True)
    (left / "audio" / "stranger.wav").touch()
    cut_calls(source, tmp_path / "out", rules=RULES, dev=dev)
    assert not left.exists()
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def contents(folder: Path) -> dict[str, bytes]:
    files = (p for p in folder.rglob("*") if p.is_file())
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


def test_a_folder_that_is_not_new_is_left_alone(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    source = opened(calls(tmp_path / "calls"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    with pytest.raises(UsageError, match=r"FB278 .*full: something is there"):
        cut_calls(source, tmp_path / "full", rules=RULES)
    with pytest.raises(UsageError, match=r"FB278 .*inside the calls"):
        cut_calls(source, tmp_path / "calls" / "clips", rules=RULES)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(UsageError, match=r"FB278 .*current folder"):
        cut_calls(source, Path(), rules=RULES)
    monkeypatch.chdir(tmp_path)
    cut_calls(source, tmp_path / "empty", rules=RULES)
    assert len(rows(tmp_path / "empty")) == 2
    (tmp_path / "to-be-made").mkdir()
    (tmp_path / "link").symlink_to("to-be-made")
    cut_calls(source, tmp_path / "link", rules=RULES)
    assert len(rows(tmp_path / "to-be-made")) == 2


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    source = opened(calls(tmp_path / "calls"))

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(EnvironmentProblem, match=r"FB504 .*out: .*No space left"):
        cut_calls(source, tmp_path / "out", rules=RULES)
    assert [p.name for p in tmp_path.iterdir()] == ["calls"]


def test_calls_of_any_name_have_clips_of_their_own(tmp_path: Path) -> None:
    names = ("a b", "a-b", "电话", "通话", "x\ny", "n" * 230)
    cut_calls(opened(calls(tmp_path / "calls", *names)), tmp_path / "out", rules=RULES)
    assert {s.cluster for s in open_dataset(tmp_path / "out").samples()} == {
        f"given:{name}" for name in names
    }
    assert len(list((tmp_path / "out" / "audio").iterdir())) == 2 * len(names)
    assert (tmp_path / "out" / "audio" / "a-b-user-0001500.wav").is_file()


def test_lines_that_could_not_be_read_are_counted(tmp_path: Path) -> None:
    folder = calls(tmp_path / "calls", words=WORDS.replace("2.5,3.0", "3.0,2.5"))
    (report,) = cut_calls(opened(folder), tmp_path / "out", rules=RULES)
    assert (report.faults, report.labels) == ({"faults in the annotation": 1}, {"complete": 1})


def test_words_without_times_are_counted(tmp_path: Path) -> None:
    """Some recognisers give numbers no times: the pause before one is then not what it seems."""
    folder = calls(tmp_path / "calls", words=WORDS.replace("2.5,3.0", ",") + "agent,[noise],,\n")
    (report,) = cut_calls(opened(folder), tmp_path / "out", rules=RULES)
    assert (report.faults, report.labels) == ({"words without times": 1}, {"complete": 1})
