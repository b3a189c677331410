from dataclasses import FrozenInstanceError

import pytest

from floorbench.build.speech.providers import ASR, TTS, Aligner, Can, Heard, Spoken, Word
from support.speech import FakeASR, FakeTTS, tone


def test_a_provider_is_known_by_what_it_does():
    assert isinstance(FakeTTS(), TTS)
    assert isinstance(FakeASR("x"), ASR)
    assert not isinstance(FakeASR("x"), TTS)
    assert not isinstance(FakeTTS(), Aligner)


def test_a_provider_can_nothing_that_it_does_not_say():
    can = Can()
    flags = (can.clones, can.emotion, can.returns_words, can.speed, can.deterministic)
    assert not any(flags)


def test_what_was_said_and_heard_cannot_be_changed():
    said = Spoken(audio=tone(), rate=24_000)
    with pytest.raises(FrozenInstanceError):
        said.rate = 8_000
    with pytest.raises(FrozenInstanceError):
        Word(text="a", start=0.0, end=1.0).end = 2.0
    assert (said.words, Heard(text="a").words) == (None, None)
