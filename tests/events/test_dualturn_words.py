import hashlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.vocab import Role
from floorbench.errors import DataError, UsageError
from floorbench.events.dualturn_words import (
    WORD_LABELS,
    PhraseList,
    TimedWord,
    WordRules,
    frequent_phrases,
    last_full_frame,
    normalise,
    utterances,
    word_labels,
)
from oracles.events_ms98 import read_call
from oracles.events_words import label

RULES = WordRules(utterance_gap=200, reach=1000)
YES = PhraseList(phrases=("yes", "uh huh"), counts=(3, 2))


def words(*triples):
    return [TimedWord(*t) for t in triples]


def run(user, system, phrases=YES):
    found = word_labels({Role.USER: words(*user), Role.SYSTEM: words(*system)}, phrases, RULES)
    return found, [(w.text, WORD_LABELS[k]) for w, k in zip(found.words, found.label, strict=True)]


@st.composite
def sides(draw):
    out = []
    for _ in range(2):
        items = draw(
            st.lists(
                st.tuples(
                    st.integers(0, 3000), st.integers(0, 300), st.sampled_from(["yes", "no", "uh"])
                ),
                max_size=12,
            )
        )
        out.append(sorted((t, s, s + d) for s, d, t in items))
    return [sorted(side, key=lambda w: w[1]) for side in out]


@given(sides(), st.integers(1, 400), st.integers(0, 500))
def test_labels_agree_with_the_plain_oracle(pair, gap, reach):
    rules = WordRules(utterance_gap=gap, reach=reach)
    phrases = PhraseList(phrases=("yes", "uh no"), counts=(1, 1))
    session = {Role.USER: words(*pair[0]), Role.SYSTEM: words(*pair[1])}
    found = word_labels(session, phrases, rules)
    order = list(session)
    fast = [
        (order.index(r), *w, WORD_LABELS[k])
        for r, w, k in zip(found.role, found.words, found.label, strict=True)
    ]
    expected, candidates, unplaced = label(pair, phrases.phrases, gap=gap, reach=reach)
    assert fast == expected
    assert (found.candidates, found.unplaced) == (candidates, unplaced)


def test_the_last_word_before_the_channel_changes_is_t():
    _, found = run([("so", 0, 100), ("what", 150, 300)], [("well", 400, 500), ("no", 550, 700)])
    assert found == [("so", "C"), ("what", "T"), ("well", "C"), ("no", "C")]


def test_a_candidate_marks_the_word_that_contains_its_start():
    found, told = run([("long", 0, 500), ("story", 550, 900)], [("yes", 500, 540)])
    assert told == [("long", "B"), ("story", "C")]
    found, told = run([("long", 0, 500), ("story", 550, 900)], [("yes", 550, 600)])
    assert told == [("long", "C"), ("story", "B")]
    assert (found.candidates, found.unplaced) == (1, 0)


def test_a_candidate_outside_words_marks_the_last_one_within_a_second():
    assert run([("story", 0, 500)], [("yes", 1500, 1600)])[1] == [("story", "B")]
    found, told = run([("story", 0, 500)], [("yes", 1501, 1600)])
    assert told == [("story", "C")]
    assert found.unplaced == 1


def test_b_beats_t():
    told = run(
        [("what", 0, 300), ("yes", 5000, 5100)], [("well", 2000, 2200), ("yes", 300, 400)][::-1]
    )[1]
    assert told[0] == ("what", "B")


def test_a_candidate_is_set_aside_and_does_not_change_the_channel():
    told = run([("one", 0, 300), ("two", 800, 900)], [("uh", 400, 450), ("huh", 460, 500)])[1]
    assert told == [("one", "B"), ("two", "C")]


def test_a_frequent_phrase_inside_a_longer_utterance_is_no_candidate():
    found, _ = run([("yes", 0, 100), ("but", 150, 300), ("no", 310, 400)], [])
    assert found.candidates == 0


