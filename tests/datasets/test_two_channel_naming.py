"""Whatever reader lists a folder: nothing is left out silently, nothing counts twice."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.build.stimuli import ms98
from floorbench.build.stimuli_turns import TurnRules
from floorbench.datasets.dualturn_rows import FrameRowsSource
from floorbench.datasets.open import open_dataset
from floorbench.datasets.two_channel_calls import FisherSource, SwitchboardSource
from floorbench.datasets.two_channel_files import OtoSpeechSource, TwoChannelFiles
from floorbench.datasets.two_channel_speakers import AmiSource, CandorSource
from floorbench.errors import DataError
from support import frame_rows
from support import two_channel_tiny as tiny

NXT = '<r><w starttime="1.0" endtime="1.5">Okay</w></r>'
RTTM = "".join(f"SPEAKER talk 1 {n}.00 1.00 <NA> <NA> {n} <NA> <NA>\n" for n in (1, 3))


def switchboard(folder: Path) -> None:
    tiny.build(folder, ("sw9001",))


def ami(folder: Path) -> None:
    for agent in "AB":
        (folder / f"ES2002a.{agent}.words.xml").write_text(NXT)


def ami_rttm(folder: Path) -> None:
    (folder / "talk.rttm").write_text(RTTM)


def fisher(folder: Path) -> None:
    (folder / "fe_03_00001.txt").write_text("1.0 2.0 A: so\n3.0 4.0 B: yes\n")


def candor(folder: Path) -> None:
    place = folder / "conv-1"
    place.mkdir()
    text = "turn_id,speaker,start,stop,utterance\n0,u,1,2,so\n1,v,3,4,yes\n"
    (place / "transcript_audiophile.csv").write_text(text)


def stereo(folder: Path) -> None:
    noise = 0.1 * np.random.default_rng(0).standard_normal((16_000, 2))
    soundfile.write(str(folder / "talk.flac"), noise, 8000)


def rows(folder: Path) -> None:
    frame_rows.write(folder / "rows.parquet", [frame_rows.row("a", 1)])


def turns(path: Path) -> object:
    rules = TurnRules(pause=0.5, max_pause=1.0, backchannel=0.5, shortest=1.0, longest=60.0)
    return list(ms98(path, rules=rules))


READERS: dict[str, tuple[Callable[[Path], object], Callable[[Path], None]]] = {
    "swb-ms98": (SwitchboardSource, switchboard),
    "ami": (AmiSource, ami),
    "ami rttm": (AmiSource, ami_rttm),
    "fisher": (FisherSource, fisher),
    "candor": (CandorSource, candor),
    "two-channel": (TwoChannelFiles, ami_rttm),
    "otospeech": (OtoSpeechSource, stereo),
    "dualturn-rows": (FrameRowsSource, rows),
    "stimuli": (turns, switchboard),
}


@pytest.mark.parametrize(("read", "write"), READERS.values(), ids=READERS)
def test_a_subfolder_that_cannot_be_listed_is_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    read: Callable[[Path], object],
    write: Callable[[Path], None],
) -> None:
    for part in ("open", "locked"):
        (tmp_path / part).mkdir()
    write(tmp_path / "open")
    read(tmp_path)
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(DataError, match=r"FB402 .*locked: cannot be listed: Permission denied"):
        read(tmp_path)
    with pytest.raises(DataError, match=r"FB402 .*locked: cannot be listed: Permission denied"):
        open_dataset(tmp_path / "locked")


@pytest.mark.parametrize(("read", "write"), READERS.values(), ids=READERS)
def test_a_session_that_lies_there_twice_is_an_error(
    tmp_path: Path, read: Callable[[Path], object], write: Callable[[Path], None]
) -> None:
    for part in ("one", "two"):
        (tmp_path / part).mkdir()
        write(tmp_path / part)
    with pytest.raises(DataError, match=r"FB25[58] "):
        read(tmp_path)


def test_word_files_beside_an_rttm_of_the_same_meeting(tmp_path: Path) -> None:
    ami(tmp_path)
    (tmp_path / "ES2002a.rttm").write_text(RTTM)
    with pytest.raises(DataError, match=r"FB258 .*ES2002a.rttm: .*word files and an RTTM"):
        AmiSource(tmp_path)


@pytest.mark.parametrize("reader", [AmiSource, TwoChannelFiles])
def test_two_recordings_in_one_file_are_not_taken_for_one(
    tmp_path: Path, reader: Callable[[Path], AmiSource]
) -> None:
    (tmp_path / "talk.rttm").write_text(RTTM + RTTM.replace(" talk ", " walk "))
    with pytest.raises(DataError, match=r"FB251 .*two tiers are named '1'"):
        reader(tmp_path).session("talk")


def test_regions_to_score_are_no_second_annotation(tmp_path: Path) -> None:
    (tmp_path / "talk.rttm").write_text(RTTM)
    (tmp_path / "talk.uem").write_text("talk 1 0.0 8.0\n")
    assert TwoChannelFiles(tmp_path).session("talk").end == 4_000_000


def test_a_folder_named_like_a_file_of_rows_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "set.parquet").mkdir()
    rows(tmp_path / "set.parquet")
    assert FrameRowsSource(tmp_path).ids == ("a",)
