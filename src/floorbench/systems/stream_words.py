"""A lexical rule on reference words: keep the floor for what sounds like a backchannel.

It does not recognise speech: the words are the reference transcript, each revealed at its end time
plus a declared delay that stands for a recogniser's. Labelled so in its name and its spec.
"""

from __future__ import annotations

from collections.abc import Sequence

from floorbench.core.prediction import Event
from floorbench.core.sample import Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Level
from floorbench.systems.common import number
from floorbench.systems.stream import Step
from floorbench.systems.stream_rules import ACTION, YIELD

RATE = 16_000
STEP = 0.08
PHRASES = {
    "en": (
        "yeah", "yes", "yep", "uh huh", "mm", "mhm", "hm", "okay", "ok", "right", "sure", "i see",
        "really", "oh", "wow", "great", "nice", "true", "exactly", "of course", "go on",
        "no way", "that's right", "oh no", "oh wow", "i know", "alright", "good", "well",
    ),
    "zh": (
        "嗯", "嗯嗯", "对", "对对", "对啊", "是", "是的", "是啊", "好", "好的", "好啊", "哦", "噢",
        "啊", "唉", "哎", "哇", "真的", "真的吗", "没错", "当然", "明白", "知道了", "原来如此",
        "然后呢", "这样啊", "可不是", "不会吧", "天哪",
    ),
}  # fmt: skip


class BackchannelWords:
    """Yield at the first word that can no longer begin a known backchannel.

    Parameters
    ----------
    word_delay : float
        Seconds from the end of a word to the moment it is known, 0 to 5.
    """

    def __init__(self, *, word_delay: float = 0.3) -> None:
        self._delay = number("word_delay", word_delay, low=0.0, high=5.0)
        self.spec = SystemSpec(
            name="backchannel-words",
            version="1",
            level=Level.MEASURED,
            labels=(YIELD,),
            languages=tuple(PHRASES),
            modalities=("words",),
            context="current user turn",
            streaming_step=STEP,
            front_end=FrontEnd(rate=RATE, text="reference words at their end plus word_delay"),
            parameters={
                "word_delay": self._delay,
                "tail": 0.0,
                "words": "reference transcript",
                "phrases": {k: list(v) for k, v in PHRASES.items()},
            },
            licence="Apache-2.0",
        )

    def load(self) -> None:
        """Do nothing."""

    def open(self, setup: Observation) -> _Words:
        """Start a stream."""
        return _Words(PHRASES[setup.language if setup.language in PHRASES else "en"])


class _Words:
    def __init__(self, phrases: tuple[str, ...]) -> None:
        self._known = tuple(_bare(p) for p in phrases)
        self._said = ""
        self._yielded = False

    def push(self, chunk: Step) -> Sequence[Event]:
        self._said += "".join(_bare(word.text) for word in chunk.words)
        if self._yielded or any(p.startswith(self._said) for p in self._known):
            return ()
        self._yielded = True
        return (Event(kind=ACTION, time=chunk.end, label=YIELD),)

    def close(self) -> Sequence[Event]:
        return ()


def _bare(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())
