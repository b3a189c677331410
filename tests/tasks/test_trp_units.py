from __future__ import annotations

from floorbench.datasets.trp import TrpSource
from floorbench.tasks.trp import TrpTask
from floorbench.tasks.trp_gold import slot_of
from floorbench.tasks.trp_units import stimulus_code
from support import scoring, trp_tiny

SYSTEM = scoring.system("p", modalities=("text", "question"))


def test_columns(tmp_path):
    task = TrpTask()
    samples = tuple(TrpSource(trp_tiny.build(tmp_path)).samples())
    scored, _ = scoring.score(task, samples, SYSTEM, lambda s, c: task.gold(s), trials=2)
    units = scored["slot"]
    assert len(units) == len(samples) * 2 * 2
    assert units.vocab["condition"] == ("none", "expert", "participant")
    assert units.vocab["list"] == ("A", "B")
    rows = {u: i for i, u in enumerate(units.units)}
    for sample in samples:
        row, (name, slot) = rows[sample.id], slot_of(sample)
        assert units.column("slot")[row] == slot - 1
        assert units.column("stimulus")[row] == stimulus_code(name)
        assert units.column("time")[row] == (4 * slot - 2) / 10
    assert units.column("responses").shape == (len(units), 7)
    assert units.column("final").sum() == 3 * 2 * 2
    assert units.column("strays").sum(axis=0).tolist() == [2, 0, 0]


def test_nothing_asked_is_nothing_scored():
    scored = TrpTask().scored([], system=SYSTEM)
    assert len(scored["slot"]) == 0
    assert TrpTask().measures(scored, system=SYSTEM) == []


def test_codes_are_the_names_alone():
    assert stimulus_code("a") != stimulus_code("b")
    assert stimulus_code("a") == stimulus_code("a") >= 0
