"""What datasets are read from: tables, manifests, splits, transcripts, frames, audio."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from floorbench import codec
from floorbench.audio.decode import decode, probe
from floorbench.audio.ref import FileAudio
from floorbench.audio.sphere import sphere_header
from floorbench.build.sound.pools import _credits, samples_of
from floorbench.build.speech.remote import read_wav
from floorbench.core.vocab import Role
from floorbench.datasets import echo_tables
from floorbench.datasets.clips import ClipsSource
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.codett_labels import BY_PAIR
from floorbench.datasets.codett_lines import read_line
from floorbench.datasets.dualturn_rows import FrameRowsSource, _mapping
from floorbench.datasets.echo import EchoSource
from floorbench.datasets.manifest import MANIFEST, Manifest, pcm_digests, read_manifest
from floorbench.datasets.trp_files import Stimulus, read_panels, read_stimuli
from floorbench.datasets.trp_lists import LISTS, Lists, read_lists
from floorbench.datasets.two_channel import TwoChannelSession
from floorbench.datasets.two_channel_splits import SPLITS, Splits
from floorbench.datasets.two_channel_words import (
    AmiSource,
    CandorSource,
    FisherSource,
    SwitchboardSource,
)
from floorbench.errors import Place
from torture.fuzz.of_answers import seeds
from torture.fuzz.target import Target, Wrong, finite, law

RATE = 8000


def file(name: str, check: Callable[[Path], object]) -> Callable[[bytes, Path], None]:
    """Return a reader of bytes for a reader of a file of that name."""

    def read(data: bytes, folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        check(path)

    return read


def rows(*values: Any) -> bytes:
    """Return JSON lines."""
    return b"".join(json.dumps(v, ensure_ascii=False).encode() + b"\n" for v in values)


def survives(value: Any, kind: Any) -> None:
    """Check that a record is finite and the same after being written and read."""
    finite(value)
    law(codec.decode(codec.encode(value), kind) == value, "does not survive being written")


def filled(path: Path) -> int:
    """Return how many lines of a file are not blank."""
    return sum(1 for line in path.read_bytes().split(b"\n") if line.strip())


# ---- tables -------------------------------------------------------------------------------------


def _codett_line(data: bytes, folder: Path) -> None:
    found = read_line(data, Place("x", 1))
    intent = found.intent
    law(BY_PAIR[intent.state, intent.action, intent.scenario] == intent, "no label of the task")
    law(all(isinstance(t.text, str) for t in (*found.history, found.target)), "a turn without text")
    law(found.target.role is Role.USER, "the target is not the user's")


def _codett_file(path: Path) -> None:
    source = CodettSource(path.parent)
    samples = list(source.samples())
    law(len(samples) == filled(path), f"{len(samples)} samples of {filled(path)} lines")
    law(len({s.id for s in samples}) == len(samples), "an id stands twice")
    for sample in samples:
        finite(sample.target)


def _clips(path: Path) -> None:
    source = ClipsSource(path)
    clips = source.clips
    lines = cells_of(path)
    law(len(clips) == len(lines) - 1, f"{len(clips)} clips of {len(lines) - 1} rows")
    law(len({c.path for c in clips}) == len(clips), "a clip stands twice")


def _echo_samples(path: Path) -> None:
    found = echo_tables.read_samples(path)
    for row, _ in found:
        survives(row, echo_tables.SampleRow)


def _echo_pairs(path: Path) -> None:
    found = echo_tables.read_pairs(path)
    for row, _ in found:
        survives(row, echo_tables.PairRow)


_COLUMNS = {
    "sample_id": "id", "group_id": "group", "role": "kind", "insertion": "words",
    "insertion_start": "from", "insertion_end": "to", "system_end": "end", "history": "before",
    "spoken_prefix": "said",
}  # fmt: skip
_MAPPING = {
    "name": "theirs", "samples": "s.csv", "pairs": "p.csv", "columns": _COLUMNS,
    "pair_columns": {"pair_id": "pair", "group_id": "group", "sample_a": "a", "sample_b": "b"},
    "roles": {"int": "interruption", "bc": "backchannel", "off": "off_talk"}, "language": "en",
    "speakers": {"u": "user", "s": "system"}, "times": 0.001,
}  # fmt: skip


def _echo_mapping(path: Path) -> None:
    survives(echo_tables.read_mapping(path), echo_tables.ColumnMapping)


def _their_samples(name: str) -> Callable[[Path], None]:
    mapping = codec.convert({**_MAPPING, "samples": name}, echo_tables.ColumnMapping)

    def check(path: Path) -> None:
        found = echo_tables.map_samples(path.parent, mapping)
        for row, _ in found:
            survives(row, echo_tables.SampleRow)
        _nothing_swallowed(path, len(found))

    return check


def _their_pairs(path: Path) -> None:
    mapping = codec.convert({**_MAPPING, "pairs": path.name}, echo_tables.ColumnMapping)
    found = echo_tables.map_pairs(path.parent, mapping)
    for row, _ in found:
        survives(row, echo_tables.PairRow)
    _nothing_swallowed(path, len(found))


def _nothing_swallowed(path: Path, found: int) -> None:
    """Every row of a table of plain cells is a row that was read, with as many cells as columns."""
    if path.suffix not in (".csv", ".tsv"):
        return
    lines = cells_of(path)
    law(found == max(0, len(lines) - 1), f"{found} rows read of {len(lines) - 1}")
    law(len({len(line) for line in lines}) <= 1, "a row with more or fewer cells than columns")


def cells_of(path: Path) -> list[list[str]]:
    """Return the rows of a table by the strict rules: a quotation mark that opens also closes."""
    text = path.read_bytes().decode("utf-8-sig")
    mark = "\t" if path.suffix == ".tsv" else ","
    try:
        return [
            r for r in csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True) if r
        ]
    except csv.Error as error:
        raise Wrong(f"a broken table is read ({error})") from None


def _their_csv() -> bytes:
    head = ",".join(_COLUMNS.values())
    return (
        f"{head}\ns1,g1,int,wait,1000,1800,3000,,so I\n"
        f's2,g1,bc,uh huh,1000,1500,3000,"[{{""role"": ""u"", ""text"": ""hi""}}]",well\n'
    ).encode()


@cache
def _their_parquet() -> bytes:
    import duckdb

    out = Path("/tmp") / f"torture-{id(_COLUMNS)}.parquet"
    cells = {"from": "1000", "to": "1800", "end": "3000", "kind": "'int'", "before": "NULL"}
    wanted = ", ".join(f"""{cells.get(v, "'x'")} AS "{v}\"""" for v in _COLUMNS.values())
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {wanted}) TO '{out}' (FORMAT parquet)")
    data = out.read_bytes()
    out.unlink()
    return data


