import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.core.vocab import Role
from floorbench.datasets.open import open_dataset
from floorbench.datasets.two_channel_files import OtoSpeechSource, TwoChannelFiles
from floorbench.errors import DataError, UsageError
from sounds import RATE, voice
from support import two_channel_tiny as tiny

RTTM = """SPEAKER talk 1 1.00 2.00 <NA> <NA> ann <NA> <NA>
SPEAKER talk 1 4.00 1.50 <NA> <NA> bob <NA> <NA>
"""
SIDES = {"A": [(1.0, 3.0, "x")], "B": [(4.0, 5.5, "y")]}


def talk(folder: Path) -> Path:
    tiny.stereo(folder / "talk.wav", SIDES, seconds=8.0)
    (folder / "talk.rttm").write_text(RTTM)
    return folder


def test_audio_and_annotation_of_one_name_are_one_session(tmp_path: Path) -> None:
    source = open_dataset(talk(tmp_path))
    assert isinstance(source, TwoChannelFiles)
    found = source.session("talk")
    assert found.speech[Role.USER].tolist() == [[1_000_000, 3_000_000]]
    assert found.audio[Role.SYSTEM].frames == 64_000
    assert found.source == "segments"
    turned = TwoChannelFiles(tmp_path, user="bob").session("talk")
    assert turned.speech[Role.USER].tolist() == [[4_000_000, 5_500_000]]


def test_words_by_declaration(tmp_path: Path) -> None:
    ctm = "talk A 1.0 0.5 so\ntalk A 1.5 0.4 yes\ntalk B 3.0 0.5 no\n"
    (tmp_path / "talk.ctm").write_text(ctm)
    found = TwoChannelFiles(tmp_path).session("talk")
    assert [w.text for w in found.words[Role.USER]] == ["so", "yes"]
    assert not TwoChannelFiles(tmp_path, units="segments").session("talk").words


def test_a_table_or_json_named_like_a_sound_is_looked_into(tmp_path: Path) -> None:
    tiny.stereo(tmp_path / "talk.wav", SIDES, seconds=8.0)
    table = tmp_path / "talk.csv"
    table.write_text("speaker,word,start,end\nann,so,1.0,1.5\nbob,no,3.0,3.5\n")
    (tmp_path / "prices.csv").write_text("speaker,word,start,end\nann,so,1.0,1.5\n")
    source = open_dataset(tmp_path)
    assert isinstance(source, TwoChannelFiles)
    assert source.ids == ("talk",)
    assert [w.text for w in source.session("talk").words[Role.USER]] == ["so"]
    table.unlink()
    words = [{"word": w, "start": t, "end": t + 1, "speaker": s} for w, t, s in
             (("so", 1, "ann"), ("no", 3, "bob"))]  # fmt: skip
    (tmp_path / "talk.json").write_text(json.dumps(words))
    assert [w.text for w in open_dataset(tmp_path).session("talk").words[Role.SYSTEM]] == ["no"]


def test_a_table_that_holds_something_else_is_no_annotation(tmp_path: Path) -> None:
    tiny.stereo(tmp_path / "talk.wav", SIDES, seconds=8.0)
    (tmp_path / "talk.csv").write_text("token,time\nso,1.0\n")
    with pytest.raises(DataError, match="FB211") as caught:
        open_dataset(tmp_path)
    assert caught.value.hint == (
        "'talk.csv' lies beside 'talk.wav', but: no column for start, end; columns: 'token', 'time'"
    )
    (tmp_path / "talk.csv").unlink()
    with pytest.raises(DataError, match="FB211") as caught:
        open_dataset(tmp_path)
    assert "--reader-set vad=silero" in (caught.value.hint or "")
    (tmp_path / "talk.wav").unlink()
    with pytest.raises(DataError, match="FB211") as caught:
        open_dataset(tmp_path)
    assert "name one with --reader" in (caught.value.hint or "")


def test_two_annotations_of_one_session(tmp_path: Path) -> None:
    for side, start in (("A", 1), ("B", 3)):
        (tmp_path / f"talk.{side}.labels.txt").write_text(f"{start}.0\t{start + 1}.0\thello\n")
    found = TwoChannelFiles(tmp_path).session("talk")
    assert found.speech[Role.SYSTEM].tolist() == [[3_000_000, 4_000_000]]


def test_a_mono_file_is_refused(tmp_path: Path) -> None:
    soundfile.write(str(tmp_path / "talk.wav"), np.zeros(8000, dtype=np.float32), 8000)
    (tmp_path / "talk.rttm").write_text(RTTM)
    with pytest.raises(DataError, match=r"FB251 .*1 channel"):
        TwoChannelFiles(tmp_path).session("talk")


def test_one_speaker_is_refused(tmp_path: Path) -> None:
    (tmp_path / "talk.rttm").write_text(RTTM.splitlines()[0] + "\n")
    with pytest.raises(DataError, match=r"FB251 .*ann"):
        TwoChannelFiles(tmp_path).session("talk")


def test_annotation_past_the_audio_is_refused(tmp_path: Path) -> None:
    talk(tmp_path)
    (tmp_path / "talk.rttm").write_text(RTTM.replace("4.00 1.50", "4.00 9.50"))
    with pytest.raises(DataError, match=r"FB253"):
        TwoChannelFiles(tmp_path).session("talk")


def test_activity_from_a_declared_vad(tmp_path: Path) -> None:
    samples = np.zeros((8 * RATE, 2), dtype=np.float32)
    for channel, side in enumerate("AB"):
        start, end, _ = SIDES[side][0]
        samples[int(start * RATE) : int(end * RATE), channel] = voice(end - start)
    soundfile.write(str(tmp_path / "talk.flac"), samples, RATE)
    source = OtoSpeechSource(tmp_path, vad="webrtc")
    found = source.session("talk")
    assert found.source.startswith("vad webrtc")
    assert found.end == 8_000_000
    assert len(found.speech[Role.USER])
    start, end = found.speech[Role.USER][0].tolist()
    assert abs(start - 1_000_000) < 100_000
    assert abs(end - 3_000_000) < 400_000
    assert open_dataset(source.locator()).digest() == source.digest()
    assert OtoSpeechSource.detect(tmp_path)
    assert not TwoChannelFiles.detect(tmp_path)


def test_options_are_checked(tmp_path: Path) -> None:
    talk(tmp_path)
    with pytest.raises(UsageError, match=r"FB103"):
        TwoChannelFiles(tmp_path, units="sentences")  # type: ignore[arg-type]
    (tmp_path / "talk.rttm").unlink()
    source = OtoSpeechSource(tmp_path, vad="energy")
    with pytest.raises(UsageError, match=r"FB101"):
        source.session("talk")


@pytest.mark.parametrize("units", ["segments", "words"])
def test_entries_that_were_skipped_are_counted(tmp_path: Path, units: str) -> None:
    lost = RTTM.splitlines()[1].replace("4.00", "soon")
    (tmp_path / "talk.rttm").write_text(f"{RTTM}{lost}\n")
    found = TwoChannelFiles(tmp_path, units=units).session("talk")
    assert found.counted["faults in the annotation"] == 1
