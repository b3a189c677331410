from floorbench.report.served import SHOWN, answered_by, compared_notes, served_notes
from floorbench.run.served import Snapshot

DAY = {"first": "2026-01-01T10:00:00Z", "last": "2026-01-01T11:00:00Z"}
OLD = Snapshot(snapshot="m-1", answers=98, **DAY)
NEW = Snapshot(snapshot="m-2", answers=2, first="2026-02-01T10:00:00Z", last=None)


def test_shares_and_days_are_told() -> None:
    assert answered_by([OLD, NEW]) == "answered by m-1 (98 %), m-2 (2 %), 2026-01-01 to 2026-02-01"
    assert answered_by([OLD]) == "answered by m-1 (100 %), on 2026-01-01"


def test_a_share_is_never_rounded_to_all_or_nothing() -> None:
    said = answered_by([Snapshot(snapshot="a", answers=999), Snapshot(snapshot="b", answers=1)])
    assert said == "answered by a (>99 %), b (<1 %)"


def test_builds_of_one_snapshot_are_counted_and_are_no_second_one() -> None:
    two = [Snapshot(snapshot="a", build=b, answers=1) for b in ("fp_1", "fp_2")]
    assert served_notes(two) == ["answered by a (100 %, 2 builds)"]


def test_long_lists_end() -> None:
    many = [Snapshot(snapshot=f"m-{n:02}", answers=1) for n in range(SHOWN + 7)]
    assert answered_by(many).endswith(", 7 more")


def test_only_two_names_are_a_warning() -> None:
    assert served_notes([]) == []
    unnamed = Snapshot(snapshot=None, answers=1)
    assert len(served_notes([OLD, unnamed])) == 1
    told, warned = served_notes([OLD, NEW], of="x")
    assert told.startswith("x: answered by")
    assert warned.startswith("WARNING: x: 2 snapshots")


def test_other_snapshots_behind_one_name_are_warned_of() -> None:
    alias = {"parameters": {"model": "m"}}
    assert len(compared_notes([OLD], [OLD], systems=(alias, alias))) == 2
    assert compared_notes([OLD], [NEW], systems=(alias, alias))[-1].startswith("WARNING: both runs")
    other = {"parameters": {"model": "n"}}
    assert len(compared_notes([OLD], [NEW], systems=(alias, other))) == 2
    assert len(compared_notes([OLD], [], systems=(alias, {}))) == 1
