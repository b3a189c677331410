"""What the data card says of a set's audits."""

from __future__ import annotations

from typing import Any

from floorbench.build.echo_recipe.card import card
from floorbench.datasets.echo_tables import ROLES

FOUND: dict[str, Any] = {
    "size": {"groups": {"I-B": 1}, "samples": {"interruption": 1}, "pairs": {"I-B": 1}},
    "languages": {
        "zh": {
            "instances": 1, "vocabulary": 4, "frequent_only": 0.25, "unique": None,
            "mean_length": {**dict.fromkeys(ROLES, 6.0), "off_talk": None}, "length_gap": 0.0,
        }
    },
    "shortcuts": None,
    "why_no_shortcuts": "1 groups",
    "measured": [
        {
            "language": "zh", "role": "off_talk", "samples": 1, "seconds": [1.0, 1.0, 1.0],
            "rate": [4.0, 4.0, 4.0], "stretch": [1.0, 1.0, 1.0], "active_level_db": [],
        }
    ],
}  # fmt: skip


def test_undefined_figures_are_named() -> None:
    text = card(FOUND, {"voices": "a"}, licence="CC0")
    assert "25.0 %" in text
    assert "6.0, 6.0, undefined" in text
    assert "Not probed: 1 groups." in text
    assert "Licence: CC0." in text
    assert (
        "| zh | off_talk | 1 | 1.00, 1.00, 1.00 | 4.00, 4.00, 4.00 | 1.00, 1.00, 1.00 | - |" in text
    )


def test_a_shortcut_is_named() -> None:
    row = {
        "language": "zh", "probe": "text", "pair": 0.9, "pair_interval": (0.8, 1.0),
        "shortcut": True, "pairs": 7,
    }  # fmt: skip
    text = card({**FOUND, "shortcuts": {"observable": [row]}}, {}, licence="CC0")
    assert "| observable | zh | text | 7 | 90.0 % | 80.0 % to 100.0 % | yes |" in text
