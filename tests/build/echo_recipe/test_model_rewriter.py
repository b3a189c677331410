"""A chat model that rewrites, lies, refuses, breaks off and fails."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from floorbench.build.echo_recipe.model_rewriter import ModelRewriter, parsed
from floorbench.build.echo_recipe.rewriting import CheckRewrite, Rewrite, RewriteFault, plain
from floorbench.build.pipeline.stage import Item, Made, Rejected
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError
from floorbench.systems.llm.protocol import Completion, ModelFault
from support.bench import FakeBench
from support.echo_built import context

GOOD = {
    "history": ["Water the garden.", "Front or back?", "The front, please."],
    "before": "I am opening the valve of the long hose",
    "insertion": "Not so fast.",
    "after": "and in ten minutes the water reaches the roses by the fence.",
}


class Model:
    deterministic = False
    hears = False
    info = SimpleNamespace(name="toy")

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def load(self) -> None:
        pass

    def ask(self, turns: Any, **more: Any) -> Completion:
        self.asked.append(turns[0].parts[0])
        if isinstance(self.answer, Exception):
            raise self.answer
        return Completion(text=self.answer)


def outcome(answer: Any) -> tuple[Any, Model]:
    model = Model(answer)
    fields: Any = {
        "language": "en", "type": "I-B", "insertion": "Not so fast.",
        "skeleton": {"role": "backchannel"}, "source": plain(context()),
    }  # fmt: skip
    stage = Rewrite(rewriter=ModelRewriter(model=model))
    stage.start()
    found = stage.make(Item(id="x", fields=fields), FakeBench())
    if isinstance(found, Made):
        found = CheckRewrite().make(found.items[0], FakeBench())
    return found, model


def test_a_good_answer_becomes_a_context() -> None:
    found, model = outcome("Here you are:\n" + json.dumps(GOOD) + " END")
    assert isinstance(found, Made)
    rewritten = found.items[0].fields["contexts"]["interruption"]
    assert rewritten["before"] == GOOD["before"]
    assert rewritten["after"] == " " + GOOD["after"]
    (prompt,) = model.asked
    assert "Not so fast." in prompt
    assert "an interruption" in prompt
    assert "[the user speaks here]" in prompt


def test_the_lineage_holds_what_was_asked_and_answered() -> None:
    model, bench = Model(json.dumps(GOOD)), FakeBench()
    fields: Any = {"language": "en", "insertion": "Not so fast."}
    rewriter = ModelRewriter(model=model)
    rewriter.rewrite(Item(id="x", fields=fields), context(), "interruption", bench)
    ((kind, facts),) = bench.notes
    assert kind == "call"
    assert [facts["asked"]] == model.asked
    assert json.loads(facts["answered"]) == GOOD


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (json.dumps({**GOOD, "insertion": "Not so fast!"}), "insertion-changed"),
        (json.dumps({**GOOD, "history": []}), "history"),
        (json.dumps({**GOOD, "history": "Go on."}), "broken-json"),
        (json.dumps({**GOOD, "history": [1]}), "broken-json"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "after"}), "broken-json"),
        (json.dumps(GOOD)[:80], "broken-json"),
        (json.dumps({**GOOD, "after": GOOD["after"] + "\ud800"}), "broken-json"),
        (json.dumps({**GOOD, "after": GOOD["after"] + "\0"}), "broken-json"),
        (json.dumps({**GOOD, "after": GOOD["after"] + "\x07"}), "stage-direction"),
        (json.dumps({**GOOD, "before": "\u200b" + GOOD["before"]}), "stage-direction"),
        (json.dumps({**GOOD, "after": GOOD["after"] + " and so on" * 50}), "too-long"),
        (json.dumps({**GOOD, "history": ["请说。"]}), "language"),
        (json.dumps({**GOOD, "history": ["G\u043e on."]}), "language"),
        ("I cannot help with that.", "refused"),
        ("", "refused"),
        (ModelFault(Outcome.ABSTAINED, "the model refused to answer"), "refused"),
        (ModelFault(Outcome.INVALID, "the answer holds no choice"), "broken-json"),
    ],
)
def test_every_fault_of_a_model_has_its_reason(answer: Any, reason: str) -> None:
    found, _ = outcome(answer)
    assert isinstance(found, Rejected)
    assert found.reason == reason


@pytest.mark.parametrize("how", [Outcome.TIMEOUT, Outcome.FAILED])
def test_no_answer_is_a_failure_that_the_next_build_asks_again(how: Outcome) -> None:
    with pytest.raises(DataError, match=r"FB863 .*no answer in 60 s"):
        outcome(ModelFault(how, "no answer in 60 s"))


@pytest.mark.parametrize(
    "changed",
    [
        "Not so fast",
        "not so fast.",
        "Not so fast. ",
        "Not so  fast.",
        "Not\u00a0so fast.",
        "N\u043et so fast.",  # a Cyrillic o
        "Not so fast\uff0e",
        "Not so fas\u200bt.",
        "",
    ],
)
def test_an_insertion_that_changed_in_any_way_is_refused(changed: str) -> None:
    found, _ = outcome(json.dumps({**GOOD, "insertion": changed}))
    assert isinstance(found, Rejected)
    assert found.reason == "insertion-changed"


def test_chinese_parts_are_joined_without_a_space() -> None:
    row = {"history": ["好"], "before": "我先去", "insertion": "慢一点。", "after": "，然后回来"}
    found = parsed(json.dumps(row))
    assert (found.before, found.after) == ("我先去，", "然后回来")


def test_a_list_is_no_object() -> None:
    with pytest.raises(RewriteFault, match="no object"):
        parsed("[1, 2]")


def test_settings_name_model_and_prompt() -> None:
    rewriter = ModelRewriter(model=Model(""))
    assert rewriter.settings()["rewriter"] == "toy"
    assert len(str(rewriter.settings()["prompt"])) == 64
    assert not rewriter.deterministic
