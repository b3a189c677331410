from pathlib import Path

import numpy as np
import pytest

from floorbench.core.prediction import Decision
from floorbench.core.vocab import Outcome
from floorbench.tasks.dualturn import DualTurnTask
from floorbench.tasks.dualturn_marks import ACTION_RULES
from floorbench.tasks.vap import VapTask
from support import scoring
from support.session_runs import calls, phrases

FAILED = Decision(outcome=Outcome.FAILED, reason="no")


@pytest.mark.parametrize("compat", [False, True])
def test_marks_are_the_units_in_their_order(tmp_path: Path, compat: bool) -> None:
    source = calls(tmp_path)
    task = DualTurnTask(min_gap=0, phrases=phrases(tmp_path, source), port_compat=compat)
    samples = [s for s in source.samples() if s.tags["split"] != "train"]
    units, _ = scoring.score(task, samples, scoring.system(), lambda s, c: FAILED)
    for kind, scored in units.items():
        labels = scored.vocab["gold"]
        told = [m.label for s in samples for m in task.marks(s)[kind].marks]
        assert told == [labels[code] for code in scored.column("gold").tolist()]
        assert len(told) > 20, kind


def test_marks_of_vap_are_the_units_in_their_order(tmp_path: Path) -> None:
    source, task = calls(tmp_path), VapTask()
    samples = [s for s in source.samples() if s.tags["split"] != "train"]
    units, _ = scoring.score(task, samples, scoring.system(), lambda s, c: FAILED)
    for kind, scored in units.items():
        for sample in samples:
            own = np.array([n == sample.id for n in scored.units or ()])
            gold = [scored.vocab["gold"][c] for c in scored.column("gold")[own].tolist()]
            known = task.marks(sample)[kind]
            assert [m.label for m in known.marks] == [known.names[g] for g in gold]
    assert len(units["shift_hold"]) > 10


def test_every_mark_has_a_rule_in_words(tmp_path: Path) -> None:
    source = calls(tmp_path)
    found = DualTurnTask(min_gap=0).marks(next(iter(source.samples())))
    assert {m.rule.partition(": ")[2] for m in found["action"].marks} <= set(ACTION_RULES.values())
    assert all("4 s" in m.rule for m in found["end"].marks)
    assert not found["word"].marks
