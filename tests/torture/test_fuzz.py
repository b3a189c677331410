"""Some hostile inputs through every reader and every parser (the whole: ``make torture``)."""

import pytest
from torture.fuzz.engine import fuzz
from torture.fuzz.registry import TARGETS
from torture.fuzz.target import Target, Wrong, law

INPUTS = 60


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_hostile_inputs_are_read_by_the_laws_or_refused(name, tmp_path):
    target = TARGETS[name]
    tally = fuzz(target, count=max(8, round(INPUTS * target.share)), seed=7, scratch=tmp_path)
    assert not tally.findings, [(f.what, f.data[:300]) for f in tally.findings]
    assert tally.equal, "not even a valid input is read"


BROKEN = {
    "wrong": lambda data, folder: law(b"7" not in data, "a seven"),
    "trace": lambda data, folder: {}["x"] if b"7" in data else None,
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_reader_that_breaks_is_found_and_its_input_made_small(kind, tmp_path):
    target = Target(
        name="broken",
        seeds=lambda: [b"a 12 b", b"c 3 x d"],
        read=BROKEN[kind],
        covers=("floorbench.codec:parse",),
    )
    found = fuzz(target, count=300, seed=1, scratch=tmp_path).findings
    assert [(f.what.partition(":")[0], f.data) for f in found] == [(kind, b"7")]


def test_a_reader_that_does_not_end_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("torture.fuzz.engine.LONGEST", 0.05)

    def endless(data, folder):
        while b"7" in data:
            pass

    target = Target(
        name="endless", seeds=lambda: [b"1 2 3"], read=endless, covers=("floorbench.codec:parse",)
    )
    tally = fuzz(target, count=120, seed=1, scratch=tmp_path)
    assert tally.hangs
    assert {f.what for f in tally.findings} == {"hang: longer than 0.05 s"}


def test_new_arcs_keep_an_input(tmp_path):
    target = TARGETS["answer-json"]
    tally = fuzz(target, count=400, seed=2, scratch=tmp_path)
    assert tally.notes["inputs kept"] > 0


def test_a_law_says_what_it_saw():
    with pytest.raises(Wrong, match="a seven"):
        law(False, "a seven")
