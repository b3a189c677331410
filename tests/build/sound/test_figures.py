import json

import pytest

from floorbench.build.pipeline.stage import Item
from floorbench.build.sound import figures


def item(i, scenario):
    track = {
        "duration_s": 1.0 + i,
        "active_level_db": -20.0 - i,
        "loudness_lufs": None,
        "peak_db": -3.0,
    }
    sound = {"babble": {"achieved_db": 5.0 + i}} if scenario == "Exclusion" else {}
    return Item(
        id=f"{scenario}-{i}",
        fields={
            "scenario": scenario,
            "language": "en",
            "measures": {"target": track, "target-clean": track},
            "sound": sound,
        },
    )


@pytest.fixture
def records():
    return figures.records_of(item(i, s) for s in ("Completion", "Exclusion") for i in range(4))


def test_undefined_figures_are_left_out_and_ratios_are_after_only(records):
    assert {r["measure"] for r in records} == {
        "Duration (s)", "Active level (dBFS)", "Peak (dBFS)", "Babble (dB)"
    }  # fmt: skip
    babble = [r for r in records if r["measure"] == "Babble (dB)"]
    assert {r["stage"] for r in babble} == {"after it"}
    assert len(babble) == 4
    assert len(records) == 3 * 2 * 8 + 4


def test_every_measure_has_a_panel(records):
    spec = figures.distributions(records, title="A build").to_dict()
    assert len(spec["concat"]) == 4
    text = json.dumps(spec)
    assert "Loudness" not in text
    assert "A build" in text
