"""Dialogues that are spoken, for the stages of speech."""

from __future__ import annotations

import hashlib

import numpy as np

from floorbench.build.pipeline.stage import Item, Made
from floorbench.build.speech.rate import Band
from floorbench.build.speech.synthesise import Synthesise
from floorbench.build.text.dialogue import Dialogue, Round, Target, with_dialogue
from floorbench.datasets.codett_labels import LABELS
from support.speech import FakeTTS

POOLS = {"en": {"user": ("u1", "u2", "u3"), "third_party": ("t1",), "background": ("b1",)}}
WIDE = {"en": Band(low=0.1, high=100.0)}


class Bench:
    """Keeps sounds as they are, in 32 bits."""

    seed = 1

    def __init__(self, attempt=0):
        self.attempt = attempt
        self.rng = np.random.default_rng(0)
        self.sounds = {}
        self.notes = []

    def keep(self, samples, rate):
        assert samples.dtype == np.float32
        name = hashlib.sha256(samples.tobytes()).hexdigest()
        self.sounds[name] = (samples, rate)
        return name

    def load(self, digest):
        return self.sounds[digest]

    def note(self, kind, **facts):
        self.notes.append((kind, facts))


def item(*, id="a", family="f", role="user", text="I think we should go", cut=None):
    return with_dialogue(
        Item(id=id),
        Dialogue(
            id=id,
            language="en",
            topic="x",
            family=family,
            history=(Round(user="hello there", assistant="hi"),),
            target=Target(role=role, text=text, cut_after=cut, label=LABELS[0]),
        ),
    )


def stage(tts=None, **more):
    return Synthesise(**{"tts": tts or FakeTTS(), "pools": POOLS, "bands": WIDE} | more)


def said(found, attempt=0, maker=None):
    bench = Bench(attempt)
    outcome = (maker or stage()).make(found, bench)
    assert isinstance(outcome, Made)
    return outcome.items[0], bench
