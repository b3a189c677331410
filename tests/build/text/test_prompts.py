"""Prompt files: complete in both languages, hashed, and blind where they must be."""

from __future__ import annotations

import json

import numpy as np
import pytest

from floorbench.build.text import prompts
from floorbench.build.text.dialogue import LANGUAGES, ROLES, dialogue_of, seeds
from floorbench.build.text.grammar import topics
from floorbench.build.text.writer import Write
from floorbench.datasets.codett_labels import BY_LABEL, LABELS, STATES
from floorbench.errors import UsageError
from support.bench import FakeBench


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("label", LABELS)
def test_every_label_has_its_prompt(language, label):
    topic = topics(language)[0]
    text = prompts.writing_prompt(
        language=language, label=label, topic=topic, version=prompts.VERSION,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert "{" not in text
    assert topic in text
    assert prompts.scenarios(language, prompts.VERSION)[label].meaning in text
    noise = ROLES[BY_LABEL[label].scenario] == ("noise",)
    assert ("speaker" in text) != noise
    assert ("heard:" in text or "heard：" in text) == (BY_LABEL[label].scenario == "Incomplete")
    required = prompts.writing_schema(label)["required"]
    assert all(f"\n{name}" in text for name in required)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("state", STATES)
def test_the_blind_judge_chooses_among_the_seven_of_the_state(language, state):
    text, answers = prompts.label_prompt(language=language, state=state, version=prompts.VERSION)
    assert len(answers) == 7
    assert all(f"\n{a}: " in text for a in answers)
    assert '{"answer": ' in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_shown_dialogue_names_no_label(language):
    for item in seeds(count=1, languages=[language]):
        dialogue = dialogue_of(Write().make(item, FakeBench(item.id)).items[0])
        text = prompts.shown(dialogue, prompts.VERSION)
        assert dialogue.heard in text
        assert dialogue.target.text in text or dialogue.target.cut_after
        assert not any(i.scenario in text or i.action in text for i in BY_LABEL.values())


def test_the_second_question_tells_what_was_meant():
    label = "SystemIdle_Dismiss_Exclusion"
    for language in LANGUAGES:
        text = prompts.text_prompt(language=language, label=label, version=prompts.VERSION)
        assert prompts.scenarios(language, prompts.VERSION)[label].instruction in text
    assert prompts.text_schema()["required"] == ["ok", "why"]
    json.dumps(prompts.text_schema())


def test_every_file_is_hashed_and_versions_are_known():
    found = prompts.prompt_digests(prompts.VERSION)
    assert len(found) == 10
    assert all(len(digest) == 64 for digest in found.values())
    with pytest.raises(UsageError, match="FB861 no prompts 'v9'"):
        prompts.check_version("v9")


def test_both_languages_have_the_same_parts():
    en, zh = (
        json.loads((prompts.FOLDER / prompts.VERSION / f"parts.{x}.json").read_text("utf-8"))
        for x in LANGUAGES
    )
    assert en.keys() == zh.keys()
    assert en["roles"].keys() == zh["roles"].keys()
