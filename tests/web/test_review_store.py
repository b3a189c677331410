import os
import shutil
import threading
from pathlib import Path

import pytest

from floorbench.errors import DataError, EnvironmentProblem, UsageError
from floorbench.web.review_plan import Sampling
from floorbench.web.review_store import Plan, Review

ITEMS = tuple(f"i{n}" for n in range(6))


def plan(*, data: str = "d", seed: int = 0, items: tuple[str, ...] = ITEMS) -> Plan:
    return Plan(name="tiny", data=data, sampling=Sampling(share=1.0, seed=seed), items=items)


def answer(review: Review, name: str, **labels: str) -> None:
    for item, label in labels.items():
        review.answer(name, item, label, heard=True)


def test_everything_is_read_again(tmp_path: Path) -> None:
    review = Review.begin(tmp_path, plan())
    answer(review, "r1", i0="a", i1="b")
    answer(review, "r1", i0="c")
    answer(review, "r2", i0="a")
    review.decide("r3", "i0", "a")
    again = Review.begin(tmp_path, plan())
    assert again.reviewers() == ("r1", "r2")
    assert again.answers("r1") == review.answers("r1")
    assert {i: a.label for i, a in again.join("r1").items()} == {"i0": "c", "i1": "b"}
    assert again.verdicts() == review.verdicts()
    assert Review(tmp_path).plan == plan()
    lines = (tmp_path / "reviewers" / "r1" / "log.jsonl").read_text().splitlines()
    assert len(lines) == 3  # nothing is ever overwritten


def test_an_answer_is_on_the_disk_when_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = Review.begin(tmp_path, plan())
    answer(review, "r1", i0="a")
    synced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda f: (synced.append(os.fstat(f).st_size), real(f))[1])
    answer(review, "r1", i1="a")
    assert synced[0] == (tmp_path / "reviewers" / "r1" / "log.jsonl").stat().st_size


def test_a_torn_last_line_is_cut_off_and_the_rest_stays(tmp_path: Path) -> None:
    review = Review.begin(tmp_path, plan())
    answer(review, "r1", i0="a", i1="b")
    log = tmp_path / "reviewers" / "r1" / "log.jsonl"
    whole = log.read_bytes()
    for cut in range(1, len(whole) - whole.index(b"\n")):
        log.write_bytes(whole[:-cut])
        again = Review.begin(tmp_path, plan())
        assert {i: a.label for i, a in again.answers("r1").items()} == {"i0": "a"}
    answer(again, "r1", i1="c")
    assert Review.begin(tmp_path, plan()).answers("r1")["i1"].label == "c"


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b'{"item": "i0"}',
        b'{"item": "elsewhere", "label": "a", "heard": true, "at": "x"}',
        b'{"item": "i0", "label": 3, "heard": true, "at": "x"}',
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes) -> None:
    review = Review.begin(tmp_path, plan())
    answer(review, "r1", i0="a")
    log = tmp_path / "reviewers" / "r1" / "log.jsonl"
    log.write_bytes(log.read_bytes() + line + b"\n")
    with pytest.raises(DataError) as found:
        Review.begin(tmp_path, plan())
    assert found.value.where is not None
    assert found.value.where.line == 2
    assert found.value.code == "FB895"


def test_two_reviewers_at_once_keep_all_of_both(tmp_path: Path) -> None:
    items = tuple(f"i{n}" for n in range(40))
    review = Review.begin(tmp_path, plan(items=items))
    together = threading.Barrier(4)

    def work(name: str, label: str) -> None:
        together.wait()
        for item in items:
            review.answer(name, item, label, heard=True)

    # Two of them with one id: a page that is open twice.
    who = (("r1", "a"), ("r2", "b"), ("r3", "a"), ("r3", "a"))
    threads = [threading.Thread(target=work, args=one) for one in who]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = Review.begin(tmp_path, plan(items=items))
    assert {n: len(again.answers(n)) for n in again.reviewers()} == {"r1": 40, "r2": 40, "r3": 40}
    assert again.verdicts() == review.verdicts()
    assert all(v.labels == {"r1": "a", "r2": "b", "r3": "a"} for v in again.verdicts().values())


