from __future__ import annotations

import pytest

from floorbench import codec
from floorbench.catalog import SYSTEMS
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Level
from floorbench.datasets.trp import TrpSource
from floorbench.errors import UsageError
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.systems.build import build_system
from floorbench.tasks.trp import TrpTask
from support import trp_tiny

NEEDS_A_MODEL = {f"{way}-{client}" for way in ("boundary", "yesno", "generate")
                 for client in ("openai", "ollama", "hf")}  # fmt: skip
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


def test_a_run_that_was_interrupted_goes_on_with_the_next_prefix(tmp_path):
    """The embedded model, killed in the middle of a turn, gives the numbers of a whole run."""
    source = TrpSource(trp_tiny.build(tmp_path / "data"))

    def go(**more):
        return run(
            task=TrpTask(),
            system=SystemChoice(name="boundary-smollm2"),
            source=source,
            out=tmp_path / "runs",
            notify=lambda _: None,
            **more,
        )

    whole = go()
    expected = {p.sample_id: p for p in whole.predictions()}
    assert len(expected) == 13
    lines = whole.journal.read_bytes().splitlines(keepends=True)
    whole.journal.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    again = {p.sample_id: p for p in go(resume=whole.path).predictions()}
    assert {k: p.decision for k, p in again.items()} == {k: p.decision for k, p in expected.items()}
    read = {k: p.compute.tokens_in for k, p in expected.items()}
    assert read["one#001"] > read["one#002"] > 0
    assert all(p.compute.tokens_out >= 1 for p in again.values())