_SAMPLE = {
    "sample_id": "g1-i", "group_id": "g1", "language": "en", "role": "interruption",
    "insertion": "wait", "events": {"insertion_start": 1.0, "insertion_end": 1.8,
                                    "system_end": 3.0},
    "history": [{"role": "user", "text": "hi"}], "spoken_prefix": "so",
    "audio": {"user": {"path": "u.wav"}}, "words": [{"text": "wait", "start": 1.0, "end": 1.4}],
    "listening": {"emphasis_db": 3.0, "emphasis_s": 0.2, "reaction_s": 0.3, "fade_s": 0.4},
}  # fmt: skip
_PAIR = {"pair_id": "p", "group_id": "g1", "sample_a": "g1-i", "sample_b": "g1-b"}


def _echo_head(path: Path) -> None:
    source = EchoSource(path.parent)
    described = source.describe()
    finite(described)
    law(isinstance(described["name"], str), "no name")


# ---- manifests, splits, stimuli -----------------------------------------------------------------


def _manifest(path: Path) -> None:
    found = read_manifest(path.parent)
    law(found is not None, "a manifest that is there is not seen")
    survives(found, Manifest)


def _pcm_cache(path: Path) -> None:
    """Whatever the cache of hashes holds, the hash of a file that is there is its own."""
    root = path.parent / "data"
    root.mkdir()
    (root / "a.wav").write_bytes(_wav())
    import hashlib

    key = hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:24]
    cache_ = path.parent / "c"
    (cache_ / "pcm").mkdir(parents=True)
    path.replace(cache_ / "pcm" / f"{key}.json")
    found = pcm_digests(root, ["a.wav"], None, cache=cache_)
    law(found == {"a.wav": FileAudio(root / "a.wav").digest()}, "a hash out of a damaged cache")


