import pytest

from floorbench.datasets.codett_labels import INTENTS, STATES, actions_of
from floorbench.errors import UsageError
from floorbench.tasks.prompting import FOLDER, LANGUAGES, codett_question, prompt_hashes


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("state", STATES)
def test_stage_two_offers_the_seven_labels_of_the_state(state: str, language: str) -> None:
    question = codett_question(state=state, stage="intent", language=language, version="v1")
    assert question.answers == tuple(i.tags for i in INTENTS if i.state == state)
    assert all(question.text.count(answer) == 2 for answer in question.answers)
    assert f"<|{state}|>" in question.text
    assert "{" not in question.text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("state", STATES)
def test_stage_one_offers_the_two_actions_of_the_state(state: str, language: str) -> None:
    question = codett_question(state=state, stage="action", language=language, version="v1")
    assert question.answers == tuple(f"<|{a}|>" for a in actions_of(state))
    assert not any(i.tags in question.text for i in INTENTS)


def test_every_text_is_hashed() -> None:
    hashes = prompt_hashes("v1")
    assert set(hashes) == {p.name for p in (FOLDER / "codett-v1").iterdir()}
    assert {len(h) for h in hashes.values()} == {64}
    with pytest.raises(UsageError, match="FB103"):
        prompt_hashes("v0")


def test_the_two_states_give_the_same_name_different_meanings() -> None:
    speaking, idle = (
        codett_question(state=s, stage="intent", language="en", version="v1").text for s in STATES
    )
    assert "tells the system to stop" in speaking
    assert "tells the system to stop" not in idle
