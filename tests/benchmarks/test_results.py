"""How measurements are shown and written down; the page that they are written to is whole."""

from __future__ import annotations

import pytest
from benchmarks.__main__ import SUBJECTS, main
from benchmarks.ratios import Row, Spread

from benchmarks import results


def row(**given: object) -> Row:
    known = {
        "case": "labels", "size": "an hour", "peer": "a loop", "clock": "cpu", "rounds": 7,
        "per": (2, "hour"), "ours": Spread(0.01, 0.009, 0.02),
        "theirs": Spread(1.0, 0.9, 1.1), "ratio": Spread(0.01, 0.008, 0.0222),
    }  # fmt: skip
    return Row(**known | given)  # type: ignore[arg-type]


def test_row_in_words() -> None:
    assert results.cells(row()) == (
        "labels; an hour", "5.00 ms an hour", "a loop", "500 ms an hour",
        "0.0100", "0.00800 to 0.0222 (7)",
    )  # fmt: skip


def test_missing_peer_is_named() -> None:
    found = results.cells(row(theirs=None, ratio=None, absent="not installed: it"))
    assert found.ratio == "not installed: it"
    assert "not installed: it" in results.shown(
        [row(theirs=None, ratio=None, absent="not installed: it")]
    )


def test_projection_and_limit_are_told() -> None:
    found = results.cells(row(projected=True, limit=0.005))
    assert found.theirs.endswith("(projected)")
    assert found.ratio == "0.0100 (at most 0.00500)"
    assert "ABOVE ITS LIMIT" in results.shown([row(limit=0.005)])
    assert "ABOVE" not in results.shown([row(limit=0.05)])


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1234.5, "1,230"), (99.94, "99.9"), (1.0, "1.00"), (0.0123, "0.0123")],
)
def test_number(value: float, text: str) -> None:
    assert results.number(value) == text


def test_time_on_the_clock_is_told() -> None:
    assert results.amount(3.0, row(clock="wall", per=(1, "start"))) == "3.00 s a start on the clock"


def test_values_carry_their_unit() -> None:
    assert results.amount(61.5, row(clock="value", per=(1, "MiB"))) == "61.5 MiB"


def test_machine_has_no_name_of_its_own() -> None:
    import platform

    found = results.machine()
    assert {"date", "cores", "processor", "python", "numpy"} <= set(found)
    assert platform.node() not in " ".join(found.values())


def test_table_replaces_what_stands_between_the_marks() -> None:
    page = "a\n<!-- labels -->\nold\n<!-- end -->\nb\n<!-- memory -->\nkept\n<!-- end -->\n"
    text = results.table([row()], results.machine())
    found = results.put(page, "labels", text)
    assert "old" not in found
    assert "kept" in found
    assert found.count("| labels; an hour |") == 1
    assert "Measured" in text
    assert results.put(found, "labels", text) == found
    with pytest.raises(ValueError, match="no marks"):
        results.put(page, "stream", text)


def test_every_subject_has_its_place_on_the_page() -> None:
    page = results.PAGE.read_text(encoding="utf-8")
    for subject in SUBJECTS:
        assert results.put(page, subject, "x") != page


def test_unknown_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense"]) == 2
    assert "no subject nonsense" in capsys.readouterr().err
