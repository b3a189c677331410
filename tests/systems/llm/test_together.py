from __future__ import annotations

from floorbench.core.prediction import Decision
from floorbench.core.vocab import Outcome
from floorbench.systems.llm.protocol import Completion, ModelFault, Prompt
from floorbench.systems.llm.together import Call, decide_together, takes_batches


class Echo:
    """Says the prompt; ``bad`` is a fault."""

    def __init__(self):
        self.asked = []

    def complete(self, prompt, **more):
        self.asked.append((prompt.text, more))
        if prompt.text == "bad":
            raise ModelFault(Outcome.TIMEOUT, "too late")
        return Completion(text=prompt.text)


class EchoAll(Echo):
    def complete_all(self, calls):
        self.asked.append([call.prompt.text for call in calls])
        fault = ModelFault(Outcome.TIMEOUT, "too late")
        return [fault if c.prompt.text == "bad" else Completion(text=c.prompt.text) for c in calls]


def asks(*texts):
    said = []
    for text in texts:
        answer = yield Call(prompt=Prompt(opening=text), max_tokens=7, seed=len(text))
        said.append(answer.text)
    return Decision(raw=" ".join(said))


def careful(text):
    try:
        yield Call(prompt=Prompt(opening=text), max_tokens=1)
    except ModelFault:
        return Decision(raw="caught")
    return Decision(raw="fine")


def test_each_goes_its_own_way_and_rounds_are_asked_together():
    steps = [asks("a", "bb", "c"), asks(), asks("d"), asks("bad", "e"), careful("bad")]
    model = EchoAll()
    found = decide_together(model, steps)
    assert [d.raw for d in found] == ["a bb c", "", "d", None, "caught"]
    assert (found[3].outcome, found[3].reason) == (Outcome.TIMEOUT, "too late")
    left = {"max_tokens": 7, "temperature": 0.0, "seed": 1, "stop": (), "top": 0}
    assert model.asked == [["a", "d", "bad", "bad"], ("bb", {**left, "seed": 2}), ("c", left)]


def test_a_model_without_batches_is_asked_call_by_call():
    model = Echo()
    found = decide_together(model, [asks("a"), asks("bad"), asks("b")])
    assert [d.raw for d in found] == ["a", None, "b"]
    assert [text for text, _ in model.asked] == ["a", "bad", "b"]
    assert decide_together(model, []) == []
    assert not takes_batches(model)
    assert takes_batches(EchoAll())
