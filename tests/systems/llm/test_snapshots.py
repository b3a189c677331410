"""What a service says about itself is kept when it is a name, and forgotten when it is not."""

import pytest

from floorbench.core.prediction import Decision, Served
from floorbench.core.vocab import Outcome
from floorbench.systems.llm.protocol import Completion, ModelFault
from floorbench.systems.llm.snapshots import marked, moment, name_in, now, stamped

BY = Served(snapshot="gpt-4o-2024-08-06", build="fp_1", at="2026-01-31T23:59:59Z")
HOSTILE = [
    "x" * 10_000_000, "a\nb", "\x1b[31mred", "a\u202eb", "\ud800", "", 5, 1.5, True, ["gpt"],
    {"a": 1}, "<script>", "`x`", "[x](y)", "https://host/v1?key=1", None,
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=lambda v: ascii(v)[:20])
def test_what_is_no_name_counts_as_not_said(value):
    assert name_in({"model": value}, "model") is None


@pytest.mark.parametrize("answer", [None, [], "gpt", 3, {}])
def test_an_answer_of_another_shape_names_nobody(answer):
    assert name_in(answer, "model") is None


def test_names_of_services_and_servers_are_kept_unless_they_hold_the_key():
    for name in ("gpt-4o-2024-08-06", "openai/gpt-4o:free", "/models/Qwen3 (awq)", "通义-7b"):
        assert name_in({"model": name}, "model", secret="sk-1") == name
    assert name_in({"model": "gpt sk-1"}, "model", secret="sk-1") is None


def test_times_have_one_form():
    this = now()
    assert moment(this) == this
    for value in ("2026-01-31", "2026-01-31T23:59:59Z\n", 5, None):
        assert moment(value) is None


def test_an_answer_and_a_refusal_are_marked():
    assert stamped(lambda: Completion(text="x"), BY).served == BY

    def refuse():
        raise ModelFault(Outcome.ABSTAINED, "no")

    with pytest.raises(ModelFault) as caught:
        stamped(refuse, BY)
    assert caught.value.served == BY


def test_a_decision_carries_the_mark_of_its_answer():
    decision = Decision(label="yes")
    assert marked(decision, Completion(text="x", served=BY)).served == BY
    assert marked(decision, Completion(text="x")) is decision
    assert marked(decision, None) is decision
