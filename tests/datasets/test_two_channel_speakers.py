import csv
from pathlib import Path

import pytest

from floorbench.core.vocab import Role
from floorbench.datasets.two_channel_speakers import AmiSource, CandorSource, nxt_words
from floorbench.errors import DataError, UsageError

NXT = """<?xml version="1.0"?>
<nite:root xmlns:nite="http://nite.sourceforge.net/">
 <w nite:id="1" starttime="1.0" endtime="1.5">Okay</w>
 <w nite:id="2" starttime="1.5" endtime="1.5" punc="true">.</w>
 <vocalsound nite:id="3" starttime="2.0" endtime="2.5" type="laugh"/>
 <w nite:id="4" starttime="3.0" endtime="3.25">so</w>
</nite:root>
"""


def ami(folder: Path, speakers: str = "ABCD") -> Path:
    for number, agent in enumerate(speakers):
        text = NXT.replace('starttime="3.0"', f'starttime="3.0{number}"')
        (folder / f"ES2002a.{agent}.words.xml").write_text(text)
    return folder


def test_nxt_words_leave_out_punctuation_and_mark_sounds(tmp_path: Path) -> None:
    words = nxt_words(ami(tmp_path) / "ES2002a.A.words.xml")
    assert [w.text for w in words] == ["Okay", "[vocalized-noise]", "so"]
    assert words[0].end == 1_500_000


def test_two_of_four_speakers_are_chosen_by_name(tmp_path: Path) -> None:
    folder = ami(tmp_path)
    with pytest.raises(DataError, match=r"FB256 .*A, B, C, D"):
        AmiSource(folder).session("ES2002a")
    with pytest.raises(DataError, match=r"FB256 .*'X'"):
        AmiSource(folder, speakers=["A", "X"]).session("ES2002a")
    found = AmiSource(folder, speakers=["C", "A"]).session("ES2002a")
    assert found.speakers == {Role.USER: "ES2002.C", Role.SYSTEM: "ES2002.A"}
    assert found.words[Role.USER][-1].start == 3_020_000


def test_unsafe_or_broken_xml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ES2002a.A.words.xml"
    path.write_text('<!DOCTYPE a [<!ENTITY x "y">]><a/>')
    with pytest.raises(DataError, match=r"FB706"):
        nxt_words(path)
    path.write_text(NXT.replace('starttime="1.0"', 'starttime="soon"'))
    with pytest.raises(DataError, match=r"FB257 .*:3"):
        nxt_words(path)


def test_a_real_meeting_as_rttm(real_data: Path) -> None:
    path = real_data / "formats" / "ami_ES2011a.rttm"
    with pytest.raises(DataError, match=r"FB256"):
        AmiSource(path).session("ami_ES2011a")
    names = sorted({line.split()[7] for line in path.read_text().splitlines()})
    found = AmiSource(path, speakers=names[:2]).session("ami_ES2011a")
    expected = sum(line.split()[7] == names[0] for line in path.read_text().splitlines())
    assert len(found.speech[Role.USER]) == expected > 10


def candor(folder: Path, kinds: tuple[str, ...]) -> Path:
    base = ("turn_id", "speaker", "start", "stop", "utterance")
    more = ("backchannel", "backchannel_speaker", "backchannel_start", "backchannel_stop")
    for kind in kinds:
        path = folder / "conv-1" / "transcription" / f"transcript_{kind}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file:
            out = csv.writer(file)
            bc = kind == "backbiter"
            out.writerow((*base, *more) if bc else base)
            out.writerow((0, "u1", 0.5, 2.0, "well", *(("yeah", "u2", 1.0, 1.25) if bc else ())))
            out.writerow((1, "u2", 2.5, 3.0, "right", *(("", "", "", "nan") if bc else ())))
    return folder


def test_candors_segmentations(tmp_path: Path) -> None:
    candor(tmp_path, ("audiophile", "backbiter"))
    with pytest.raises(DataError, match=r"FB257 .*audiophile, backbiter"):
        CandorSource(tmp_path)
    plain = CandorSource(tmp_path, segmentation="audiophile").session("conv-1")
    rich = CandorSource(tmp_path, segmentation="backbiter").session("conv-1")
    assert len(plain.speech[Role.SYSTEM]) == 1
    assert rich.speech[Role.SYSTEM].tolist() == [[1_000_000, 1_250_000], [2_500_000, 3_000_000]]
    assert rich.speakers == {Role.USER: "u1", Role.SYSTEM: "u2"}
    assert rich.source == "segments (backbiter)"


@pytest.mark.parametrize("kind", ["audiophile", "cliffhanger", "backbiter"])
def test_a_single_segmentation_needs_no_name(tmp_path: Path, kind: str) -> None:
    assert CandorSource(candor(tmp_path, (kind,))).ids == ("conv-1",)


def test_candors_faults_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"FB103"):
        CandorSource(tmp_path, segmentation="audiofile")
    candor(tmp_path, ("audiophile",))
    path = next(tmp_path.rglob("*.csv"))
    text = path.read_text()
    path.write_text(text.replace("2.5,3.0", "2.5,1.0"))
    with pytest.raises(DataError, match=r"FB257 .*:3"):
        CandorSource(tmp_path).session("conv-1")
    path.write_text(text.replace("speaker", "who", 1))
    with pytest.raises(DataError, match=r"FB257 .*'speaker'"):
        CandorSource(tmp_path).session("conv-1")


HEAD = "turn_id,speaker,start,stop,utterance"
BACK = HEAD + ",backchannel_speaker,backchannel_start,backchannel_stop"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column 'turn_id'"),
        (HEAD + "\n0,u,1,2,so\n", "no column 'backchannel_speaker'"),
        (BACK.removesuffix(",backchannel_stop") + "\n", "no column 'backchannel_stop'"),
        (BACK + "\n0,,1,2,so,,,\n", "no speaker"),
        (BACK + "\n0,u,1,2,so,,1.5,1.7\n", "a backchannel without a speaker"),
        (BACK + "\n0,u,1,2,so,v,1.5,\n", "time '' is not a number"),
        (BACK + "\n0,u,1,2,so,v,1.5,soon\n", "time 'soon' is not a number"),
        (BACK + "\n0,u,1,2,so\n", "fewer or more cells"),
        (BACK + '\n0,u,1,2,"so,,,\n1,v,3,4,yes,,,\n', "unexpected end of data"),
        (BACK + "\n0,u,1,1e9,so,,,\n1,v,3,4,yes,,,\n", "over 100 hours"),
    ],
)
def test_a_transcript_with_backchannels_that_cannot_be_trusted(
    tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "transcript_backbiter.csv").write_text(text)
    source = CandorSource(tmp_path)
    with pytest.raises(DataError, match=says):
        source.session(source.ids[0])


@pytest.mark.parametrize("missing", ["", "nan", "NaN", "NA"])
def test_a_turn_without_a_backchannel(tmp_path: Path, missing: str) -> None:
    gap = ",".join([missing] * 3)
    (tmp_path / "transcript_backbiter.csv").write_text(
        f"{BACK}\n0,u,1,2,so,{gap}\n1,v,3,4,yes,{gap}\n"
    )
    source = CandorSource(tmp_path)
    assert len(source.session(source.ids[0]).speech[Role.SYSTEM]) == 1
