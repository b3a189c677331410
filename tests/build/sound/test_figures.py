import json

import pytest

from floorbench.build.pipeline.stage import Item
from floorbench.build.sound import figures
from floorbench.report.tables import as_text

ORDER = [
    figures.label_name("SystemSpeaking", "Dismissal"),
    figures.label_name("SystemIdle", "Dismissal"),
    figures.label_name("SystemIdle", "Exclusion"),
]


def item(i, state, scenario):
    track = {
        "duration_s": 1.0 + i,
        "active_level_db": -20.0 - i,
        "loudness_lufs": None,
        "peak_db": -3.0,
        "clipped_share": 0.002 * i,
    }
    sound = {"babble": {"achieved_db": 5.0 + i}} if scenario == "Exclusion" else {}
    said = {"track": "target", "rate": 5.0, "stretch": 0.9, "rate_unit": "syllables/s"}
    return Item(
        id=f"{state}-{scenario}-{i}",
        fields={
            "state": state,
            "scenario": scenario,
            "language": "zh",
            "measures": {"target": track, "target-clean": track},
            "sound": sound,
            "speech": [said, {**said, "track": "history-1-user", "rate": 99.0}],
        },
    )


@pytest.fixture
def records():
    labels = [
        ("SystemIdle", "Dismissal"),
        ("SystemSpeaking", "Dismissal"),
        ("SystemIdle", "Exclusion"),
    ]
    return figures.records_of(item(i, *label) for label in labels for i in range(4))


def test_undefined_figures_are_left_out_and_ratios_are_after_only(records):
    assert {r["measure"] for r in records} == {
        "Duration (s)", "Active level (dBFS)", "Peak (dBFS)", "Clipped samples (%)",
        "Speech to babble (dB)", "Speaking rate (syllables/s)",
    }  # fmt: skip
    babble = [r for r in records if r["measure"] == "Speech to babble (dB)"]
    assert {r["stage"] for r in babble} == {"after"}
    assert len(babble) == 4
    clipped = [r["value"] for r in records if r["measure"] == "Clipped samples (%)"]
    assert max(clipped) == pytest.approx(0.6)


def test_the_target_alone_gives_rates_and_before_is_before_stretching(records):
    rates = {(r["stage"], r["value"]) for r in records if "rate" in r["measure"]}
    assert rates == {("before", 4.5), ("after", 5.0)}
    assert figures.rates({}, {"rate": 5.0, "stretch": 1.0, "rate_unit": None}) == []


def test_a_scenario_of_both_states_is_two_groups(records):
    text = as_text(figures.table(records, order=ORDER, title="t", between="mixing"))
    rows = [line for line in text.splitlines() if "Dismissal" in line]
    assert len(rows) == 4
    assert sum("Dismissal, idle" in row for row in rows) == 2
    spec = json.dumps(figures.distributions(records, order=ORDER).to_dict())
    assert "Dismissal, speaking  (4)" in spec
    assert spec.index("Dismissal, speaking  (4)") >= 0


def test_the_table_says_what_the_figure_shows(records):
    table = figures.table(records, order=ORDER, title="Sound", between="mixing")
    first = table.rows[0]
    assert (first.name, first.cells["stage"].shown(), first.cells["n"].shown()) == (
        "Dismissal, speaking", "before", "4"
    )  # fmt: skip
    assert first.cells["Duration (s)"].shown() == "2.50 (1.00 to 4.00)"
    assert first.cells["Speech to babble (dB)"].shown() == "-"
    assert table.rows[-1].cells["Speech to babble (dB)"].shown() == "6.50 (5.00 to 8.00)"


def test_every_measure_has_a_panel_with_its_unit(records):
    spec = figures.distributions(records, order=ORDER, title="A build").to_dict()
    assert len(spec["concat"]) == 6
    text = json.dumps(spec)
    assert "Loudness" not in text
    assert "A build" in text
    titles = {panel["layer"][0]["encoding"]["x"]["title"] for panel in spec["concat"]}
    assert all(title.endswith(")") and "(" in title for title in titles)


def test_before_and_after_differ_in_more_than_colour(records):
    spec = json.dumps(figures.distributions(records, order=ORDER).to_dict())
    assert '"shape": {"field": "stage"' in spec
    assert '"yOffset"' in spec


def test_figures_come_with_their_table_and_name_their_measures(records):
    (one,) = figures.figures_of(records, order=ORDER, of="Sound", between="mixing")
    assert one.svg.startswith("<svg")
    assert one.caption.startswith("Sound (zh): duration, active level")
    assert one.table is not None
