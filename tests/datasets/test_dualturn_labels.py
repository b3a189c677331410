import csv
import json
from pathlib import Path

import duckdb
import numpy as np
import pytest

from floorbench.core.vocab import Role
from floorbench.datasets.dualturn_labels import (
    Labelled,
    LabelRules,
    TableRow,
    labelled,
    totals,
    training_phrases,
    write_table,
)
from floorbench.datasets.dualturn_rows import FrameRowsSource
from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.errors import DataError, UsageError
from floorbench.events.dualturn import SignalRules, dualturn_signals
from support import two_channel_tiny as tiny
from support.frame_rows import row, write

GOLDEN = Path(__file__).parents[1] / "golden" / "dualturn_swb_ms98.csv"
RULES = LabelRules(protocol="dualturn-4s", min_gap=0)


def all_of(source, rules=RULES) -> list[Labelled]:
    return list(labelled(source, rules, training_phrases(source, rules)))


@pytest.fixture
def source(tmp_path: Path) -> SwitchboardSource:
    folder = tiny.build(tmp_path / "calls", tiny.CALLS[:5])
    return SwitchboardSource(folder, splits=str(folder / "splits.json"))


def test_eot_and_hold_partition_the_segments_that_are_no_backchannel(source) -> None:
    for counts, _ in all_of(source):
        for side in counts.sides.values():
            open_ones = side["segments"] - side["BC"] - side["EOT"] - side["HOLD"]
            assert open_ones in (0, 1)


def test_the_table_recounts_every_figure(source) -> None:
    found = all_of(source)
    rows = [r for one in found for r in one.rows]
    sums = totals(one.counts for one in found)
    for label in ("BC", "EOT", "HOLD", "open", "BOT"):
        assert sum(r.kind == "signal" and r.label == label for r in rows) == sums["sides"][label]
    ends = [r for r in rows if r.kind == "signal" and r.label != "BOT"]
    assert len(ends) == sums["sides"]["segments"]
    for rule in ("ST_started", "ST_overlapping"):
        assert sum(r.rule == rule for r in rows) == sums["starts"][rule]
    assert sum(sums["starts"].values()) == sums["events"]["ST"]
    for label in ("ST", "CL", "SL", "CT", "BC"):
        assert sum(r.kind == "action" and r.label == label for r in rows) == sums["events"][label]
    for label in ("C", "B", "T"):
        assert sum(r.kind == "word" and r.label == label for r in rows) == sums["words"][label]
    assert sums["words"]["B"] > 0 < sums["words"]["T"]


def test_phrases_come_from_the_training_sessions_only(source) -> None:
    assert "yeah" in training_phrases(source, RULES).phrases
    name = source.path / "sw9005A-ms98-a-word.text"
    name.write_text(name.read_text().replace(" yeah\n", " indeed\n"))
    assert "indeed" not in training_phrases(SwitchboardSource(
        source.path, splits=str(source.path / "splits.json")), RULES).phrases  # fmt: skip


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_the_table_is_stored_as_it_is(source, tmp_path: Path, suffix: str) -> None:
    rows = [r for one in all_of(source) for r in one.rows]
    path = tmp_path / f"events{suffix}"
    assert write_table(path, rows) == len(rows)
    if suffix == ".jsonl":
        back = [TableRow(**json.loads(line)) for line in path.read_text().splitlines()]
    else:
        found = duckdb.sql(f"SELECT session, kind, role, frame, label, rule FROM '{path}'")
        back = [TableRow(*r) for r in found.fetchall()]
    assert back == rows
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == [path.name]


def test_another_suffix_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"FB103"):
        write_table(tmp_path / "events.txt", [])
    assert not list(tmp_path.iterdir())


def test_short_and_silent_sessions_are_counted_exclusions(tmp_path: Path) -> None:
    folder = tiny.build(tmp_path, ("sw9001",), seconds=30.0)
    for side in "AB":
        tiny.write_side(folder / f"sw9002{side}-ms98-a-word.text", f"sw9002{side}", [], 60.0)
    found = all_of(SwitchboardSource(folder, splits="none"))
    assert totals(f.counts for f in found)["excluded"] == {
        "shorter than 500 frames: no actions": 1,
        "no events": 1,
    }
    assert not found[1].rows


