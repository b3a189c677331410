from pathlib import Path

from floorbench.build.pipeline.record import (
    Counter,
    Factors,
    count,
    factors_path,
    read_factors,
    write_factors,
)
from floorbench.build.pipeline.runner import Call, Done, Failure
from floorbench.build.pipeline.stage import Item, Rejected
from floorbench.build.pipeline.store import Folder

NAMES = ("make", "check")
NO = Rejected(reason="wer", detail="0.3")


def call(stage: str, reason: str | None = None, cached: bool = False) -> Call:
    return Call(
        stage=stage, key="k", attempt=0, cached=cached, wall=3.0, cpu=2.0, seconds=4.0,
        reason=reason,
    )  # fmt: skip


def counted(*done: Done) -> dict[str, Counter]:
    counters = {name: Counter() for name in NAMES}
    for one in done:
        count(counters, NAMES, one)
    return counters


def test_every_item_is_counted_where_it_ends() -> None:
    item = Item(id="a")
    got = counted(
        Done(stage="check", items=(item,), calls=(call("make"), call("check"))),
        Done(
            stage="check", items=(item, item),
            calls=(call("make"), call("check", "wer"), call("make", cached=True), call("check")),
        ),
        Done(stage="check", rejected=NO, calls=(call("make"), call("check", "wer"))),
        Done(stage="make", rejected=NO, calls=(call("make", "wer"),)),
        Done(stage="make", failed=Failure(code=None, what="x")),
        Done(stage="check", failed=Failure(code=None, what="x"), calls=(call("make"),)),
    )  # fmt: skip
    make, check = (
        got[n].report(stage=n, version=1, deterministic=True, settings={}) for n in NAMES
    )
    assert (make.entered, make.left, make.failed, make.rejected) == (6, 4, 1, {"wer": 1})
    assert (check.entered, check.left, check.failed, check.rejected) == (4, 3, 1, {"wer": 1})
    assert (make.tried_again, check.tried_again) == ({}, {"wer": 1})
    assert (make.calls, make.cached, check.calls) == (6, 1, 4)
    assert (make.wall, make.cpu, make.seconds) == (18.0, 12.0, 24.0)
    assert make.real_time_factor == 0.5


def test_without_sound_there_is_no_factor() -> None:
    report = Counter().report(stage="s", version=1, deterministic=True, settings={})
    assert report.real_time_factor is None


def test_factors_are_per_item(tmp_path: Path) -> None:
    item = Item(id="a")
    got = counted(
        *(Done(stage="check", items=(item,) * 3, calls=(call("make"),) * 2) for _ in range(2))
    )
    reports = tuple(
        got[n].report(stage=n, version=1, deterministic=True, settings={}) for n in NAMES
    )
    assert read_factors(tmp_path, "r") == Factors(stages={})
    write_factors(Folder(tmp_path), "r", reports)
    factors = read_factors(tmp_path, "r").stages
    assert (factors["make"].wall, factors["make"].seconds, factors["make"].left) == (6.0, 8.0, 1.0)
    assert (factors["check"].left, factors["check"].items) == (3.0, 2)
    factors_path(tmp_path, "r").write_text("{")
    assert read_factors(tmp_path, "r") == Factors(stages={})
