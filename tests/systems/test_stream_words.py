"""The lexical rule: known backchannels pass, the first word that begins none is yielded to."""

from __future__ import annotations

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.sample import Observation, Word
from floorbench.core.time import Span
from floorbench.core.vocab import Role
from floorbench.systems import build_system


def yields(words: list[tuple[str, float]], *, language: str = "en", **kw: float) -> list[float]:
    said = tuple(Word(text=t, span=Span(end - 0.1, end)) for t, end in words)
    audio = ArrayAudio(np.zeros(48_000, dtype=np.float32), rate=16_000)
    decision = build_system("backchannel-words", **kw).decide(
        Observation(language=language, channels={Role.USER: audio}, words=said)
    )
    return [e.commit for e in decision.events if e.label == "yield" and e.commit is not None]


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ([("Uh", 0.5), ("huh,", 0.7)], "en"),
        ([("That's", 0.5), ("right.", 0.9)], "en"),
        ([("Yeah!", 0.5)], "en"),
        ([("嗯", 0.5), ("嗯。", 0.7)], "zh"),
        ([("原", 0.3), ("来", 0.4), ("如", 0.5), ("此", 0.6)], "zh"),
        ([], "en"),
    ],
)
def test_backchannels_keep_the_floor(words: list[tuple[str, float]], language: str) -> None:
    assert yields(words, language=language) == []


def test_it_yields_at_the_first_other_word_once() -> None:
    words = [("Yeah", 0.4), ("but", 0.8), ("wait", 1.2)]
    assert yields(words, word_delay=0.0) == [pytest.approx(0.8)]
    assert yields([("等", 0.8), ("等", 1.0)], language="zh", word_delay=0.0) == [pytest.approx(0.8)]


def test_the_declared_delay_moves_the_decision() -> None:
    early, late = (yields([("stop", 0.8)], word_delay=d)[0] for d in (0.0, 0.4))
    assert late - early == pytest.approx(0.4)


def test_the_spec_says_that_the_words_are_the_reference() -> None:
    spec = build_system("backchannel-words").spec
    assert spec.modalities == ("words",)
    assert spec.parameters["words"] == "reference transcript"
    assert spec.parameters["word_delay"] == 0.3
