import numpy as np
import pytest

from floorbench.build.speech.providers import Can, Spoken, Word
from floorbench.build.speech.words import cut_after, join_words, moved, word_times, words_of
from floorbench.errors import DataError
from support.speech import FakeTTS, tone


def test_pieces_add_up_to_the_text():
    for text, language in (
        ("Well, I don't know...", "en"),
        ("你好，OK 吗？", "zh"),
        ("“Yes”", "en"),
    ):
        assert "".join(words_of(text, language)) == text


def test_unsure_boundaries_join_and_order_is_kept():
    words = join_words(("a ", "b ", "c ", "d"), [0.2, 0.1, 0.6], onset=0.0, end=1.0)
    assert [(w.text, w.start, w.end) for w in words] == [
        ("a", 0.0, 0.2),
        ("b c", 0.2, 0.6),
        ("d", 0.6, 1.0),
    ]


class Second:
    can = Can(returns_words=True)
    identity = {"name": "second"}

    def __init__(self, *languages, fails=False):
        self.languages = frozenset(languages)
        self.fails = fails

    def align(self, audio, rate, *, text, language):
        if self.fails:
            raise DataError("FB874", "lost")
        return (Word(text=text, start=0.0, end=1.0, score=0.5),)


MUTE = Spoken(audio=tone(), rate=24_000)


def test_native_times_come_first_then_aligners_in_order():
    said = FakeTTS().synthesize("a b", language="en", voice="x")
    assert word_times(said, text="a b", language="en", aligners=[Second("en")])[1] == "native"
    order = [Second("zh"), Second("en", fails=True), Second("en")]
    words, by = word_times(MUTE, text="a b", language="en", aligners=order)
    assert (words[0].score, by) == (0.5, "second")


@pytest.mark.parametrize("aligners", [[], [Second("zh")], [Second("en", fails=True)]])
def test_times_are_never_spread_evenly(aligners):
    with pytest.raises(DataError, match="FB874"):
        word_times(MUTE, text="a b", language="en", aligners=aligners)


WORDS = (Word(text="I", start=0.0, end=0.2), Word(text="think,", start=0.2, end=0.5))
LONGER = (*WORDS, Word(text="so", start=0.6, end=0.9))


def test_a_cut_lies_between_two_words():
    assert cut_after(LONGER, "I think") == 0.55


@pytest.mark.parametrize("prefix", ["I thi", "", "I think so", "You"])
def test_there_is_no_cut_within_a_word_or_at_the_end(prefix):
    with pytest.raises(DataError, match="FB874"):
        cut_after(LONGER, prefix)


def test_times_follow_stretch_and_trim():
    assert moved(WORDS, scale=1.1, by_s=-0.1)[1] == Word(text="think,", start=0.12, end=0.45)
    assert np.isclose(moved(WORDS)[0].end, 0.2)
