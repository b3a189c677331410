"""What the build report shows of the insertions."""

from __future__ import annotations

from floorbench.build.echo_recipe import figures
from floorbench.build.echo_recipe.placing import INSERTION_TRACK
from floorbench.build.pipeline.stage import Item

TRACK = {"duration_s": 9.0, "active_level_db": -26.0, "clipped_share": 0.0}


def item(role: str) -> Item:
    said = {"track": INSERTION_TRACK, "rate": 10.0, "stretch": 1.1, "rate_unit": "phonemes/s"}
    return Item(
        id=f"a-{role}",
        fields={
            "role": role, "language": "en", "speech": [said],
            "measures": {INSERTION_TRACK: {**TRACK, "duration_s": 1.0}, "user": TRACK},
        },
    )  # fmt: skip


def test_insertions_are_measured_before_and_after_they_are_placed() -> None:
    records = figures.records_of([item("off_talk"), item("interruption")])
    assert {r["group"] for r in records} == {"off-talk", "interruption"} < set(figures.ORDER)
    values = {(r["measure"], r["stage"]): r["value"] for r in records if r["group"] == "off-talk"}
    assert values["Active level (dBFS)", "before"] == values["Active level (dBFS)", "after"] == -26
    assert values["Speaking rate (phonemes/s)", "before"] == 11.0
    assert values["Speaking rate (phonemes/s)", "after"] == 10.0


def test_the_length_of_the_whole_channel_is_no_length_of_an_insertion() -> None:
    lengths = [r for r in figures.records_of([item("off_talk")]) if r["measure"] == "Duration (s)"]
    assert [(r["stage"], r["value"]) for r in lengths] == [("before", 1.0)]
