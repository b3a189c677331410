"""Linking samples to pairs: members by side, trials apart, outcomes of both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from floorbench.datasets.echo import EchoSource
from floorbench.datasets.echo_tables import ROLES
from floorbench.metrics.base import FAILED, OK
from floorbench.tasks.echo_answers import ACTIONS, Said
from floorbench.tasks.echo_pairs import PairUnits
from support import echo_tiny

YIELD, KEEP = Said(OK, "yield"), Said(OK, "keep")


@pytest.fixture
def source(tmp_path: Path) -> EchoSource:
    return EchoSource(echo_tiny.build(tmp_path / "set", languages=("zh",)))


def test_members_stand_on_the_side_of_their_role(source: EchoSource) -> None:
    units = PairUnits(languages=("zh",), actions=ACTIONS, roles=ROLES)
    for trial in (0, 1):
        for sample in reversed(list(source.samples())):
            role = sample.target["role"]
            broken = role == "off_talk" and trial == 1
            said = Said(FAILED) if broken else YIELD if role == "interruption" else KEEP
            units.add(sample, trial, role, (said, YIELD))
    scored = units.scored()
    assert len(scored) == 2 * 6
    assert set(scored.weight) == {0.5}
    assert len(scored.clusters) == 4
    gold = scored.vocab["gold"]
    for i, pair in enumerate(scored.units or ()):
        kind = scored.vocab["contrast"][scored.column("contrast")[i]]
        assert gold[scored.column("gold_a")[i]] == ("yield" if kind[0] == "I" else "keep")
        assert gold[scored.column("gold_b")[i]] == "keep"
        assert pair.endswith({"I-B": "ib", "I-O": "io", "B-O": "bo"}[kind])
    # Tail 1 s was answered with a yield by everybody; at 0 s the off-talk of trial 1 failed.
    assert np.all(scored.column("predicted_b_tail1") == gold.index("yield"))
    failed = scored.column("outcome") == FAILED
    assert failed.sum() == 4
    assert np.array_equal(failed, scored.column("outcome_b") == FAILED)
