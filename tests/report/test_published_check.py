import json
from pathlib import Path

import pytest

from floorbench.report import published_check as pc

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "published_findings.json").read_text(encoding="utf-8")
)
FOUND = pc.check()


def ids(kind: str) -> set[str]:
    return {f.id for f in FOUND if f.kind == kind}


def test_the_three_lists_are_closed() -> None:
    assert ids("misprint") == set(GOLDEN["misprint"])
    assert ids("unexplained") == set(GOLDEN["unexplained"])
    assert ids("slip") == set(GOLDEN["slip"])
    assert len({f.id for f in FOUND}) == len(FOUND)


@pytest.mark.parametrize("finding", [f for f in FOUND if f.kind == "misprint"], ids=lambda f: f.id)
def test_misprints_carry_printed_and_true_values(finding: pc.Finding) -> None:
    printed, true = GOLDEN["misprint"][finding.id]
    assert list(finding.printed) == printed
    assert list(finding.recomputed) == pytest.approx(true, abs=0.0051)


def test_the_identity_holds_where_the_note_says() -> None:
    actions, intents = pc.action_accuracy(), pc.intent_cells()

    def fitting(systems: tuple[str, ...]) -> tuple[int, int]:
        cells = [
            abs(pc.residual(actions[row][a], intents[row, a])) <= pc.TOLERANCE
            for (row, a) in intents
            if row.system in systems
        ]
        return sum(cells), len(cells)

    assert fitting(pc.ONE_INFERENCE) == (85, 96)
    assert fitting(("MiniCPM-o-4.5",)) == (5, 32)


def test_slips_carry_no_recomputation() -> None:
    assert all(not f.printed and not f.recomputed for f in FOUND if f.kind == "slip")
