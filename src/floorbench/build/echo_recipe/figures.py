"""How the insertions of a matched-contrast set sound: before and after they were placed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from floorbench.build.echo_recipe.placing import ASSISTANT_TRACK, INSERTION_TRACK, speech_of
from floorbench.build.echo_texts import ROLES
from floorbench.build.pipeline.stage import Item
from floorbench.build.sound.figures import AFTER, BEFORE, measured, rates

MEASURED = (ASSISTANT_TRACK, INSERTION_TRACK, "user", "system")
"""Tracks that are measured: both lines as they were spoken, and both channels."""
ORDER = tuple(role.replace("_", "-") for role in ROLES)
BETWEEN = "placing on the user's channel; speaking rate: before and after stretching"


def records_of(items: Iterable[Item]) -> list[dict[str, Any]]:
    """Return one record per defined figure of the insertions: role, language, measure, value.

    The user's channel is silent but for the insertion; its length says nothing and is left out.
    """
    records: list[dict[str, Any]] = []
    for item in items:
        base = {
            "item": item.id,
            "group": str(item.fields["role"]).replace("_", "-"),
            "language": str(item.fields["language"]),
        }
        measures: Any = item.fields.get("measures") or {}
        records += measured(base, measures.get(INSERTION_TRACK, {}), BEFORE)
        placed = {k: v for k, v in measures.get("user", {}).items() if k != "duration_s"}
        records += measured(base, placed, AFTER)
        records += rates(base, speech_of(item, INSERTION_TRACK))
    return records
