"""The recipe ``echo`` with a voice of tones, a recogniser that agrees, and rewriters that lie."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from floorbench.build.echo_recipe.recipe import EchoRecipe
from floorbench.build.echo_recipe.rewriting import EmbeddedRewriter, Written
from floorbench.build.echo_recipe.texts import FOLDER, TYPES, read_texts, seeds
from floorbench.build.speech.providers import Can, Spoken, Word
from floorbench.build.speech.scoring import Errors
from floorbench.build.speech.words import words_of
from floorbench.errors import DataError
from support.speech import FakeASR

RATE = 16_000
EACH = {"en": 0.3, "zh": 0.2}


class TonesTTS:
    """Says every word as a tone of its own pitch between silences; every word has its time."""

    can = Can(returns_words=True, speed=True, deterministic=True)

    @property
    def identity(self):
        return {"name": "tones"}

    def synthesize(self, text, *, language, voice, speed=1.0, emotion=None, seed=0, prefix=None):
        pieces = words_of(text, language)
        each = round(EACH[language] / speed * RATE)
        pitch = 120 + sum(map(ord, str(voice))) % 60
        time = np.arange(each * len(pieces)) / RATE
        said = 0.2 * np.sin(2 * np.pi * (pitch + 20 * (time * RATE // each % 5)) * time)
        words = tuple(
            Word(
                text=piece.strip(),
                start=round(0.1 + n * each / RATE, 4),
                end=round(0.1 + (n + 1) * each / RATE, 4),
            )
            for n, piece in enumerate(pieces)
        )
        return Spoken(
            audio=np.concatenate([np.zeros(1600), said, np.zeros(1600)]).astype(np.float32),
            rate=RATE,
            words=words,
            phonemes=(4 if language == "en" else 2) * len(pieces),
            provenance={"name": "tones", "voice": voice, "speed": speed},
        )


class FailingTTS(TonesTTS):
    """Fails at the insertion of the first group."""

    def __init__(self):
        first = seeds(folder=FOLDER, languages=["en"], types=list(TYPES), groups=1, spare=0)[0]
        self.fails_at = read_texts(FOLDER, "en").group(first.fields["text"]).insertion

    def synthesize(self, text, **more):
        if text == self.fails_at:
            raise DataError("FB872", "the voice has no breath left")
        return super().synthesize(text, **more)


class LyingRewriter(EmbeddedRewriter):
    """Adds a full stop to one insertion, a space to another."""

    def rewrite(self, item, source, role, bench):
        found = super().rewrite(item, source, role, bench)
        change = {"en-000": ".", "en-001": " "}.get(item.id, "")
        return replace(found, insertion=found.insertion + change)


class TonesRecipe(EchoRecipe):
    def measure(self, text, heard, language):
        return Errors(wer=0.0, cer=0.0, syllables=0.0)

    def providers(self):
        return TonesTTS(), FakeASR("x")


class FailingRecipe(TonesRecipe):
    def providers(self):
        return FailingTTS(), FakeASR("x")


class LyingRecipe(TonesRecipe):
    def rewriter(self, chosen, folder: Path):
        return LyingRewriter(folder=folder, languages=chosen["languages"])


def context(**changes: Any) -> Written:
    """A context that breaks no rule."""
    given: dict[str, Any] = {
        "history": ("I am going to bed.",),
        "before": "I am closing the blinds in the hall",
        "insertion": "Not so fast.",
        "after": " and then I switch off all the lamps in the kitchen.",
    }
    return Written(**{**given, **changes})
