import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.vocab import Role
from floorbench.datasets.two_channel_session import segments_session, words_session
from floorbench.errors import DataError, Place
from floorbench.events.dualturn import RATE
from floorbench.events.dualturn_words import TimedWord

WHERE = Place("here")
A = [TimedWord("hello", 0, 500_000), TimedWord("[noise]", 500_000, 900_000)]
B = [TimedWord("yes", 1_000_000, 1_400_000)]


def audio(seconds: float) -> ArrayAudio:
    return ArrayAudio([0.1] * int(seconds * 1000), rate=1000)


def test_words_become_speech_without_noise_and_the_end_counts_it() -> None:
    made = words_session("s", {Role.USER: A, Role.SYSTEM: B}, where=WHERE)
    assert made.speech[Role.USER].tolist() == [[0, 500_000]]
    assert made.end == 1_400_000
    assert len(made.vad(RATE)[Role.USER]) == 18
    assert made.counted == {"sides of unequal length": 1}


def test_overlapping_words_are_counted_and_unite() -> None:
    twice = [TimedWord("a", 0, 400_000), TimedWord("b", 200_000, 600_000)]
    made = words_session("s", {Role.USER: twice, Role.SYSTEM: B}, where=WHERE)
    assert made.counted["overlapping words"] == 1
    shown = made.observation()
    assert [(s.start, s.end) for s in shown.activity[Role.USER]] == [(0.0, 0.6)]
    assert [w.text for w in shown.words] == ["a", "b", "yes"]
    assert shown.cutoff == 1.4


def test_one_channel_is_refused() -> None:
    with pytest.raises(DataError, match=r"FB251"):
        words_session("s", {Role.USER: A}, where=WHERE)


def test_channels_of_unequal_length_are_refused() -> None:
    unequal = {Role.USER: audio(2.0), Role.SYSTEM: audio(1.5)}
    with pytest.raises(DataError, match=r"FB252 .*user 2.000 s, system 1.500 s"):
        words_session("s", {Role.USER: A, Role.SYSTEM: B}, where=WHERE, audio=unequal)


def test_words_past_the_end_of_the_audio_are_refused() -> None:
    short = {Role.USER: audio(1.2), Role.SYSTEM: audio(1.2)}
    with pytest.raises(DataError, match=r"FB253"):
        words_session("s", {Role.USER: A, Role.SYSTEM: B}, where=WHERE, audio=short)
    within = {Role.USER: audio(1.35), Role.SYSTEM: audio(1.35)}
    words_session("s", {Role.USER: A, Role.SYSTEM: B}, where=WHERE, audio=within)


def test_segments_are_sorted_and_their_overlaps_counted() -> None:
    made = segments_session("s", {Role.USER: [(500, 900), (0, 600)], Role.SYSTEM: []}, where=WHERE)
    assert made.speech[Role.USER].tolist() == [[0, 600], [500, 900]]
    assert made.counted == {"overlapping segments": 1}
    assert made.source == "segments"
