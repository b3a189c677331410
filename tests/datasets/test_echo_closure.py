"""Table 1 and the lexical-closure audit, counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from floorbench.datasets.echo import EchoSource
from floorbench.datasets.echo_closure import closure, size
from floorbench.datasets.echo_tables import EventsRow, SampleRow
from support import echo_tiny


def item(role: str, text: str) -> SampleRow:
    return SampleRow(
        sample_id=text,
        group_id=text,
        language="zh",
        role=role,
        insertion=text,
        events=EventsRow(insertion_start=1.0, insertion_end=2.0, system_end=3.0),
    )


def test_table_1_of_a_small_set(tmp_path: Path) -> None:
    source = EchoSource(echo_tiny.build(tmp_path / "set", languages=("zh",)))
    found = size(source.rows, source.pairs)
    assert found.groups == {"I-B": 1, "I-O": 1, "B-O": 1, "three-role": 1}
    assert found.samples == {"interruption": 3, "backchannel": 3, "off_talk": 3}
    assert found.pairs == {"I-B": 2, "I-O": 2, "B-O": 2}


def test_only_backchannels_are_audited_and_marks_do_not_count() -> None:
    rare = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰"
    found = closure(
        [
            item("backchannel", "嗯，嗯。"),
            item("backchannel", "嗯 嗯"),
            item("backchannel", f"{rare}巳"),
            item("interruption", "停下"),
            item("off_talk", "午未申"),
        ]
    )
    assert found.instances == 3
    assert found.vocabulary == 17  # 嗯 and the sixteen others
    # 嗯 is the most frequent one; of the equal rest the first fourteen by code point are counted.
    assert found.frequent_only == pytest.approx(2 / 3)
    assert found.unique == pytest.approx(1 / 3)
    assert found.mean_length == {
        "interruption": 2.0,
        "backchannel": pytest.approx((2 + 2 + 16) / 3),
        "off_talk": 3.0,
    }


def test_an_item_of_marks_alone_is_made_of_no_frequent_characters() -> None:
    found = closure([item("backchannel", "……"), item("backchannel", "嗯")])
    assert (found.instances, found.frequent_only) == (2, 0.5)


def test_no_backchannel_gives_no_share() -> None:
    found = closure([item("interruption", "停下")])
    assert found.frequent_only is None
    assert found.unique is None
    assert found.mean_length["backchannel"] is None
