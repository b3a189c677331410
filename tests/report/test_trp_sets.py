from pathlib import Path

import pytest

from floorbench import codec
from floorbench.datasets.trp_files import Participant, Responses
from floorbench.report.tables import as_text
from floorbench.report.trp_sets import statistics, table
from support.listening import make_set

TURNS = {"one": 2.0, "two": 2.5, "three": 3.0, "four": 3.5}


def test_unheard_lists(tmp_path: Path) -> None:
    make_set(tmp_path / "set", count=2, turns=TURNS)
    found = statistics(tmp_path / "set")
    assert [s.name for s in found] == ["A", "B"]
    assert sum(s.stimuli for s in found) == 4
    assert sum(s.words for s in found) == 4 + 5 + 6 + 7
    assert sum(s.turns_s for s in found) == pytest.approx(11.0)
    # beep 0.15, silence 0.5 before and 1 s after each turn
    assert sum(s.heard_s or 0 for s in found) == pytest.approx(11.0 + 4 * 1.65)
    assert {s.participants for s in found} == {None}
    shown = as_text(table(found))
    assert "paper, list 1 †" in shown
    assert "846.3" in shown


def test_heard_lists_merge_the_reversed_twin(tmp_path: Path) -> None:
    make_set(tmp_path / "set", count=1, turns={"one": 2.0, "two": 2.5})
    roster = [Participant(id="p1", list="A"), Participant(id="p2", list="A", reversed=True)]
    (tmp_path / "set" / "roster.json").write_text(codec.encode_pretty(roster))
    lines = [
        Responses(participant="p1", stimulus="one", onsets=(0.5, 1.5)),
        Responses(participant="p2", stimulus="two", onsets=(1.0,)),
    ]
    data = b"".join(codec.encode(x) + b"\n" for x in lines)
    (tmp_path / "set" / "responses.jsonl").write_bytes(data)
    (found,) = statistics(tmp_path / "set")
    assert (found.participants, found.responses) == (2, 3)
    (row, *_) = table([found]).rows
    assert row.cells["responses_each"].value == 1.5
