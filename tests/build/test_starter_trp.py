"""The synthetic TRP set is what its generator makes, and has the shape it promises."""

from __future__ import annotations

from itertools import pairwise

import pytest

from floorbench.build.starter_trp import (
    COMPLETE,
    LISTENERS,
    REFRACTORY,
    SILENT,
    parse_turn,
    write,
)
from floorbench.build.starter_trp_texts import TURNS
from floorbench.datasets.open import STARTER
from floorbench.datasets.trp import TrpSource

FILES = ("stimuli.jsonl", "roster.json", "responses.jsonl", "manifest.json")


def test_the_committed_files_are_what_the_generator_writes(tmp_path):
    write(tmp_path)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (STARTER / "trp" / name).read_bytes(), name


def test_another_seed_makes_another_set(tmp_path):
    write(tmp_path, seed=1)
    assert (tmp_path / FILES[0]).read_bytes() != (STARTER / "trp" / FILES[0]).read_bytes()


def test_listeners_lists_and_silence():
    source = TrpSource(STARTER / "trp")
    roster = {p for s in source.stimuli for p in source.panels[s.id].roster}
    assert len(roster) == 2 * LISTENERS >= 40
    for listed in ("A", "B"):
        turns = [s for s in source.stimuli if s.list == listed]
        assert len(turns) == 7
        heard = set(source.panels[turns[0].id].roster)
        spoke = {p for s in turns for p in source.panels[s.id].onsets}
        assert len(heard) == LISTENERS
        assert len(heard - spoke) == SILENT


def test_nobody_responds_twice_within_a_second():
    source = TrpSource(STARTER / "trp")
    for panel in source.panels.values():
        for onsets in panel.onsets.values():
            gaps = [b - a for a, b in pairwise(onsets)]
            assert all(gap >= REFRACTORY * 1_000_000 for gap in gaps)


@pytest.mark.parametrize("bad", ["well;| no", "a ||"])
def test_texts_outside_the_notation_are_refused(bad):
    with pytest.raises(ValueError, match="not in the notation"):
        parse_turn(bad)


def test_every_turn_ends_complete():
    assert all(parse_turn(text)[-1].place == COMPLETE for text in TURNS.values())