def _splits(path: Path) -> None:
    found = Splits.read(path)
    law(set(found.by_id.values()) <= set(SPLITS), "another split")
    plain = codec.parse(path.read_bytes())
    named = [i for ids in plain.values() if isinstance(ids, list) for i in ids]
    law(sorted(named) == sorted(found.by_id), "an id is lost or made up")


def _stimuli(path: Path) -> None:
    found = read_stimuli(path)
    law(len(found) == filled(path), f"{len(found)} turns of {filled(path)} lines")
    for one in found:
        survives(one, Stimulus)
        law(all(w.start <= w.end for w in one.words), "a word backwards")


_STIMULUS = {
    "id": "t1", "list": "A", "turn_end": 2.5, "conversation": "c", "offset": 10.0, "speaker": "x",
    "words": [{"text": "well", "start": 0.1, "end": 0.4}, {"text": "yes", "start": 0.5, "end": 0.9}],
}  # fmt: skip


def _responses(path: Path) -> None:
    root = path.parent
    (root / "stimuli.jsonl").write_bytes(rows(_STIMULUS, {**_STIMULUS, "id": "t2", "offset": 20.0}))
    (root / "roster.json").write_text('[{"id": "p1", "list": "A"}, {"id": "p2", "list": "A"}]')
    found = read_panels(root, read_stimuli(root / "stimuli.jsonl"))
    law(found is not None, "a labelled set is seen as unlabelled")
    kept = sum(len(p.onsets) for p in found.values())
    law(kept == filled(path), f"{kept} answers of {filled(path)} lines")
    for panel in found.values():
        for onsets in panel.onsets.values():
            law(list(onsets) == sorted(onsets), "onsets out of order")
            law(all(isinstance(t, int) for t in onsets), "onsets that are no ticks")


def _roster(path: Path) -> None:
    root = path.parent
    (root / "stimuli.jsonl").write_bytes(rows(_STIMULUS))
    (root / "responses.jsonl").write_bytes(
        rows({"participant": "p1", "stimulus": "t1", "onsets": [1]})
    )
    found = read_panels(root, read_stimuli(root / "stimuli.jsonl"))
    law(found is not None and "p1" in found["t1"].roster, "a listener is lost")


def _lists(path: Path) -> None:
    found = read_lists(path.parent)
    survives(found, Lists)


_LISTS = {
    "seed": 1, "rules": {"gap": 2.0},
    "lists": [{"name": "A", "reversed": False, "audio": "a.wav", "rate": 16000, "frames": 90000,
               "pcm": "0" * 64, "items": [{"stimulus": "t1", "beep": 0, "start": 8000, "end": 40000,
                                           "stop": 60000}]}],
}  # fmt: skip


# ---- two channels -------------------------------------------------------------------------------


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


# ---- audio --------------------------------------------------------------------------------------


@cache
def _wav(container: str = "WAV", subtype: str = "PCM_16", channels: int = 1) -> bytes:
    import soundfile

    tone = 0.3 * np.sin(2 * np.pi * 200 * np.arange(1600) / RATE)
    buffer = io.BytesIO()
    frames = np.stack([tone] * channels, axis=1)
    rate = 16_000 if subtype == "OPUS" else RATE
    soundfile.write(buffer, frames, rate, format=container, subtype=subtype)
    return buffer.getvalue()


@cache
def _sphere() -> bytes:
    body = (3000 * np.sin(2 * np.pi * 200 * np.arange(1600) / RATE)).astype("<i2").tobytes()
    head = (
        "NIST_1A\n   1024\nchannel_count -i 1\nsample_count -i 1600\nsample_rate -i 8000\n"
        "sample_n_bytes -i 2\nsample_byte_format -s2 01\nsample_sig_bits -i 16\n"
        "sample_coding -s3 pcm\nend_head\n"
    )
    return head.encode().ljust(1024) + body


