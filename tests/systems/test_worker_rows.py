"""Every system in an environment of its own starts, and keeps the protocol with a stub."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from floorbench.catalog import SYSTEMS
from floorbench.errors import UsageError
from floorbench.systems.build import build_system
from floorbench.systems.worker_check import check_program
from floorbench.systems.worker_rows import SPECS, folder_of
from support import stands

WORKERS = Path(__file__).parents[2] / "workers"


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.name)
def test_its_program_keeps_the_protocol_and_says_what_the_catalogue_says(spec):
    command = f"{stands.STUB}/{stands.PROGRAMS[spec.name]}"
    assert [c for c in check_program(command) if not c.fine] == []
    system = build_system(spec.name, command=command)
    try:
        system.load()
        assert system.spec.level == SYSTEMS.entry(spec.name).level
        # a signature shows that no model answered
        assert system.spec.version == f"{spec.version} (stub, no model)"
        assert system.spec.parameters["stub"] is True
    finally:
        stands.end(system)


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.name)
def test_without_a_command_it_says_where_the_program_is(spec):
    with pytest.raises(UsageError, match="FB551") as caught:
        build_system(spec.name).load()
    assert f"workers/{folder_of(spec)}/README.md" in str(caught.value)


def test_every_folder_has_its_program_requirements_and_readme():
    folders = {p.name for p in WORKERS.iterdir() if p.is_dir()}
    assert folders == {folder_of(spec) for spec in SPECS}
    for name in folders:
        found = {p.name for p in (WORKERS / name).iterdir()} - {"__pycache__"}
        assert found == {"README.md", "predict.py", "requirements.txt"}
        named = [
            line
            for line in (WORKERS / name / "requirements.txt").read_text().splitlines()
            if line and not line.startswith("#")
        ]
        assert all(re.fullmatch(r"[\w.-]+(==[\w.]+|>=[\w.]+)?", line) for line in named)


def test_no_program_holds_a_trained_prompt():
    """Prompts that a model was trained with are read from its folder."""
    for file in WORKERS.rglob("*.py"):
        chinese = re.findall(r"[\u4e00-\u9fff]{8,}", file.read_text())
        assert not chinese, file
