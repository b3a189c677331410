"""Sessions of two channels: transcripts, word tables and frame rows."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from floorbench.datasets.dualturn_rows import FrameRowsSource, _mapping
from floorbench.datasets.two_channel_calls import FisherSource, SwitchboardSource
from floorbench.datasets.two_channel_session import TwoChannelSession
from floorbench.datasets.two_channel_speakers import AmiSource, CandorSource
from torture.fuzz.files import cells_of, file
from torture.fuzz.of_answers import seeds
from torture.fuzz.target import Target, law


def check_session(session: TwoChannelSession) -> None:
    """Check what is true of every session."""
    for role, spans in session.speech.items():
        law(spans.dtype == np.int64 and spans.ndim == 2, f"{role} has no spans")
        law((spans[:, 1] >= spans[:, 0]).all(), "a span backwards")
        law((spans >= 0).all(), "a span before 0")
        law((np.diff(spans[:, 0]) >= 0).all(), "spans out of order")
        law(not len(spans) or spans.max() <= session.end, "speech after the end")


def _fisher(path: Path) -> None:
    session = next(iter(FisherSource(path.parent).sessions()))
    check_session(session)
    said = [x for x in path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            if x.strip() and not x.startswith(b"#")]  # fmt: skip
    if b"\0" not in path.read_bytes() and all(x.isascii() for x in said):
        kept = sum(len(s) for s in session.speech.values())
        law(
            kept == len([x for x in said if x.decode().strip()]),
            f"{kept} utterances of {len(said)}",
        )


def _candor(path: Path) -> None:
    session = next(iter(CandorSource(path.parent.parent).sessions()))
    check_session(session)
    kept = sum(len(s) for s in session.speech.values())
    law(kept == len(cells_of(path)) - 1, f"{kept} turns of {len(cells_of(path)) - 1} rows")


_CANDOR = (
    b"turn_id,speaker,start,stop,utterance\n0,a1,0.0,1.5,hello there\n1,b2,1.6,2.5,hi\n"
    b'2,a1,3.0,4.25,"so, well"\n'
)
_FISHER = b"# fe_03_00001.sph\n\n0.50 1.75 A: hello\n1.80 2.90 B: ((hi)) [laughter]\n3 4 A: yes\n"
_NXT = (
    b'<?xml version="1.0" encoding="ISO-8859-1"?>\n'
    b'<nite:root nite:id="ES2002a.A.words" xmlns:nite="http://nite.sourceforge.net/">\n'
    b'<w nite:id="w0" starttime="1.10" endtime="1.40">okay</w>\n'
    b'<w nite:id="w1" starttime="1.40" endtime="1.40" punc="true">.</w>\n'
    b'<vocalsound nite:id="v2" starttime="2.0" endtime="2.5" type="laugh"/>\n'
    b'<w nite:id="w3" starttime="3.10" endtime="3.40">so</w>\n</nite:root>\n'
)
_SIDE = (
    b"sw2001A-ms98-a-0001 0.000000 0.500000 [silence]\nsw2001A-ms98-a-0001 0.500000 1.250000 hi\n"
    b"sw2001A-ms98-a-0001 1.250000 3.000000 [silence]\n"
)


def _ami(path: Path) -> None:
    other = path.with_name("ES2002a.B.words.xml")
    other.write_bytes(_NXT.replace(b".A.", b".B."))
    check_session(next(iter(AmiSource(path.parent).sessions())))


def _switchboard(path: Path) -> None:
    path.with_name("sw2001B-ms98-a-word.text").write_bytes(_SIDE.replace(b"2001A", b"2001B"))
    check_session(next(iter(SwitchboardSource(path.parent).sessions())))


@cache
def _frames() -> bytes:
    import duckdb

    with duckdb.connect() as connection:
        out = Path("/tmp") / f"torture-{id(connection)}.parquet"
        track = "[0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0]"
        connection.execute(
            f"COPY (SELECT 's1' AS session_id, 12 AS num_frames, 0.96 AS duration_s, "
            f"{track}::UTINYINT[] AS vad_ch0, {track}::UTINYINT[] AS vad_ch1) TO '{out}' "
            "(FORMAT parquet)"
        )
        data = out.read_bytes()
        out.unlink()
    return data


def _frame_rows(path: Path) -> None:
    for session in FrameRowsSource(path.parent).sessions():
        check_session(session)
        for tracks in session.stored.values():
            for track in tracks.values():
                law(track.dtype == np.bool_, "a track that is not yes or no")


def _frame_mapping(path: Path) -> None:
    columns = _mapping(path)
    for template in columns.values():
        template.format(channel=0)
    (path.parent / "rows.parquet").write_bytes(_frames())
    list(FrameRowsSource(path.parent / "rows.parquet", columns=str(path)).sessions())


TARGETS = [
    Target(
        name="data-fisher",
        seeds=lambda: [_FISHER],
        read=file("fe_03_00001.txt", _fisher),
        covers=("floorbench.datasets.two_channel_calls:FisherSource._load",),
        tokens=(b" A: ", b" B: ", b"#", b" C: "),
    ),
    Target(
        name="data-candor",
        seeds=lambda: [_CANDOR],
        read=file("c1/transcript_audiophile.csv", _candor),
        covers=("floorbench.datasets.two_channel_speakers:CandorSource._load",
                "floorbench.datasets.two_channel_speakers:_csv_rows"),
        tokens=(b'"', b'""', b",nan,", b"a1", b"b2"),
    ),
    Target(
        name="data-ami",
        seeds=lambda: [_NXT],
        read=file("ES2002a.A.words.xml", _ami),
        covers=("floorbench.datasets.two_channel_speakers:nxt_words",),
        tokens=(b'starttime="', b'endtime="', b'punc="true"', b"<w ", b"</w>", b"<!DOCTYPE x>"),
    ),
    Target(
        name="data-switchboard",
        seeds=lambda: [_SIDE],
        read=file("sw2001A-ms98-a-word.text", _switchboard),
        covers=("floorbench.datasets.two_channel_calls:SwitchboardSource._load",),
        share=0.5,
    ),
    Target(
        name="data-frames-parquet",
        seeds=lambda: [_frames()],
        read=file("train-0.parquet", _frame_rows),
        covers=("floorbench.datasets.dualturn_rows:_header", "floorbench.datasets.dualturn_rows:_query"),
        native=True,
        share=0.05,
    ),
    Target(
        name="data-frames-mapping",
        seeds=seeds({"vad": "vad_ch{channel}", "session": "session_id"}),
        read=file("mapping.json", _frame_mapping),
        covers=("floorbench.datasets.dualturn_rows:_mapping",),
        tokens=(b"{channel}", b"{", b"}", b"{0}", b"{channel.x}", b"{channel!r}", b"{channel:>9}"),
        share=0.2,
    ),
]  # fmt: skip
