from pathlib import Path

from floorbench.core.prediction import Compute, Decision, Served
from floorbench.core.vocab import Outcome
from floorbench.run.due import Plan
from floorbench.run.executors import Answer
from floorbench.run.job import Job
from floorbench.run.signals import Signals
from floorbench.run.store import RunFolder
from support.engine_toys import Source, System, Task, quiet


def job(folder: Path, n: int = 3) -> Job:
    plan = Plan(("h0",))
    return Job(Task(), Source(n), System().spec, plan, RunFolder(folder), ("s3cr3t",), quiet)


def test_answers_in_any_order_reach_their_samples(tmp_path: Path) -> None:
    made = job(tmp_path)
    items = list(made.items())
    assert [i.observation.text for i in items] == ["0", "1", "2"]
    answers = [
        Answer(
            i.number, f"{i.number:064x}", Decision(label="yes", raw=i.observation.text), Compute()
        )
        for i in reversed(items)
    ]
    made.write(answers, Signals(), None)
    found = [(p.sample_id, p.decision.raw) for p in RunFolder(tmp_path).predictions()]
    assert found == [("s2", "2"), ("s1", "1"), ("s0", "0")]
    assert (made.written, made.done) == (3, 3)


def test_what_is_done_is_left_out_the_next_time(tmp_path: Path) -> None:
    first = job(tmp_path)
    taken = [next(first.items())]
    first.write(
        [Answer(i.number, None, Decision(label="no"), Compute()) for i in taken], Signals(), None
    )
    second = job(tmp_path)
    second.take_up(recompute_changed=False)
    assert second.done == 1
    assert [i.observation.text for i in second.items()] == ["1", "2"]


def test_labels_outside_the_set_become_invalid_and_reasons_are_cleaned(tmp_path: Path) -> None:
    made = job(tmp_path)
    decisions = [
        Decision(label="maybe"),
        Decision(outcome=Outcome.FAILED, reason="401 for s3cr3t"),
        Decision(outcome=Outcome.ABSTAINED, label="maybe"),
    ]
    answers = [
        Answer(i.number, None, d, Compute()) for i, d in zip(made.items(), decisions, strict=True)
    ]
    made.write(answers, Signals(), None)
    found = [p.decision for p in RunFolder(tmp_path).predictions()]
    assert [d.outcome for d in found] == [Outcome.INVALID, Outcome.FAILED, Outcome.ABSTAINED]
    assert found[1].reason == "401 for <redacted>"


def test_it_says_what_was_not_answered_and_why(tmp_path: Path) -> None:
    made = job(tmp_path, n=5)
    decisions = [
        Decision(label="yes"),
        Decision(outcome=Outcome.FAILED, reason="401 for s3cr3t"),
        Decision(outcome=Outcome.UNSUPPORTED, reason="no audio"),
        Decision(outcome=Outcome.FAILED, reason="401 for s3cr3t"),
        Decision(label="no"),
    ]
    answers = [
        Answer(i.number, None, d, Compute()) for i, d in zip(made.items(), decisions, strict=True)
    ]
    made.write(answers[:1], Signals(), None)
    assert made.shortfall() is None
    made.write(answers[1:], Signals(), None)
    assert made.shortfall() == (
        "3 of 5 without an answer: 2 failed, 1 unsupported; most often (2): 401 for <redacted>"
    )
    again = job(tmp_path, n=5)
    again.take_up(recompute_changed=False)
    assert again.shortfall() == "3 of 5 without an answer: 2 failed, 1 unsupported"


def test_who_answered_is_counted_taken_up_and_cleaned(tmp_path: Path) -> None:
    made = job(tmp_path)
    said = ("m-1", "by s3cr3t", "sk-0123456789abcdef")
    answers = [
        Answer(i.number, None, Decision(label="no", served=Served(snapshot=name)), Compute())
        for i, name in zip(made.items(), said, strict=True)
    ]
    made.write(answers, Signals(), None)
    again = job(tmp_path)
    again.take_up(recompute_changed=False)
    for one in (made, again):
        assert {s.snapshot: s.answers for s in one.served.snapshots()} == {"m-1": 1, None: 2}
    assert "s3cr3t" not in RunFolder(tmp_path).journal.read_text()
