from __future__ import annotations

import pytest

from floorbench import codec
from floorbench.catalog import SYSTEMS
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Level
from floorbench.errors import UsageError
from floorbench.systems.build import build_system

NEEDS_A_MODEL = {f"{way}-{client}" for way in ("boundary", "yesno", "generate")
                 for client in ("openai", "ollama")}  # fmt: skip
ROWS = [
    name
    for name, entry in SYSTEMS.entries().items()
    if entry.target.startswith("floorbench.systems.trp_models:")
]


@pytest.mark.parametrize("name", ROWS)
def test_every_row_builds_without_loading_anything(name):
    parameters = {"model": "some-model"} if name in NEEDS_A_MODEL else {}
    spec = build_system(name, **parameters).spec
    assert codec.decode(codec.encode(spec), SystemSpec) == spec
    assert "form_sha256" in spec.parameters
    assert spec.level == SYSTEMS.entry(name).level
    assert name in NEEDS_A_MODEL or spec.name == name


def test_only_what_ran_on_its_real_weights_is_measured():
    measured = {name for name in ROWS if SYSTEMS.entry(name).level == Level.MEASURED}
    assert measured == {"boundary-smollm2", "yesno-smollm2", "generate-smollm2"}


def test_a_model_must_be_named():
    with pytest.raises(UsageError, match="needs the parameter 'model'"):
        build_system("yesno-openai")
