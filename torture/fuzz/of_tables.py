"""Dialogues in lines, tables of clips, and tables of matched contrasts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from floorbench import codec
from floorbench.core.vocab import Role
from floorbench.datasets import echo_tables
from floorbench.datasets.clips import ClipsSource
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.codett_labels import BY_PAIR
from floorbench.datasets.codett_lines import read_line
from floorbench.datasets.echo import EchoSource
from floorbench.datasets.manifest import MANIFEST
from floorbench.errors import Place
from torture.fuzz.files import cells_of, file, filled, rows, survives
from torture.fuzz.of_answers import seeds
from torture.fuzz.target import Target, finite, law


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
    finite([c.end for c in clips])


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


def _codett_seed() -> bytes:
    return rows(
        {"id": "d1-1", "dialogue": "d1", "language": "en", "messages": [
            {"role": "user", "content": "系统当前状态: <|SystemSpeaking|> 输入内容：uh huh"},
            {"role": "assistant", "content": "<|SystemSpeaking|><|Maintain|><|Backchannel|>"}]},
    )  # fmt: skip


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
        seeds=lambda: [b"path\tlabel\ttext\tlanguage\na.wav\tcomplete\tyes\ten\nb.wav\twait\thm\ten\n",
                       b"path\tlabel\tend\na.wav\tcomplete\t1.25\nb.wav\tincomplete\t\n"],
        read=file("labels.tsv", _clips),
        covers=("floorbench.datasets.clips:ClipsSource._from_table",
                "floorbench.datasets.clips:_seconds"),
        tokens=(b"complete", b"incomplete", b"backchannel", b'"', b"\t", b"end", b"nan", b"-1", b"1_0"),
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
]  # fmt: skip