def test_overlaps_that_both_begin_at_once_are_counted_and_give_no_action(tmp_path: Path) -> None:
    for side in "AB":
        words = [(10.0, 14.0, "so"), (58.0, 60.0, "and")] if side == "A" else [(10.0, 12.0, "well")]
        tiny.write_side(tmp_path / f"sw9001{side}-ms98-a-word.text", f"sw9001{side}", words, 60.0)
    (found,) = all_of(SwitchboardSource(tmp_path, splits="none"))
    assert found.counts.counted == {"overlaps that both begin in one frame, no action": 1}
    assert found.counts.events["SL"] == found.counts.events["CT"] == 0
    # Speech that runs to the end has no label, but the table still shows it.
    assert found.counts.sides["user"]["open"] == 1
    assert ("user", 749, "open") in {(r.role, r.frame, r.label) for r in found.rows}


def test_vap_kinds_and_its_own_gap_rule(source) -> None:
    found = all_of(source, LabelRules(protocol="vap-1s", min_gap=0))
    sums = totals(f.counts for f in found)["events"]
    rows = [r for f in found for r in f.rows]
    assert sums["shift"] > 0 < sums["hold"]
    assert sum(sums.values()) == len(rows)
    with pytest.raises(UsageError, match=r"FB103"):
        LabelRules(protocol="vap-1s", min_gap=2)
    with pytest.raises(UsageError, match=r"FB103"):
        LabelRules(protocol="vap", min_gap=0)


def test_stored_labels_are_compared_with_ours(tmp_path: Path) -> None:
    plain = row("a", 1)
    write(tmp_path / "rows.parquet", [plain])
    assert set(all_of(FrameRowsSource(tmp_path))[0].counts.stored.values()) == {0}
    flipped = [1 - plain["eot_ch0"][0], *plain["eot_ch0"][1:]]
    write(tmp_path / "rows.parquet", [{**plain, "eot_ch0": flipped}])
    assert all_of(FrameRowsSource(tmp_path))[0].counts.stored["eot"] == 1


@pytest.mark.parametrize("kind", ["disjoint", "cumulative"])
def test_stored_future_activity_tells_which_windows_were_meant(tmp_path: Path, kind: str) -> None:
    """What was published does not say how the four windows lie: the counts show it."""
    whole = row("a", 1)
    vad = {
        r: np.array(whole[f"vad_ch{c}"], dtype=bool) for c, r in enumerate((Role.USER, Role.SYSTEM))
    }
    found = dualturn_signals(vad, SignalRules(min_gap=0, fvad=kind))  # type: ignore[arg-type]
    for channel, own in enumerate(found.channels.values()):
        whole[f"fvad_ch{channel}"] = np.nan_to_num(own.fvad).ravel().tolist()
    write(tmp_path / "rows.parquet", [whole])
    for asked in ("disjoint", "cumulative"):
        (one,) = all_of(FrameRowsSource(tmp_path, fvad=asked))  # type: ignore[arg-type]
        assert (one.counts.stored["fvad"] == 0) == (asked == kind)
    write(tmp_path / "rows.parquet", [{**whole, "fvad_ch0": whole["fvad_ch0"][:-1]}])
    with pytest.raises(DataError, match=r"FB255.*2399 values, not 4 x 600"):
        all_of(FrameRowsSource(tmp_path))


def test_golden_counts_of_two_calls(real_data: Path) -> None:
    source = SwitchboardSource(real_data / "swb_ms98")
    found = {f.counts.session: f.counts for f in all_of(source)}
    with GOLDEN.open() as file:
        for line in csv.DictReader(x for x in file if not x.startswith("#")):
            side = found[line["call"]].sides[line["role"]]
            for name in ("segments", "bc", "eot", "hold"):
                key = name if name == "segments" else name.upper()
                assert side[key] == int(line[name]), (line["call"], line["role"], name)
    assert totals(found.values())["sides"]["HOLD"] == 6703
    assert set(Role) > {Role.USER, Role.SYSTEM}


def test_closing_gaps_moves_the_holds(real_data: Path) -> None:
    source = SwitchboardSource(real_data / "swb_ms98")
    found = all_of(source, LabelRules(protocol="dualturn-4s", min_gap=4))
    assert totals(f.counts for f in found)["sides"]["HOLD"] == 3705
