"""The embedded writer: every scenario, both languages, distinct and the same every time."""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate

import numpy as np
import pytest

from floorbench.build.text import grammar
from floorbench.build.text.dialogue import ROUNDS, dialogue_of, seeds, units
from floorbench.build.text.rules import BOUNDS, LEFT, problem_of
from floorbench.build.text.similarity import TARGET, NearDuplicates, nearest
from floorbench.build.text.writer import Write
from floorbench.datasets.codett_labels import BY_LABEL, LABELS, SPEAKING
from support.bench import FakeBench

MEDIUM, SPARES = 20, 3


def written(*, seed=0, count=MEDIUM, languages=("en", "zh")):
    write = Write()
    return [
        write.make(item, FakeBench(item.id, seed=seed)).items[0]
        for item in seeds(count=count, languages=languages)
    ]


@pytest.fixture(scope="module")
def medium():
    return written()


def test_the_same_seed_writes_the_same_and_another_one_does_not(medium):
    assert written() == medium
    other = [dialogue_of(i).heard for i in written(seed=1)]
    same = sum(a == dialogue_of(b).heard for a, b in zip(other, medium, strict=True))
    assert same < len(medium) / 2


def test_what_an_item_says_does_not_depend_on_how_many_there_are(medium):
    few = {item.id: item for item in written(count=3)}
    assert all(few[item.id] == item for item in medium if item.id in few)


def test_siblings_of_all_labels_share_their_history(medium):
    told = {}
    for item in medium:
        dialogue = dialogue_of(item)
        told.setdefault((dialogue.language, item.fields["number"]), set()).add(dialogue.history)
    for histories in told.values():
        one, other = histories
        assert one[:-1] == other[:-1]
        assert one[-1] != other[-1]


def test_few_lines_of_history_have_to_be_spoken():
    for count, most in ((5, 70), (23, 300)):
        lines = {
            (dialogue.language, one.user)
            for dialogue in map(dialogue_of, written(count=count))
            for one in dialogue.history
        }
        assert len(lines) <= most


@pytest.mark.parametrize("language", ["en", "zh"])
def test_topics_do_not_fill_the_slots_of_shared_sentences(language):
    """'place' is a restaurant in one topic, and where things lie in what fits all of them."""
    for number in range(60):
        found = grammar.compose(
            id="x", language=language, label="SystemIdle_Dismiss_SideTalk", number=number, seed=0,
            rng=np.random.default_rng(0),
        )  # fmt: skip
        topic = grammar.texts_of(language)[0][found.topic]
        assert not any(place in found.target.text for place in topic["slots"].get("place", ()))


def test_every_dialogue_is_whole(medium):
    for item in medium:
        dialogue = dialogue_of(item)
        said = [t for r in dialogue.history for t in (r.user, r.assistant)]
        assert len(dialogue.history) == ROUNDS
        assert not re.search(r"[{}\[\]|^]|  ", "".join([*said, dialogue.target.text])), item.id
        assert (dialogue.assistant_text != "") == (dialogue.state == SPEAKING)
        assert (dialogue.target.cut_after is not None) == (dialogue.scenario == "Incomplete")
        if dialogue.scenario == "Incomplete":
            assert len(dialogue.heard) < len(dialogue.target.text)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_medium_set_has_no_near_duplicates(seed, medium):
    items = medium if seed == 0 else written(seed=seed)
    assert NearDuplicates().gather(items).rejected == {}
    heard = [dialogue_of(i).heard for i in items if dialogue_of(i).target.role != "noise"]
    assert len(set(heard)) == len(heard) == 2 * 12 * MEDIUM
    for language in ("en", "zh"):
        found = nearest([dialogue_of(i) for i in items if dialogue_of(i).language == language])
        assert max(n.target for n in found if n.target is not None) < TARGET / 1.4


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_its_spares_have_none_either(seed):
    assert NearDuplicates().gather(written(seed=seed, count=MEDIUM + SPARES)).rejected == {}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_most_dialogues_pass_the_rules_and_the_rest_pass_on_the_second_attempt(seed):
    write = Write()
    again = []
    for item in seeds(count=MEDIUM):
        first = dialogue_of(write.make(item, FakeBench(item.id, seed=seed)).items[0])
        if problem_of(first) is not None:
            bench = FakeBench(item.id, seed=seed, attempt=1)
            second = dialogue_of(write.make(item, bench).items[0])
            assert second.heard != first.heard
            again.append(problem_of(second))
    assert len(again) <= 0.02 * 560
    assert [p for p in again if p is not None] == []


