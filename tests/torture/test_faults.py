"""The short form of the fault campaigns: a few kills, a full disk, two processes, a moved clock."""

import os

import pytest
from torture.figures import Tally, keep, table

from torture import clock, disk, kill, readonly, spaces, truncate, two

pytestmark = pytest.mark.timeout(1800)
"""Each starts processes or does hundreds of small runs: seconds on free cores, minutes on busy."""


def fine(tallies: list[Tally]) -> None:
    assert tallies
    for tally in tallies:
        assert not tally.findings, [(f.case, f.what, f.again) for f in tally.findings]
        assert tally.tried
        assert tally.equal or tally.refused


@pytest.mark.parametrize(
    "cases",
    [
        "run-serial@0.75,run-serial#4,run-serial#17,run-serial#41",
        "run-process@0.9",
        "build-2@0.7,build-2#64",
    ],
)
def test_killed_at_a_moment_or_a_file_operation_it_goes_on_to_the_same_outcome(cases, tmp_path):
    found = kill.campaign(only=cases, root=tmp_path)
    fine(found)
    assert sum(t.tried for t in found) == len(cases.split(","))


@pytest.mark.parametrize("case", ["run-serial-limit=3000", "build-1-limit=3000"])
def test_a_full_disk_is_refused_and_gone_on_from(case, tmp_path):
    fine(disk.campaign(only=case, root=tmp_path))


@pytest.mark.parametrize("case", ["run resumed", "data", "build cache, full"])
def test_a_read_only_folder(case, tmp_path):
    fine(readonly.campaign(only=case, root=tmp_path))


def test_a_read_only_folder_where_there_are_no_namespaces(tmp_path, monkeypatch):
    monkeypatch.setattr(spaces, "private_mounts", lambda: None)
    (found,) = readonly.campaign(only="run resumed", root=tmp_path)
    fine([found])
    assert found.notes == {"without permission": 1}


def test_a_clock_that_goes_back(tmp_path):
    fine(clock.campaign(only="run-serial-to and fro", root=tmp_path))


@pytest.mark.parametrize("case", ["run folder", "build", "review", "listening session", "notes"])
def test_two_processes(case, tmp_path):
    fine(two.campaign(only=case, root=tmp_path))


def test_journals_cut_at_every_byte(tmp_path):
    fine(truncate.campaign(short=True, root=tmp_path))


def test_a_process_that_outlives_its_parent_is_seen(tmp_path):
    from torture.child import marked

    child = os.spawnvpe(
        os.P_NOWAIT, "sleep", ["sleep", "30"], {**os.environ, "TORTURE_MARK": "seen"}
    )
    try:
        while child not in marked("seen"):
            pass
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert child not in marked("seen")


def test_findings_are_kept_with_the_command_that_repeats_them(tmp_path):
    tally = Tally("fuzz/x", tried=2, equal=1)
    tally.fault("wrong", "x, 3 bytes", "a line is lost", "python -m torture --only x", b"\0ab")
    assert keep([tally], tmp_path / "kept") == 1
    (text,) = (tmp_path / "kept").glob("*.txt")
    assert "again: python -m torture --only x" in text.read_text()
    assert text.with_suffix(".input").read_bytes() == b"\0ab"
    shown = table([tally])
    assert shown.splitlines()[2].split("|")[7].strip() == "1"
    assert tally.bad == 1