def _audio(path: Path) -> None:
    info = probe(path)
    law(info.rate > 0 and info.frames > 0 and info.channels > 0, f"{info}")
    stop = min(info.frames, 400_000)
    samples = decode(path, start=0, stop=stop, channel=0)
    law(samples.shape == (stop,), f"{samples.shape} for {stop} frames")
    law(np.isfinite(samples).all(), "a sample that is not finite")
    if stop > 10:
        half = decode(path, start=stop // 2, stop=stop, channel=0)
        law(
            np.array_equal(half, samples[stop // 2 :]),
            "reading from the middle gives other samples",
        )


def _sphere_head(path: Path) -> None:
    found = sphere_header(path)
    law(found is None or (found.promised >= 0 and found.held >= 0), f"{found}")


def _remote(data: bytes, folder: Path) -> None:
    samples, rate = read_wav(data)
    law(rate > 0, f"a rate of {rate} Hz")
    law(samples.ndim == 1 and np.isfinite(samples).all(), "not one finite channel")


def _pool(path: Path) -> None:
    import dataclasses

    from floorbench.build.sound.pools import Recording

    given = {f.name: "x" for f in dataclasses.fields(Recording)} | {"path": path}
    samples = samples_of(Recording(**given), RATE)
    law(np.isfinite(samples).all() and len(samples), "nothing or not finite")


def _credit(path: Path) -> None:
    law(isinstance(_credits(path), dict), "no table")


def _codett_seed() -> bytes:
    return rows(
        {"id": "d1-1", "dialogue": "d1", "language": "en", "messages": [
            {"role": "user", "content": "系统当前状态: <|SystemSpeaking|> 输入内容：uh huh"},
            {"role": "assistant", "content": "<|SystemSpeaking|><|Maintain|><|Backchannel|>"}]},
    )  # fmt: skip


AUDIO_TOKENS = (b"RIFF", b"RF64", b"WAVE", b"ds64", b"data", b"fmt ", b"LIST", b"OggS", b"fLaC",
                b"NIST_1A", b"end_head", b"sample_count -i ", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff",
                b"OpusHead", b"ID3")  # fmt: skip

TARGETS = [
    Target(
        name="data-codett-line",
        seeds=lambda: [_codett_seed().strip()],
        read=_codett_line,
        covers=("floorbench.datasets.codett_lines:read_line",
                "floorbench.datasets.codett_lines:read_gold"),
        tokens=(b"<|Dismiss|>", b"<|SystemIdle|>", b'"messages"', b'"content"', b"<|", b"|>"),
    ),
    Target(
        name="data-codett-file",
        seeds=lambda: [_codett_seed()],
        read=file("SystemSpeaking/EN/maintain.jsonl", _codett_file),
        covers=("floorbench.datasets.codett:CodettSource._lines",),
        tokens=(b'"id"', b'"dialogue"', b'"language"'),
        share=0.5,
    ),
    Target(
        name="data-clips-tsv",
        seeds=lambda: [b"path\tlabel\ttext\tlanguage\na.wav\tcomplete\tyes\ten\nb.wav\twait\thm\ten\n"],
        read=file("labels.tsv", _clips),
        covers=("floorbench.datasets.clips:ClipsSource._from_table",),
        tokens=(b"complete", b"incomplete", b"backchannel", b'"', b"\t"),
    ),
    Target(
        name="data-clips-csv",
        seeds=lambda: [b'path,label,text\na.wav,complete,"yes, it is"\nb.wav,incomplete,so\n'],
        read=file("labels.csv", _clips),
        covers=("floorbench.datasets.clips:ClipsSource._from_table",),
        tokens=(b"complete", b"incomplete", b'"', b'""', b","),
    ),
    Target(
        name="data-echo-samples",
        seeds=lambda: [rows(_SAMPLE, {**_SAMPLE, "sample_id": "g1-b", "role": "backchannel"})],
        read=file("samples.jsonl", _echo_samples),
        covers=("floorbench.datasets.echo_tables:read_samples",
                "floorbench.datasets.echo_tables:_lines"),
    ),
    Target(
        name="data-echo-pairs",
        seeds=lambda: [rows(_PAIR, {**_PAIR, "pair_id": "q"})],
        read=file("pairs.jsonl", _echo_pairs),
        covers=("floorbench.datasets.echo_tables:read_pairs",),
    ),
    Target(
        name="data-echo-mapping",
        seeds=seeds(_MAPPING),
        read=file("mapping.json", _echo_mapping),
        covers=("floorbench.datasets.echo_tables:read_mapping",),
    ),
    Target(
        name="data-echo-their-csv",
        seeds=lambda: [_their_csv()],
        read=file("s.csv", _their_samples("s.csv")),
        covers=("floorbench.datasets.echo_tables:map_samples",
                "floorbench.datasets.echo_tables:_cells", "floorbench.datasets.echo_tables:_seconds",
                "floorbench.datasets.echo_tables:_table", "floorbench.datasets.echo_tables:_history"),
        tokens=(b'"', b'""', b",", b"int", b"bc"),
    ),
    Target(
        name="data-echo-their-jsonl",
        seeds=lambda: [rows(*({v: {"from": 1000, "to": 1800, "end": 3000, "kind": "int",
                                   "before": [{"role": "u", "text": "x"}]}.get(v, f"{v}{n}")
                               for v in _COLUMNS.values()} for n in range(2)))],
        read=file("s.jsonl", _their_samples("s.jsonl")),
        covers=("floorbench.datasets.echo_tables:map_samples",),
    ),
    Target(
        name="data-echo-their-parquet",
        seeds=lambda: [_their_parquet()],
        read=file("s.parquet", _their_samples("s.parquet")),
        covers=("floorbench.datasets.echo_tables:_parquet",),
        native=True,
        share=0.05,
    ),
    Target(
        name="data-echo-their-pairs",
        seeds=lambda: [b"pair\tgroup\ta\tb\np1\tg1\ts1\ts2\np2\tg1\ts2\ts3\n"],
        read=file("p.tsv", _their_pairs),
        covers=("floorbench.datasets.echo_tables:map_pairs",),
        tokens=(b'"', b"\t"),
    ),
    Target(
        name="data-echo-head",
        seeds=seeds({"format": "floorbench-echo-1", "name": "x", "samples": "samples.jsonl",
                     "pairs": "pairs.jsonl", "system_channel": "planned"}),
        read=file(MANIFEST, _echo_head),
        covers=("floorbench.datasets.echo:_head",),
    ),
    Target(
        name="data-manifest",
        seeds=seeds({"name": "x", "version": "1", "licence": "CC0-1.0", "notice": "mind", "ranks": False,
                     "pcm": {"a.wav": "0" * 64}, "clips": {"c": {"audio": "b.wav",
                                                                 "pcm_sha256": "1" * 64}}}),
        read=file(MANIFEST, _manifest),
        covers=("floorbench.datasets.manifest:read_manifest",),
    ),
    Target(
        name="data-pcm-cache",
        seeds=seeds({"a.wav": [3244, 1, "0" * 64]}, {}),
        read=file("cache.json", _pcm_cache),
        covers=("floorbench.datasets.manifest:_Store.__init__",
                "floorbench.datasets.manifest:_Store.digest"),
        share=0.5,
    ),
    Target(
        name="data-splits",
        seeds=seeds({"train": ["a", "b"], "val": ["c"], "test": ["d"], "source": "theirs"}),
        read=file("splits.json", _splits),
        covers=("floorbench.datasets.two_channel_splits:Splits.read",),
        tokens=(b'"train"', b'"dev"', b'"Test"'),
    ),
    Target(
        name="data-trp-stimuli",
        seeds=lambda: [rows(_STIMULUS, {**_STIMULUS, "id": "t2", "offset": 20.0})],
        read=file("stimuli.jsonl", _stimuli),
        covers=("floorbench.datasets.trp_files:read_stimuli", "floorbench.datasets.trp_files:_lines"),
    ),
    Target(
        name="data-trp-responses",
        seeds=lambda: [rows({"participant": "p1", "stimulus": "t1", "onsets": [0.5, 1.25]},
                            {"participant": "p2", "stimulus": "t2", "onsets": []})],
        read=file("responses.jsonl", _responses),
        covers=("floorbench.datasets.trp_files:read_panels", "floorbench.datasets.trp_files:_onsets"),
    ),
    Target(
        name="data-trp-roster",
        seeds=seeds([{"id": "p1", "list": "A"}, {"id": "p2", "list": "A", "reversed": True,
                                                 "heard": ["t1"]}]),
        read=file("roster.json", _roster),
        covers=("floorbench.datasets.trp_files:_roster",),
    ),
    Target(
        name="data-trp-lists",
        seeds=seeds(_LISTS),
        read=file(LISTS, _lists),
        covers=("floorbench.datasets.trp_lists:read_lists",),
    ),
    Target(
        name="data-fisher",
        seeds=lambda: [_FISHER],
        read=file("fe_03_00001.txt", _fisher),
        covers=("floorbench.datasets.two_channel_words:FisherSource._load",),
        tokens=(b" A: ", b" B: ", b"#", b" C: "),
    ),
    Target(
        name="data-candor",
        seeds=lambda: [_CANDOR],
        read=file("c1/transcript_audiophile.csv", _candor),
        covers=("floorbench.datasets.two_channel_words:CandorSource._load",
                "floorbench.datasets.two_channel_words:_csv_rows"),
        tokens=(b'"', b'""', b",nan,", b"a1", b"b2"),
    ),
    Target(
        name="data-ami",
        seeds=lambda: [_NXT],
        read=file("ES2002a.A.words.xml", _ami),
        covers=("floorbench.datasets.two_channel_words:nxt_words",),
        tokens=(b'starttime="', b'endtime="', b'punc="true"', b"<w ", b"</w>", b"<!DOCTYPE x>"),
    ),
    Target(
        name="data-switchboard",
        seeds=lambda: [_SIDE],
        read=file("sw2001A-ms98-a-word.text", _switchboard),
        covers=("floorbench.datasets.two_channel_words:SwitchboardSource._load",),
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
    *(
        Target(
            name=f"audio-{name}",
            seeds=lambda data=data: [d() for d in data],
            read=file(f"a{suffix}", _audio),
            covers=("floorbench.audio.decode:probe", "floorbench.audio.decode:decode",
                    "floorbench.audio.containers:check_complete"),
            tokens=AUDIO_TOKENS,
            native=True,
            share=0.5,
        )
        for name, suffix, data in (
            ("wav", ".wav", (_wav, lambda: _wav("WAV", "FLOAT"),
                             lambda: _wav("RF64", "PCM_24", 2), lambda: _wav("WAV", "ULAW"))),
            ("flac", ".flac", (lambda: _wav("FLAC"), lambda: _wav("FLAC", "PCM_24", 2))),
            ("ogg", ".ogg", (lambda: _wav("OGG", "VORBIS"),)),
            ("opus", ".opus", (lambda: _wav("OGG", "OPUS"),)),
            ("mp3", ".mp3", (lambda: _wav("MP3", "MPEG_LAYER_III"),)),
            ("sphere", ".sph", (_sphere,)),
        )
    ),
    Target(
        name="audio-sphere-header",
        seeds=lambda: [_sphere()[:1100]],
        read=file("a.sph", _sphere_head),
        covers=("floorbench.audio.sphere:sphere_header",),
        tokens=(b"sample_count -i ", b"channel_count -i ", b"sample_n_bytes -i ", b"end_head\n",
                b"sample_coding -s4 ulaw\n", b"pcm,embedded-shorten-v2.00", b"NIST_1A\n"),
    ),
    Target(
        name="audio-remote-wav",
        seeds=lambda: [_wav(), _wav("WAV", "PCM_16", 2)],
        read=_remote,
        covers=("floorbench.build.speech.remote:read_wav", "floorbench.build.speech.remote:_pcm"),
        tokens=AUDIO_TOKENS,
    ),
    Target(
        name="audio-pool",
        seeds=lambda: [_wav()],
        read=file("a.wav", _pool),
        covers=("floorbench.build.sound.pools:samples_of",),
        tokens=AUDIO_TOKENS,
        native=True,
        share=0.3,
    ),
    Target(
        name="audio-credits",
        seeds=seeds({"a.wav": {"author": "x", "licence": "CC0-1.0"}}),
        read=file("credits.json", _credit),
        covers=("floorbench.build.sound.pools:_credits",),
    ),
]  # fmt: skip
