from __future__ import annotations

import pytest

from fake_server import Reply, serving
from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome
from floorbench.errors import SystemProblem, UsageError
from floorbench.run.deciding import takes_batches
from floorbench.systems.worker_http import EndpointSystem
from support.model_server import HELLO

TEXT = {**HELLO, "modalities": ["text"], "rate": None}


def server(*answers):
    left = list(answers)

    def reply(call):
        if call.path == "/hello":
            return Reply(TEXT)
        return left.pop(0) if len(left) > 1 else left[0]

    return serving(reply)


def ask(found, **more):
    system = EndpointSystem(url=found.url + "/", attempts=1, timeout=2.0, **more)
    system.load()
    return system.decide(Observation(language="en", text="well"))


def test_it_is_asked_over_post():
    with server(Reply({"type": "answers", "id": 1, "answers": [{"label": "complete"}]})) as found:
        assert ask(found).label == "complete"
    assert [c.path for c in found.calls] == ["/hello", "/predict"]
    assert found.calls[1].body["items"] == [{"language": "en", "text": "well"}]


@pytest.mark.parametrize(
    ("reply", "outcome", "reason"),
    [
        (Reply({}, status=500), Outcome.FAILED, "answered 500"),
        (Reply(raw=b"{"), Outcome.FAILED, "not JSON"),
        (Reply({"type": "answers", "id": 1, "answers": []}), Outcome.FAILED, "0 answers to 1"),
        (Reply({"type": "error", "id": 1, "message": "full"}), Outcome.FAILED, "reports: full"),
        (Reply({}, delay=4.0), Outcome.TIMEOUT, "no answer within 2 s"),
    ],
)
def test_a_fault_is_an_outcome(reply, outcome, reason):
    with server(reply) as found:
        decision = ask(found)
    assert decision.outcome is outcome
    assert reason in decision.reason


def test_a_batch_is_asked_in_parts_and_survives_its_worst_item():
    """The server takes two at once and fails whenever it is asked about ``bad``."""

    def reply(call):
        if call.path == "/hello":
            return Reply({**TEXT, "batch": 2})
        words = [item["text"] for item in call.body["items"]]
        if "bad" in words:
            return Reply({"type": "error", "id": call.body["id"], "message": "bad"})
        answers = [{"label": word} for word in words]
        return Reply({"type": "answers", "id": call.body["id"], "answers": answers})

    with serving(reply) as found:
        system = EndpointSystem(url=found.url, attempts=1, timeout=2.0)
        assert not takes_batches(system)
        system.load()
        assert takes_batches(system)
        seen = [Observation(language="en", text=t) for t in ("a", "b", "c", "bad", "d")]
        said = system.decide_batch(seen)
    assert [d.label for d in said] == ["a", "b", "c", None, "d"]
    assert [len(c.body["items"]) for c in found.calls[1:]] == [2, 2, 1, 1, 1]


def test_a_server_that_takes_one_offers_no_batches():
    with server(Reply({})) as found:
        system = EndpointSystem(url=found.url, attempts=1, timeout=2.0)
        system.load()
    assert not takes_batches(system)


def test_a_wrong_address_is_one_clear_message():
    with serving([Reply({}, status=404)]) as found, pytest.raises(SystemProblem, match="FB551"):
        ask(found)
    with serving([Reply({"hi": 1})]) as found, pytest.raises(SystemProblem, match="FB552 http"):
        ask(found)
    with pytest.raises(UsageError, match="FB513"):
        EndpointSystem(url="https://user:secret@host")