def test_a_two_word_phrase_that_is_not_listed_is_no_candidate():
    assert run([("oh", 0, 100), ("dear", 150, 300)], [])[0].candidates == 0


def test_utterances_break_at_gaps_of_exactly_g():
    both = utterances(words(("a", 0, 100), ("b", 300, 400)), gap=201, name="user")
    apart = utterances(words(("a", 0, 100), ("b", 300, 400)), gap=200, name="user")
    assert (len(both), len(apart)) == (1, 2)


def test_an_overlapped_word_does_not_shorten_the_reach():
    found = utterances(words(("a", 0, 1000), ("b", 10, 20), ("c", 1100, 1200)), gap=200, name="u")
    assert len(found) == 1


def test_non_speech_is_dropped_and_laughed_words_are_kept():
    found = utterances(
        words(("[noise]", 0, 50), ("[laughter-ok]", 60, 90), ("<b_aside>", 90, 95)),
        gap=10,
        name="u",
    )
    assert [[w.text for w in u] for u in found] == [["[laughter-ok]"]]


def test_phrases_are_counted_over_whole_short_utterances():
    session = {
        Role.USER: words(("Yes", 0, 10), ("yes_1", 900, 950), ("oh", 2000, 2010)),
        Role.SYSTEM: words(("a", 0, 10), ("b", 20, 30), ("c", 40, 50), ("no", 900, 950)),
    }
    found = frequent_phrases([session], WordRules(utterance_gap=200, phrases=2))
    assert found == PhraseList(phrases=("yes", "no"), counts=(2, 1))


def test_the_phrase_list_is_named_by_its_hash():
    assert YES.digest() == hashlib.sha256(b"yes\nuh huh").hexdigest()
    assert YES.digest() != PhraseList(phrases=("uh huh", "yes"), counts=(2, 3)).digest()


def test_normalising_keeps_inner_marks():
    assert [normalise(x) for x in ("Okay_1", "um-hum", "_a_b")] == ["okay", "um-hum", "_a_b"]


def test_the_score_is_read_at_the_last_full_frame():
    rate = Fraction(25, 2)
    assert [last_full_frame(t, rate=rate) for t in (0, 79_999, 80_000, 159_999, 160_000)] == [
        None, None, 0, 0, 1,
    ]  # fmt: skip


def test_words_out_of_order_are_an_error():
    with pytest.raises(DataError, match="starts before the one in front of it"):
        run([("b", 100, 200), ("a", 0, 50)], [])


def test_reversed_and_non_finite_words_are_errors():
    with pytest.raises(DataError, match="ends before it starts"):
        run([("a", 100, 50)], [])
    with pytest.raises(DataError, match="FB202"):
        run([("a", 0.0, float("nan"))], [])


def test_one_channel_is_an_error_and_a_silent_one_is_not():
    with pytest.raises(DataError, match="FB611"):
        word_labels({Role.USER: []}, YES, RULES)
    found, told = run([], [])
    assert (told, found.candidates, found.unplaced) == ([], 0, 0)


def test_the_gap_has_no_default_and_must_be_positive():
    with pytest.raises(TypeError, match="utterance_gap"):
        WordRules()
    with pytest.raises(UsageError, match="utterance_gap is 0"):
        WordRules(utterance_gap=0)
    with pytest.raises(UsageError, match="reach is -1"):
        WordRules(utterance_gap=1, reach=-1)


def test_a_real_call_gives_every_word_one_label(real_data):
    call = read_call(real_data / "swb_ms98", "sw2001")
    session = {role: side.words for role, side in call.items()}
    rules = WordRules(utterance_gap=500_000)
    found = word_labels(session, frequent_phrases([session], rules), rules)
    spoken = sum(len(side.spans()) for side in call.values())
    assert 0 < found.candidates < spoken - len(found.words) <= 2 * found.candidates
    assert sum(found.count(x) for x in WORD_LABELS) == len(found.words)
    assert min(found.count(x) for x in WORD_LABELS) > 0
