"""What the manifest of a built set says."""

from __future__ import annotations

from floorbench.build.echo_recipe.layout import manifest
from floorbench.datasets.echo_tables import FORMAT


def test_the_manifest_ranks_nobody() -> None:
    found = manifest({"texts": "own"}, licence="CC0")
    assert found["licence"] == "CC0"
    assert (found["format"], found["ranks"], found["recipe"]) == (FORMAT, False, {"texts": "own"})
