"""The table itself: names, hashes and sources are well formed."""

import re

import pytest

from floorbench.audio.asset_table import ASSETS, WheelFile


@pytest.mark.parametrize("name", ASSETS)
def test_every_entry_is_complete(name):
    asset = ASSETS[name]
    assert asset.name == name
    assert re.fullmatch(r"[0-9a-f]{64}", asset.sha256)
    assert asset.bytes > 0
    assert asset.licence
    assert asset.publisher
    assert asset.sources
    for source in asset.sources:
        if isinstance(source, WheelFile):
            assert source.member.startswith(source.package + "/")
            assert re.fullmatch(r"[0-9a-f]{64}", source.sha256)


def test_no_two_names_mean_one_file():
    assert len({a.sha256 for a in ASSETS.values()}) == len(ASSETS)


def test_known_models_are_pinned():
    starts = {name: asset.sha256[:8] for name, asset in ASSETS.items()}
    assert starts["smart-turn-v3.0"] == "07a133ab"
    assert starts["smart-turn-v3.1"] == "fb68d55c"
    assert starts["smart-turn-v3.2"] == "2bb02631"
