import pytest

from floorbench.build.speech.scoring import Errors, errors_of, normalised, syllables
from floorbench.errors import DataError


def test_the_gate_looks_at_words_or_syllables():
    assert Errors(wer=0.2, cer=0.1, syllables=None).gated == 0.2
    assert Errors(wer=None, cer=0.5, syllables=0.0).gated == 0.0


def test_a_language_without_normaliser_is_refused():
    with pytest.raises(DataError, match="FB876"):
        normalised("bonjour", "fr")


@pytest.mark.needs_speech
@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "I'd like two tickets, neighbour!", "i would like 2 tickets neighbor"),
        ("zh", "麻烦你把音乐关小。", "麻煩你把音樂關小"),
        ("zh", "会议在7点", "会议在七点。"),
        ("zh", "两张票", "二张票"),
    ],
)
def test_spelling_script_and_numerals_are_alike(language, one, other):
    assert normalised(one, language) == normalised(other, language)


@pytest.mark.needs_speech
def test_homophones_are_character_errors_and_no_syllable_errors():
    errors = errors_of("我要预订房间", "我要预定房间", "zh")
    assert errors.wer is None
    assert errors.cer == pytest.approx(1 / 6)
    assert errors.syllables == 0
    assert syllables("你好ok")[:2] == ["ni", "hao"]


@pytest.mark.needs_speech
def test_english_words_are_counted():
    errors = errors_of("please turn it off now", "please turn it of", "en")
    assert errors.wer == pytest.approx(2 / 5)
    assert errors_of("hello", "", "en").gated == 1.0


@pytest.mark.needs_speech
def test_nothing_to_compare_is_an_error():
    with pytest.raises(DataError, match="FB876"):
        errors_of("。", "你好", "zh")
