import difflib
import itertools
import json
from collections import Counter
from pathlib import Path

import pytest

import floorbench
from floorbench.build.starter_texts import LABELS, check_texts, normal, read_texts
from floorbench.errors import DataError

ROOT = Path(floorbench.__file__).parent / "datasets" / "starter" / "codett"
TEXTS = {name: read_texts(ROOT / "texts" / f"{name}.json") for name in ("en", "zh")}


@pytest.mark.parametrize("language", TEXTS)
def test_every_scenario_has_its_items(language):
    counts = Counter((i.state, i.action, i.scenario) for d in TEXTS[language] for i in d.items)
    labels = {(*key, scenario) for key, names in LABELS.items() for scenario in names}
    assert set(counts) == labels
    assert len(labels) == 14
    assert min(counts.values()) >= 6
    if language == "en":
        assert counts["SystemIdle", "Takeover", "Completion"] >= 20
        assert counts["SystemIdle", "Dismiss", "Incomplete"] >= 20


@pytest.mark.parametrize("language", TEXTS)
def test_dialogues_have_five_rounds_and_different_topics(language):
    dialogues = TEXTS[language]
    assert all(len(d.history) == 5 for d in dialogues)
    assert all(user and assistant for d in dialogues for user, assistant in d.history)
    assert len({d.topic for d in dialogues}) == len(dialogues)
    assert len({d.id for d in dialogues}) == len(dialogues)


def test_english_history_turns_are_short():
    lengths = [len(user.split()) for d in TEXTS["en"] for user, _ in d.history]
    assert min(lengths) >= 3
    assert max(lengths) <= 12


@pytest.mark.parametrize("language", TEXTS)
def test_no_near_duplicates(language):
    spoken = [
        normal(text)
        for d in TEXTS[language]
        for text in [*(user for user, _ in d.history), *(i.source for i in d.items if i.source)]
    ]
    close = []
    for a, b in itertools.combinations(spoken, 2):
        matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
        if matcher.real_quick_ratio() > 0.88 and matcher.quick_ratio() > 0.88:
            ratio = matcher.ratio()
            if ratio > 0.88:
                close.append((ratio, a, b))
    assert close == []


@pytest.mark.parametrize("language", TEXTS)
def test_incomplete_turns_stop_inside_a_phrase(language):
    raw = json.loads((ROOT / "texts" / f"{language}.json").read_text("utf-8"))
    items = [i for d in raw["dialogues"] for i in d["items"] if i["scenario"] == "Incomplete"]
    for item in items:
        rest = item["full_text"][len(item["text"]) :]
        assert item["full_text"].startswith(item["text"])
        assert len(rest.strip()) >= 4
        assert item["text"][-1].isalnum()
        unit = item["text"].split() if language == "en" else item["text"]
        assert item["cut_word"] == len(unit)


def write(tmp_path, change):
    raw = json.loads((ROOT / "texts" / "zh.json").read_text("utf-8"))
    change(raw["dialogues"])
    path = tmp_path / "zh.json"
    path.write_text(json.dumps(raw), "utf-8")
    return path


def _drop_item(dialogues):
    dialogues[0]["items"].pop()


def _drop_round(dialogues):
    dialogues[3]["history"].pop()


def _repeat(dialogues):
    dialogues[5]["history"][0]["user"] = dialogues[4]["history"][0]["user"] + "！"


def _relabel(dialogues):
    dialogues[0]["items"][0]["action"] = "Maintain"


def _same_scenario(dialogues):
    dialogues[0]["items"][1] |= {"scenario": "Completion", "action": "Takeover"}


def _noise_with_text(dialogues):
    item = next(i for d in dialogues for i in d["items"] if "noise" in i)
    item["text"] = "咳嗽声"


def _same_id(dialogues):
    dialogues[1]["items"][0]["id"] = dialogues[0]["items"][0]["id"]


def _wrong_prefix(dialogues):
    dialogues[0]["items"][1]["full_text"] = "完全不同的一句话。"


def _empty(dialogues):
    dialogues[2]["history"][1]["user"] = "？"


@pytest.mark.parametrize(
    "change",
    [
        _drop_item,
        _drop_round,
        _repeat,
        _relabel,
        _same_scenario,
        _noise_with_text,
        _same_id,
        _wrong_prefix,
        _empty,
    ],
)
def test_each_broken_rule_is_found(tmp_path, change):
    with pytest.raises(DataError, match="FB905"):
        read_texts(write(tmp_path, change))


def test_the_committed_texts_pass():
    for language, dialogues in TEXTS.items():
        check_texts(dialogues, where=language)
