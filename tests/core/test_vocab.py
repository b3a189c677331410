from dataclasses import fields

from floorbench.core.score import Coverage
from floorbench.core.vocab import Outcome


def test_a_ledger_has_a_class_for_every_outcome_and_for_what_is_not_there() -> None:
    classes = [f.name for f in fields(Coverage) if f.name != "expected"]
    assert classes == [*(outcome.value for outcome in Outcome), "absent"]