def test_folders_of_two_machines_are_put_together_by_copying(tmp_path: Path) -> None:
    answer(Review.begin(tmp_path / "one", plan()), "r1", i0="a")
    answer(Review.begin(tmp_path / "two", plan()), "r2", i0="a")
    shutil.copytree(tmp_path / "two" / "reviewers" / "r2", tmp_path / "one" / "reviewers" / "r2")
    assert Review.begin(tmp_path / "one", plan()).verdict("i0").final == "a"


def test_where_an_item_stands(tmp_path: Path) -> None:
    review = Review.begin(tmp_path, plan())
    answer(review, "r1", i0="a", i1="a", i2="a", i3="unsure", i4="reject")
    answer(review, "r2", i0="a", i1="b", i2="unsure", i3="unsure", i4="reject")
    found = review.verdicts()
    assert {i: v.final for i, v in found.items() if v.final} == {"i0": "a", "i4": "reject"}
    assert [i for i, v in found.items() if v.disputed] == ["i1", "i2", "i3"]
    answer(review, "r3", i0="c", i5="a")
    assert review.verdict("i0").final is None
    assert review.verdict("i5").final is None  # one is not enough
    assert not review.verdict("i5").disputed


def test_a_decision_counts_and_later_ones_say_that_the_gold_was_known(tmp_path: Path) -> None:
    review = Review.begin(tmp_path, plan())
    answer(review, "r1", i0="a", i1="a")
    answer(review, "r2", i0="b", i1="a")
    assert not review.decide("r3", "i0", "b").after_gold
    assert review.verdict("i0").final == "b"
    assert review.verdict("i0").disputed
    assert review.decide("r3", "i0", "a").after_gold
    with pytest.raises(UsageError, match="no disagreement"):
        review.decide("r3", "i1", "a")
    with pytest.raises(UsageError, match="has been adjudicated"):
        answer(review, "r1", i0="b")
    again = Review.begin(tmp_path, plan()).verdict("i0")
    assert again.final == "a"
    assert again.decision is not None
    assert again.decision.after_gold


def test_nobody_labels_after_having_seen_labels(tmp_path: Path) -> None:
    review = Review.begin(tmp_path, plan(items=("i0", "i1")))
    answer(review, "r1", i0="a")
    answer(review, "r2", i0="b", i1="b")
    with pytest.raises(UsageError, match="still has 1 item"):
        review.adjudicator("r1")
    with pytest.raises(UsageError, match="FB894"):
        review.decide("r1", "i0", "a")
    review.decide("r3", "i0", "a")
    with pytest.raises(UsageError, match="has adjudicated"):
        review.join("r3")
    with pytest.raises(UsageError, match="has adjudicated"):
        answer(review, "r3", i1="a")
    review.adjudicator("r2")  # who is done may


def test_ids_are_ids(tmp_path: Path) -> None:
    review = Review.begin(tmp_path, plan())
    for name in ("Maria", "", "../r1", "r", "r1/x"):
        with pytest.raises(UsageError, match="FB844"):
            answer(review, name, i0="a")
        with pytest.raises(UsageError, match="FB844"):
            review.adjudicator(name)
    with pytest.raises(UsageError, match="FB894"):
        answer(review, "r1", elsewhere="a")
    assert review.reviewers() == ()


def test_other_data_or_another_plan(tmp_path: Path) -> None:
    Review.begin(tmp_path, plan())
    with pytest.raises(UsageError, match="items differ"):
        Review.begin(tmp_path, plan(data="e"))
    with pytest.raises(UsageError, match="another plan"):
        Review.begin(tmp_path, plan(seed=1))
    with pytest.raises(DataError, match="FB893"):
        Review(tmp_path / "nothing")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EnvironmentProblem, match="FB402"):
        Review.begin(tmp_path / "file" / "review", plan())
