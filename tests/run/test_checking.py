from pathlib import Path
from typing import Any

import pytest

from floorbench import codec
from floorbench.core.prediction import Decision, Prediction
from floorbench.core.spec import SystemSpec
from floorbench.run.checking import check, in_words
from floorbench.run.engine import run
from support.engine_toys import Bad, Source, Task, choice, quiet

N = 4


def lines() -> list[bytes]:
    whole = [
        Prediction(sample_id=f"s{i}", condition=c, decision=Decision(label="yes"))
        for i in range(N)
        for c in ("h0", "h1")
    ]
    return [codec.encode(p) for p in whole]


def line(sample: str = "s0", condition: str = "h0", trial: int = 0, **decision: Any) -> bytes:
    made = Decision(**{"label": "yes", **decision})
    return codec.encode(
        Prediction(sample_id=sample, condition=condition, trial=trial, decision=made)
    )


def found(tmp_path: Path, content: list[bytes], **options: Any) -> list[str]:
    path = tmp_path / "p.jsonl"
    path.write_bytes(b"\n".join(content) + b"\n")
    return [f"{f.line} {f.code} {f.what}" for f in check(path, Task(), Source(N), **options)]


def test_a_whole_file_has_no_fault(tmp_path: Path) -> None:
    assert found(tmp_path, lines()) == []
    assert found(tmp_path, lines()[::-1]) == []


def test_every_fault_is_named_in_the_order_of_lines(tmp_path: Path) -> None:
    content = lines()
    content[1] = b"{"
    content[3] = line("s1", "h1", label="maybe")
    content += [
        line("s0", "h0"),
        line("s99"),
        line("s2", "h7"),
        line("s2", "h0", trial=-1),
        line("s99"),
    ]
    assert found(tmp_path, content) == [
        "2 FB201 not valid JSON (Input data was truncated)",
        "4 FB206 label 'maybe' is none of no, yes",
        "9 FB203 's0' condition 'h0' appears twice, first on line 1",
        "10 FB204 sample 's99' is not in the data or not asked for",
        "11 FB205 condition 'h7' is not due; due are 'h0', 'h1'",
        "12 FB205 trial -1 is not due; due are 0 to 0",
        "13 FB203 's99' condition 'h0' appears twice, first on line 10",
        "None FB207 1 missing: 's0' condition 'h1'",
    ]


def test_missing_keys_are_counted_and_the_first_named(tmp_path: Path) -> None:
    assert found(tmp_path, lines()[:1]) == [
        "None FB207 7 missing: 's0' condition 'h1', 's1' condition 'h0', 's1' condition 'h1', "
        "'s2' condition 'h0', 's2' condition 'h1', ..."
    ]


def test_trials_are_those_of_the_file_unless_given(tmp_path: Path) -> None:
    content = [*lines(), line("s0", "h0", trial=1)]
    assert found(tmp_path, content)[0].startswith("None FB207 7 missing: 's0' condition 'h1' tr")
    assert found(tmp_path, content, trials=1) == ["9 FB205 trial 1 is not due; due are 0 to 0"]


def test_what_is_due_can_be_narrowed(tmp_path: Path) -> None:
    only = [line(f"s{i}", "h0") for i in range(2)]
    assert found(tmp_path, only, conditions=["h0"], limit=2) == []
    assert len(found(tmp_path, only)) == 1


def test_what_a_system_does_not_declare_is_not_due(tmp_path: Path) -> None:
    english = SystemSpec(name="e", version="1", languages=("en",), context="text")
    faults = found(tmp_path, lines(), system=english)
    assert {f.split(" ", 2)[1] for f in faults} == {"FB204"}
    assert len(faults) == 4


@pytest.mark.parametrize("label", ["yes", None])
def test_outcomes_other_than_ok_need_no_label(tmp_path: Path, label: str | None) -> None:
    content = [*lines()[1:], line("s0", "h0", outcome="failed", label=label)]
    assert found(tmp_path, content) == []


def test_an_ok_decision_without_a_label_is_named(tmp_path: Path) -> None:
    content = [*lines()[1:], line("s0", "h0", label=None)]
    assert found(tmp_path, content) == ["8 FB206 label 'None' is none of no, yes"]


def test_what_the_engine_writes_is_free_of_faults(tmp_path: Path) -> None:
    folder = run(task=Task(), system=choice(Bad), source=Source(20), out=tmp_path, notify=quiet)
    assert check(folder.path, Task(), Source(20)) == []


def test_faults_print_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(line("s99"))
    fault = check(path, Task(), Source(1))[0]
    assert fault.at("p.jsonl") == (
        "FB204 p.jsonl:1 [s99]: sample 's99' is not in the data or not asked for"
    )


def test_a_wild_trial_number_is_a_fault_of_its_line(tmp_path: Path) -> None:
    wild = found(tmp_path, [*lines(), line("s0", "h0", trial=10**30)])
    assert wild[0] == f"9 FB205 trial {10**30} is not due; due are 0 to 1"
    assert wild[1].startswith("None FB207 8 missing: 's0' condition 'h0' trial 1")


def test_words_that_cannot_be_read_are_an_answer_and_no_fault() -> None:
    assert in_words(Decision(raw="well"))
    assert in_words(Decision(raw=""))
    for other in ({"label": "yes"}, {"scores": {"p": 0.5}}, {"raw": None}):
        assert not in_words(Decision(**{"raw": "well", **other}))
