"""What the stream driver costs beside a detector, and what the Silero rule costs beside silero-vad.

The driver's own cost is that of a session that does nothing, on decoded audio in memory. The
package silero-vad is asked for its iterator over the same samples with the same kind of model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from benchmarks.ratios import Case, Work, peer
from floorbench.audio.ref import ArrayAudio
from floorbench.core.ports import Chunk
from floorbench.core.prediction import Event
from floorbench.core.sample import Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.time import from_samples
from floorbench.core.vocab import Role
from floorbench.datasets.open import open_dataset
from floorbench.errors import FloorbenchError
from floorbench.systems import build_system
from floorbench.systems.stream import StreamDriver
from floorbench.tasks.echo import EchoTask

STEP = 0.02
RATE = 16_000
FRAME = 512


class Nothing:
    """A stream that hears and says nothing."""

    def __init__(self) -> None:
        self.spec = SystemSpec(
            name="nothing", version="1", streaming_step=STEP, front_end=FrontEnd(rate=RATE)
        )

    def load(self) -> None:
        pass

    def open(self, setup: Observation) -> Nothing:
        return self

    def push(self, chunk: Chunk) -> Sequence[Event]:
        return ()

    def close(self) -> Sequence[Event]:
        return ()


def in_memory(observation: Observation) -> Observation:
    """Return an observation whose audio is decoded."""
    heard = {r: ArrayAudio(a.read(), rate=a.rate) for r, a in observation.channels.items()}
    return replace(observation, channels=heard)


def silero_package(tracks: Sequence[np.ndarray]) -> Work:
    """Return the published package's iterator over tracks, 512 samples at a time."""
    import torch
    from silero_vad import VADIterator, load_silero_vad

    torch.set_num_threads(1)
    iterator = VADIterator(load_silero_vad(onnx=True), sampling_rate=RATE)

    def work() -> None:
        for track in tracks:
            iterator.reset_states()
            samples = torch.from_numpy(track)
            for first in range(0, len(track) - FRAME + 1, FRAME):
                iterator(samples[first : first + FRAME])

    return work


def cases(full: bool) -> Iterator[Case]:
    try:
        rule: Any = build_system("barge-in-silero")
        rule.load()
    except FloorbenchError as error:
        print(f"  left out: {error.code} {error.what}")
        return
    task = EchoTask()
    found = list(open_dataset("starter:echo").samples())
    shown = [
        in_memory(task.observe(s, "", system=rule.spec))
        for s in islice(cycle(found), 102 if full else 30)
    ]
    tracks = [o.channels[Role.USER].read() for o in shown]
    seconds = sum(from_samples(len(t), RATE) for t in tracks)
    size = f"{len(shown)} samples of the starter set, {seconds:.0f} s"
    driver = StreamDriver(Nothing())
    detector = rule.system._detector  # the rule's own

    def silero() -> None:
        for track in tracks:
            speech = detector()
            for first in range(0, track.size - FRAME + 1, FRAME):
                speech(track[first : first + FRAME])

    yield Case(
        name="stream driver with a session that does nothing, both channels",
        size=size,
        ours=lambda: [driver.decide(o) for o in shown],
        peers={"Silero VAD (ONNX) on the user channel": silero},
        per=(seconds / STEP, "step of 20 ms"),
        limit=0.05,
    )
    yield Case(
        name="barge-in rule with Silero VAD, streamed",
        size=size,
        ours=lambda: [rule.decide(o) for o in shown],
        peers={
            "Silero VAD (ONNX) alone": silero,
            "silero-vad's VADIterator": peer(("silero_vad", "torch"), silero_package, tracks),
        },
        per=(seconds, "second of audio"),
        rounds=5,
    )
