import json
from typing import Any

import pytest

from floorbench.errors import UsageError
from floorbench.report.figures import DASHES, FIGURES, PALETTE, SHAPES, draw
from floorbench.report.figures_save import specification

RECORDS: dict[str, list[dict[str, Any]]] = {
    "confusion": [
        {"gold": "a", "predicted": "a", "count": 3},
        {"gold": "a", "predicted": "b", "count": 1},
        {"gold": "b", "predicted": "b", "count": 0},
    ],
    "history": [
        {"system": s, "metric": m, "history": h, "value": 50.0 + h, "low": 40.0, "high": 60.0}
        for s in ("one", "two")
        for m in ("accuracy", "SMR")
        for h in (0, 1, 5)
    ],
    "pair-success": [
        {"name": "one", "kind": "system", "macro": 70.0, "pasr": 30.0},
        {"name": "always yield", "kind": "policy", "macro": 50.0, "pasr": 0.0},
    ],
    "anticipation": [
        {"system": s, "at": at / 10, "value": 0.9, "low": low, "high": 0.95, "n": 12}
        for s, low in (("one", 0.85), ("two", None))
        for at in range(-2, 1)
    ],
    "reliability": [
        {"system": "one", "score": 0.1, "positive": 0.2, "units": 10},
        {"system": "one", "score": None, "positive": None, "units": 0},
        {"system": "two", "score": 0.9, "positive": 0.8, "units": 4},
    ],
    "trade-off": [
        {"system": "one", "threshold": t, "fpr": 100 * (1 - t), "miss": 100 * t, "chosen": t == 0.5}
        for t in (0.1, 0.5, 0.9)
    ],
    "forest": [
        {"name": "accuracy en", "difference": 3.0, "low": 1.0, "high": 5.0, "shown": True},
        {"name": "accuracy zh", "difference": -1.0, "low": None, "high": None, "shown": False},
    ],
}  # fmt: skip


def test_every_figure_is_tried_here() -> None:
    assert set(RECORDS) == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_made_of_plain_records(name: str) -> None:
    spec = specification(draw(name, RECORDS[name], title="A title"))
    assert "A title" in str(spec)
    assert spec["$schema"].endswith(".json")


@pytest.mark.parametrize("name", FIGURES)
def test_a_record_without_a_column_is_refused(name: str) -> None:
    column = FIGURES[name].columns[-1]
    records = [dict(r) for r in RECORDS[name]]
    del records[1][column]
    with pytest.raises(UsageError, match=f"record 1 has no column '{column}'"):
        draw(name, records)


def test_unknown_and_empty_figures_are_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'forest'"):
        draw("forrest", RECORDS["forest"])
    with pytest.raises(UsageError, match="FB804"):
        draw("forest", [])


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_series_differ_in_more_than_colour() -> None:
    spec = str(specification(draw("history", RECORDS["history"])))
    assert "strokeDash" in spec
    assert "'shape'" in spec
    assert len({str(d) for d in DASHES}) == len(set(SHAPES)) == len(set(PALETTE)) == 7


def test_counts_can_be_read_on_their_shade() -> None:
    """White on the dark end and ink on the light end of the matrix have contrast 4.5 or more."""
    dark, light, ink = luminance("#08306b"), luminance("#f4f6f7"), luminance("#1b1f24")
    assert (1.05) / (dark + 0.05) > 4.5
    assert (light + 0.05) / (ink + 0.05) > 4.5


@pytest.mark.parametrize("name", ["forest", "trade-off"])
def test_a_layer_without_a_mark_is_left_out(name: str) -> None:
    """A layer of nothing has no extent, which a browser warns about."""
    nothing = {"low": None, "high": None, "chosen": False}
    rows = [{**r, **{k: v for k, v in nothing.items() if k in r}} for r in RECORDS[name]]
    layers = specification(draw(name, rows))
    full = specification(draw(name, RECORDS[name]))
    assert len(layers.get("layer", [0])) == len(full["layer"]) - 1


def test_a_difference_that_is_not_shown_differs_in_more_than_colour() -> None:
    spec = specification(draw("forest", RECORDS["forest"]))
    fill = spec["layer"][-1]["encoding"]["fill"]
    assert fill["condition"]["test"] == "datum.shown"
    assert fill["value"] == "#ffffff"
    assert "hollow: no difference shown" in " ".join(spec["layer"][-1]["title"]["subtitle"])


@pytest.mark.parametrize("name", ["reliability", "trade-off", "pair-success", "anticipation"])
def test_figures_say_how_many_units_stand_behind_them(name: str) -> None:
    rows = [{**r, "n": 12} for r in RECORDS[name]]
    told = json.dumps(specification(draw(name, rows)))
    assert ("n = 4 to 10 units" if name == "reliability" else "n = 12 ") in told


@pytest.mark.parametrize("name", ["reliability", "trade-off", "forest", "confusion"])
def test_a_long_title_goes_over_several_lines(name: str) -> None:
    title = (
        "Reliability, language=zh condition=h0 positive=Takeover scenarios=Completion+Incomplete"
    )
    spec = json.dumps(specification(draw(name, RECORDS[name], title=title)))
    assert title not in spec
    assert '"Reliability, language=zh' in spec
