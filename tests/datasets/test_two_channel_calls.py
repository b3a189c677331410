from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.core.vocab import Role
from floorbench.datasets.open import open_dataset
from floorbench.datasets.two_channel_calls import FisherSource, SwitchboardSource
from floorbench.errors import DataError
from support import two_channel_tiny as tiny


def test_a_call_is_read_with_its_roles(tmp_path: Path) -> None:
    folder = tiny.build(tmp_path, ("sw9001",))
    straight = SwitchboardSource(folder).session("sw9001")
    turned = SwitchboardSource(folder, user="B").session("sw9001")
    assert straight.words[Role.USER] == turned.words[Role.SYSTEM]
    assert straight.end == 60_000_000
    spoken = [w.text for w in straight.words[Role.USER] if w.text != "[silence]"]
    assert spoken == [token for _, _, token in tiny.call(0)["A"]]
    assert open_dataset(folder).name == folder.name


def test_half_a_call_is_refused(tmp_path: Path) -> None:
    folder = tiny.build(tmp_path, ("sw9001",))
    (folder / "sw9001B-ms98-a-word.text").unlink()
    with pytest.raises(DataError, match=r"FB251 .*A"):
        SwitchboardSource(folder).session("sw9001")


@pytest.mark.parametrize("name", ["sw9001.wav", "sw09001.flac"])
def test_audio_beside_a_call_is_found(tmp_path: Path, name: str) -> None:
    folder = tiny.build(tmp_path, ("sw9001",))
    tiny.stereo(folder / name, tiny.call(0), seconds=60.0)
    found = SwitchboardSource(folder).session("sw9001")
    assert found.audio[Role.USER].frames == 480_000
    with pytest.raises(DataError, match=r"FB301"):
        SwitchboardSource(folder, audio=str(tmp_path.parent)).session("sw9001")


FISHER = "# fe_03_00001.sph\n\n3.76 5.54 A: and i\n4.50 4.90 B: [laughter]\n6.00 7.25 B: yes\n"


def test_fisher_gives_segments_and_no_words(tmp_path: Path) -> None:
    (tmp_path / "fe_03_00001.txt").write_text(FISHER)
    found = FisherSource(tmp_path).session("fe_03_00001")
    assert found.speech[Role.USER].tolist() == [[3_760_000, 5_540_000]]
    assert not found.words
    assert found.source == "segments"
    (tmp_path / "fe_03_00001.txt").write_text(FISHER + "8.0 soon A: no\n")
    with pytest.raises(DataError, match=r"FB257 .*:6"):
        FisherSource(tmp_path).session("fe_03_00001")


@pytest.mark.parametrize("ending", [".sph", ".wav"])
def test_telephone_corpora_come_as_sphere(tmp_path: Path, ending: str) -> None:
    tiny.build(tmp_path / "swb", ("sw9001",))
    (tmp_path / "fe_03_00001.txt").write_text(FISHER)
    noise = 0.1 * np.random.default_rng(0).standard_normal((480_000, 2))
    for path in (tmp_path / f"swb/sw09001{ending}", tmp_path / f"fe_03_00001{ending}"):
        soundfile.write(str(path), noise, 8000, "ULAW", format="NIST")
    for source in (SwitchboardSource(tmp_path / "swb"), FisherSource(tmp_path)):
        found = source.session(source.ids[0])
        assert found.audio[Role.USER].frames == 480_000
    with pytest.raises(DataError, match=r"FB301 .*no audio of 'fe_03_00001'"):
        FisherSource(tmp_path, audio=str(tmp_path / "swb")).session("fe_03_00001")
    soundfile.write(str(tmp_path / f"fe_03_00001{ending}"), noise[:, 0], 8000, format="NIST")
    with pytest.raises(DataError, match=r"FB251 .*1 channel\(s\), not two"):
        FisherSource(tmp_path).session("fe_03_00001")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
def test_transcripts_in_other_encodings_keep_their_lines(tmp_path: Path, encoding: str) -> None:
    text = FISHER.replace("and i", "caf\u00e9")
    (tmp_path / "fe_03_00001.txt").write_bytes(text.encode(encoding))
    found = FisherSource(tmp_path).session("fe_03_00001")
    assert found.speech[Role.USER].tolist() == [[3_760_000, 5_540_000]]


def test_a_folder_in_place_of_a_transcript(tmp_path: Path) -> None:
    (tmp_path / "fe_03_00001.txt").mkdir()
    with pytest.raises(DataError, match=r"FB402 .*Is a directory"):
        FisherSource(tmp_path).session("fe_03_00001")
