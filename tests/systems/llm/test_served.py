"""The embedded model asked over HTTP gives the same answer every time."""

from floorbench.systems.llm.chat import ChatTurn
from floorbench.systems.llm.embedded import EmbeddedModel
from floorbench.systems.llm.served import ServedModel

TURNS = [ChatTurn(role="user", parts=("Is a cat an animal?",))]


def test_it_answers_one_of_the_allowed_and_again_the_same():
    model = ServedModel(model=EmbeddedModel(context=512, slots=1))
    asked = {"system": "Answer yes or no.", "max_tokens": 16, "answers": ["yes", "no"]}
    first = model.ask(TURNS, **asked)
    model.ask([ChatTurn(role="user", parts=("Tell me a story.",))], system="x", max_tokens=4)
    again = model.ask(TURNS, **asked)
    assert '"yes"' in first.text or '"no"' in first.text
    assert again == first
    assert first.served is None  # the file's hash stands in the weights
    assert first.usage.evaluated == first.usage.prompt > 10
    assert model.info.parameters["route"] == "http"
    assert "base_url" not in model.info.parameters
