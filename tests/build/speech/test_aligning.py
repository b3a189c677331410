import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from floorbench.build.speech.aligning import PocketsphinxAligner
from floorbench.errors import DataError, EnvironmentProblem
from support.speech import RATE, check_aligner, tone


class FakeDecoder:
    def __init__(self, **settings):
        assert json.dumps(settings)

    def lookup_word(self, word):
        return None if word == "floorbench" else "X"

    def set_align_text(self, text):
        if text == "impossible":
            raise RuntimeError("no path")
        self.text = text

    def start_utt(self):
        pass

    end_utt = start_utt

    def process_raw(self, pcm, full_utt):
        assert len(pcm) == 32_000

    def seg(self):
        words = self.text.split()[: 1 if self.text.startswith("lost") else None]
        yield SimpleNamespace(word="<sil>", start_frame=0, end_frame=3, prob=1.0)
        for i, word in enumerate(words):
            yield SimpleNamespace(
                word=f"{word}(2)", start_frame=4 + i * 10, end_frame=13 + i * 10, prob=0.5
            )


def test_pocketsphinx_conforms(monkeypatch):
    made = ModuleType("pocketsphinx")
    made.Decoder = FakeDecoder
    monkeypatch.setitem(sys.modules, "pocketsphinx", made)
    aligner = PocketsphinxAligner()
    check_aligner(aligner)
    (word,) = aligner.align(tone(), RATE, text="Hello!", language="en")
    assert (word.text, word.start, word.end, word.score) == ("Hello!", 0.04, 0.14, 0.5)
    for text in ("floorbench", "impossible", "lost words", "..."):
        with pytest.raises(DataError, match="FB874"):
            aligner.align(tone(), RATE, text=text, language="en")
    with pytest.raises(DataError, match="FB874"):
        aligner.align(tone(), RATE, text="你好", language="zh")


def test_a_missing_aligner_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pocketsphinx", None)
    with pytest.raises(EnvironmentProblem, match="FB401"):
        PocketsphinxAligner().align(tone(), RATE, text="hi", language="en")
