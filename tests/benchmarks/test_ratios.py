"""Cases are measured in turns, checked for agreement, and told with their spread."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest
from benchmarks.ratios import OURS, Case, Spread, absent, measure

from benchmarks import ratios


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Stop both clocks; work sets them forward."""
    now = [0.0]
    monkeypatch.setattr(ratios, "cpu_clock", lambda: now[0])
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def case(now: list[float], log: list[str], **given: Any) -> Case:
    def side(name: str, takes: float) -> Any:
        def work() -> str:
            log.append(name)
            now[0] += takes
            return name

        return work

    known: dict[str, Any] = {
        "name": "work", "size": "some", "ours": side("ours", 1.0),
        "peers": {"slow": side("slow", 4.0), "elsewhere": "not installed: it"}, "rounds": 3,
    }  # fmt: skip
    return Case(**known | given)


def test_ratio_is_ours_by_the_peer(clock: list[float]) -> None:
    slow, elsewhere = measure(case(clock, []))
    assert slow.ratio == Spread(0.25, 0.25, 0.25)
    assert (slow.ours.median, slow.theirs) == (1.0, Spread(4.0, 4.0, 4.0))
    assert slow.rounds == 3
    assert (elsewhere.ratio, elsewhere.absent) == (None, "not installed: it")


def test_sides_take_turns_after_a_warm_up(clock: list[float]) -> None:
    log: list[str] = []
    measure(case(clock, log))
    assert log == ["ours", "slow", "ours", "slow", "slow", "ours", "ours", "slow"]


def test_quick_work_is_repeated_within_a_round(clock: list[float]) -> None:
    log: list[str] = []

    def quick() -> None:
        log.append("q")
        clock[0] += ratios.SHORTEST / 5

    (row,) = measure(case(clock, [], ours=quick, peers={"same": quick}, rounds=2))
    assert len(log) == 2 + 2 * 2 * 5  # rounds, sides, repeats
    assert row.ratio is not None
    assert row.ratio.median == pytest.approx(1.0)


def test_a_peer_on_a_part_of_the_work_is_projected(clock: list[float]) -> None:
    row = measure(case(clock, [], scale={"slow": 10.0}))[0]
    assert row.ratio == Spread(0.025, 0.025, 0.025)
    assert row.projected


def test_sides_that_disagree_are_refused(clock: list[float]) -> None:
    def agree(found: Mapping[str, Any]) -> None:
        assert found[OURS] == "ours"
        raise AssertionError("they differ")

    with pytest.raises(AssertionError, match="they differ"):
        measure(case(clock, [], agree=agree))


def test_a_peer_that_breaks_is_left_out_by_name(clock: list[float]) -> None:
    def broken() -> None:
        raise OSError("no")

    (row,) = measure(case(clock, [], peers={"broken": broken}, agree=lambda found: None))
    assert (row.ratio, row.absent) == (None, "does not run here: OSError")
    with pytest.raises(OSError, match="no"):
        measure(case(clock, [], ours=broken))


def test_values_are_measured_as_often_as_asked(clock: list[float]) -> None:
    given = iter((10, 30, 20))
    row = measure(
        case(clock, [], ours=lambda: next(given), peers={"ten": lambda: 10}, clock="value")
    )[0]
    assert row.ratio == Spread(2.0, 1.0, 3.0)


def test_limit(clock: list[float]) -> None:
    assert all(r.kept for r in measure(case(clock, [], limit=0.25)))
    assert not all(r.kept for r in measure(case(clock, [], limit=0.2)))


def test_absent_names_what_is_missing() -> None:
    assert absent("json", "os.path") is None
    assert absent("json", "no_such_package", "nor.this") == (
        "not installed: no_such_package, nor.this"
    )


def test_peer_is_built_or_said_to_be_missing_or_broken() -> None:
    def build(answer: int) -> ratios.Work:
        if answer < 0:
            raise OSError("libx.so is gone")
        return lambda: answer

    made = ratios.peer(("json",), build, 3)
    assert not isinstance(made, str)
    assert made() == 3
    assert ratios.peer(("json",), build, -1) == "does not load here: OSError"
    assert ratios.peer(("no_such_package",), build, 3) == "not installed: no_such_package"


def test_processor_seconds_of_this_process_only_grow() -> None:
    before = ratios.cpu_clock()
    assert ratios.cpu_clock() >= before
