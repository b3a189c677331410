from decimal import Decimal

import pytest

from floorbench.build.stimuli_turns import (
    Turn,
    TurnRules,
    TurnWord,
    completions,
    fault,
    floor_turns,
    marked_turns,
    tier_named,
    words_of,
)
from floorbench.errors import DataError, UsageError
from floorbench.formats import Document, Entry, Tier

RULES = TurnRules(pause=0.2, max_pause=2.0, backchannel=0.5, shortest=0.0, longest=60.0)


def entry(text: str, start: str | None, end: str | None) -> Entry:
    return Entry(
        start=None if start is None else Decimal(start),
        end=None if end is None else Decimal(end),
        text=text,
        line=7,
    )


def words(*given: tuple[str, str, str]) -> list[TurnWord]:
    tier = Tier(name="w", entries=tuple(entry(*g) for g in given))
    return words_of(tier, where="f")


def texts(turns: object) -> list[str]:
    return [" ".join(w.text for w in t.words) for t in turns]


@pytest.mark.parametrize(
    ("token", "text", "mark"),
    [
        ("okay_1", "okay", None),
        ("[laughter-yeah]", "yeah", None),
        ("th[ey]-", "th-", None),
        ("-[th]ey", "-ey", None),
        ("[recal/recall]", "recal", None),
        ("{alrighty}", "alrighty", None),
        ("really?", "really", "?"),
    ],
)
def test_transcription_codes_leave_the_word(token: str, text: str, mark: str | None) -> None:
    (word,) = words((token, "0", "1"))
    assert (word.text, word.mark) == (text, mark)


def test_silence_noise_and_laughter_are_no_words() -> None:
    given = ("[silence]", "[noise]", "[laughter]", "[vocalized-noise]", "<b_aside>", "")
    assert words(*((t, "0", "1") for t in given)) == []


def test_untimed_and_disordered_words_are_refused() -> None:
    with pytest.raises(DataError, match=r"FB273 f:7 \[w\]: word 'a' has no times"):
        words_of(Tier(name="w", entries=(entry("a", None, None),)), where="f")
    with pytest.raises(DataError, match=r"FB273.*'a' at 0 s lies before 'b'"):
        words(("b", "1", "2"), ("a", "0", "0.5"))
    with pytest.raises(DataError, match="several words"):
        words(("two words", "0", "1"))


def test_a_tier_must_be_there_once_and_hold_something() -> None:
    one = Tier(name="a", entries=(entry("x", "0", "1"),))
    with pytest.raises(DataError, match=r"FB272.*no tier 'b'") as caught:
        tier_named(Document(tiers=(one,)), "b", where="f")
    assert "'a'" in caught.value.hint
    with pytest.raises(DataError, match="2 tiers are named 'a'"):
        tier_named(Document(tiers=(one, one)), "a", where="f")
    with pytest.raises(DataError, match="is empty"):
        tier_named(Document(tiers=(Tier(name="a"),)), "a", where="f")


def test_marked_turns_hold_the_words_whose_middles_lie_inside() -> None:
    given = words(("a", "0", "1"), ("b", "1", "2"), ("c", "2", "3"))
    marks = Tier(name="t", entries=(entry("", "0.4", "1.6"),))
    (turn,) = marked_turns(marks, given, speaker="s", where="f")
    assert texts([turn]) == ["a b"]
    assert (turn.start, turn.end) == (0, 2)  # no word is cut


def test_overlapping_and_empty_turns_are_refused() -> None:
    given = words(("a", "0", "1"), ("b", "1", "2"))
    twice = Tier(name="t", entries=(entry("", "0", "1.2"), entry("", "1", "2")))
    with pytest.raises(DataError, match=r"FB274.*overlaps"):
        list(marked_turns(twice, given, speaker="s", where="f"))
    nothing = Tier(name="t", entries=(entry("", "5", "6"),))
    with pytest.raises(DataError, match="holds no word"):
        list(marked_turns(nothing, given, speaker="s", where="f"))


def test_a_long_silence_ends_a_turn() -> None:
    given = words(("a", "0", "1"), ("b", "2.999", "4"), ("c", "6", "7"))
    assert texts(floor_turns(given, [], speaker="s", rules=RULES)) == ["a b", "c"]


def test_the_other_side_ends_a_turn_in_a_pause_unless_it_is_a_backchannel() -> None:
    given = words(("a", "0", "1"), ("b", "2", "3"))
    short = words(("mhm", "1.2", "1.7"))
    long = words(("mhm", "1.2", "1.4"), ("yes", "1.5", "1.701"))  # one stretch
    apart = words(("mhm", "1.1", "1.3"), ("yes", "1.5", "1.9"))  # two stretches
    assert texts(floor_turns(given, short, speaker="s", rules=RULES)) == ["a b"]
    assert texts(floor_turns(given, long, speaker="s", rules=RULES)) == ["a", "b"]
    assert texts(floor_turns(given, apart, speaker="s", rules=RULES)) == ["a b"]


def test_overlap_without_an_own_pause_does_not_end_a_turn() -> None:
    given = words(("a", "0", "1"), ("b", "1.1", "3"))
    other = words(("listen", "0.5", "2"))
    assert texts(floor_turns(given, other, speaker="s", rules=RULES)) == ["a b"]


def turn(*given: tuple[str, str, str]) -> Turn:
    found = words(*given)
    return Turn("s", found[0].start, found[-1].end, tuple(found))


def test_possible_completions() -> None:
    assert completions(turn(("a", "0", "1")), RULES) == 1
    assert completions(turn(("yes", "0", "1"), ("no", "1.2", "2")), RULES) == 2
    assert completions(turn(("yes", "0", "1"), ("no", "1.199", "2")), RULES) == 1
    assert completions(turn(("yes.", "0", "1"), ("no", "1", "2")), RULES) == 2
    assert completions(turn(("yes,", "0", "1"), ("no", "1", "2")), RULES) == 1
    for open_word in ("uh", "The", "th[ey]-", "because_1"):
        assert completions(turn((open_word, "0", "1"), ("no", "1.5", "2")), RULES) == 1


def test_why_a_turn_is_no_stimulus() -> None:
    rules = TurnRules(pause=0.2, max_pause=1.0, backchannel=1, shortest=2.0, longest=4.0)
    assert fault(turn(("yes", "0", "1"), ("no", "1.2", "1.9")), rules) == "too short"
    assert fault(turn(("yes", "0", "1"), ("no", "1.2", "4.1")), rules) == "too long"
    assert fault(turn(("yes", "0", "1"), ("no", "2", "3")), rules) is not None
    assert fault(turn(("yes", "0", "1"), ("no", "1", "3")), rules) == "too few possible completions"
    assert fault(turn(("yes", "0", "1"), ("no", "1.3", "3")), rules) is None


@pytest.mark.parametrize(
    "change",
    [{"pause": 0.0}, {"max_pause": 0.1}, {"backchannel": -1}, {"shortest": 61}, {"tcus": 0}],
)
def test_rules_out_of_range(change: dict[str, float]) -> None:
    good = {"pause": 0.2, "max_pause": 2.0, "backchannel": 1, "shortest": 1, "longest": 60}
    with pytest.raises(UsageError, match="FB271"):
        TurnRules(**{**good, **change})