def test_topics_and_speakers_are_spread(medium):
    topics = Counter((dialogue_of(i).language, dialogue_of(i).topic) for i in medium)
    assert len(topics) == 32
    assert max(topics.values()) == 2 * min(topics.values())
    roles = Counter(
        dialogue_of(i).target.role for i in medium if dialogue_of(i).scenario == "Exclusion"
    )
    assert roles == {"third_party": 32, "user": 8}


def test_the_two_languages_have_the_same_material():
    for en, zh in zip(*(grammar.texts_of(language) for language in ("en", "zh")), strict=True):
        assert en.keys() == zh.keys()
        for key, value in en.items():
            if isinstance(value, dict) and key != "slots":
                assert {k: len(v) for k, v in value.items()} == {
                    k: len(v) for k, v in zh[key].items()
                }


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_slot_of_every_sentence_exists(language):
    topics, shared = grammar.texts_of(language)
    for name, material in topics.items():
        known = {*material["slots"], *shared["slots"]}
        used = set(
            re.findall(r"\{(\w+)\}", str({k: v for k, v in material.items() if k != "slots"}))
        )
        assert used <= known, name
        assert set(material["slots"]) <= used, name
    used = set(re.findall(r"\{(\w+)\}", str({k: v for k, v in shared.items() if k != "slots"})))
    assert used == set(shared["slots"])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_place_of_a_cut_is_in_the_middle_of_a_phrase(language):
    for material in grammar.texts_of(language)[0].values():
        for sentence in material["incomplete"]:
            said = re.sub(r"\{(\w+)\}", lambda m, s=material["slots"]: s[m[1]][0], sentence)
            *heads, _ = accumulate(said.split("^"))
            text = said.replace("^", "")
            found = units(text, language)
            places = [len(units(head, language)) for head in heads]
            assert len(places) == 2, sentence
            for cut in places:
                assert BOUNDS[language]["Incomplete"][0] <= cut <= len(found) - LEFT, sentence
                assert not text[found[cut - 1][1] : found[cut][0]].strip(), sentence


def distinct_targets(language, label):
    """Return how many different targets the sentences of a label can give, all slots counted.

    It counts combinations, near-duplicates of each other included. 0 for a noise, which has no
    text.
    """
    by_topic, shared = grammar.texts_of(language)
    total = {}
    for topic, material in by_topic.items():
        for number in (0, 4):
            role, pool, _ = grammar._pool(label, material, shared, number, 0)
            scope = topic if BY_LABEL[label].scenario in grammar._TOPICAL else ""
            slots = {**shared["slots"], **material["slots"]}
            ways = sum(ways_of(sentence, slots) for sentence in pool)
            tails = grammar._tails(BY_LABEL[label].scenario, shared)
            total[scope, role] = ways * (1 + len(tails))
    return sum(total.values())


def ways_of(sentence, slots):
    options = [len(set(found.split("|"))) for found in re.findall(r"\[([^\[\]]*)\]", sentence)]
    filled = [len(slots[name]) for name in set(re.findall(r"\{(\w+)\}", sentence))]
    return int(np.prod([*options, *filled, max(1, sentence.count("^"))], dtype=np.int64))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_there_are_many_more_targets_than_a_medium_set_needs(language):
    counts = {label: distinct_targets(language, label) for label in LABELS}
    assert all(n == 0 for label, n in counts.items() if "Invalidation" in label)
    assert min(n for n in counts.values() if n) == 30
    assert sum(counts.values()) > 8000


def test_alternatives_and_capitals():
    rng = np.random.default_rng(0)
    said = {
        grammar.say("{a} [is|was] here. so [|there]", {"a": "my cat"}, rng, "en") for _ in range(40)
    }
    assert said == {
        "My cat is here. So ", "My cat was here. So ", "My cat is here. So there",
        "My cat was here. So there",
    }  # fmt: skip


def test_digests_name_every_file():
    found = grammar.digests()
    assert sorted(found) == ["shared.en.json", "shared.zh.json", "topics.en.json", "topics.zh.json"]
    assert all(len(digest) == 64 for digest in found.values())
