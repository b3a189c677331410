"""How much the stream driver costs, and how fast 549 samples stream: two ratios.

    python benchmarks/bench_stream.py [--samples 549]

1. Driver overhead per 20 ms chunk, as a share of Silero ONNX's CPU time for the same audio
   (wanted: below 5 %). The overhead is the driver with a session that does nothing, on decoded
   audio in memory, so that no decoding has to be subtracted; the two are timed in turns, and the
   median of the rounds is given with its range.
2. Audio time over CPU time for the Silero rule on the user channel of so many samples, one core
   (wanted: above 50). The samples are those of the starter set, repeated.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice
from statistics import median

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from floorbench.audio.ref import ArrayAudio
from floorbench.core.ports import Chunk
from floorbench.core.prediction import Event
from floorbench.core.sample import Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.time import from_samples
from floorbench.core.vocab import Role
from floorbench.datasets.open import open_dataset
from floorbench.systems import build_system
from floorbench.systems.stream import StreamDriver
from floorbench.tasks.echo import EchoTask

STEP = 0.02
ROUNDS = 7


class Nothing:
    """A stream that hears and says nothing."""

    def __init__(self) -> None:
        self.spec = SystemSpec(
            name="nothing", version="1", streaming_step=STEP, front_end=FrontEnd(rate=16_000)
        )

    def load(self) -> None:
        pass

    def open(self, setup: Observation) -> Nothing:
        return self

    def push(self, chunk: Chunk) -> Sequence[Event]:
        return ()

    def close(self) -> Sequence[Event]:
        return ()


def cpu(work: object, shown: Sequence[Observation]) -> float:
    before = time.process_time()
    for observation in shown:
        work(observation)  # type: ignore[operator]
    return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=549)
    wanted = parser.parse_args().samples
    task, rule = EchoTask(), build_system("barge-in-silero")
    rule.load()
    found = list(open_dataset("starter:echo").samples())
    shown = [task.observe(s, "", system=rule.spec) for s in islice(cycle(found), wanted)]
    heard = [o.channels[Role.USER] for o in shown]
    seconds = sum(from_samples(a.frames, a.rate) for a in heard)
    rule.decide(shown[0])

    vad = rule.system._detector  # the rule's own detector
    part = shown[: min(len(shown), 102)]
    part_seconds = sum(from_samples(o.channels[Role.USER].frames, 16_000) for o in part)
    chunks = part_seconds / STEP
    driver = StreamDriver(Nothing())
    held = [
        replace(o, channels={r: ArrayAudio(a.read(), rate=a.rate) for r, a in o.channels.items()})
        for o in part
    ]

    def silero(observation: Observation) -> None:
        speech = vad()
        samples = observation.channels[Role.USER].read()
        for first in range(0, samples.size - 511, 512):
            speech(samples[first : first + 512])

    rounds = [(cpu(driver.decide, held), cpu(silero, held)) for _ in range(ROUNDS)]
    shares = sorted(ours / model for ours, model in rounds)
    ours, model = (median(times) for times in zip(*rounds, strict=True))
    print(
        f"driver: {1e6 * ours / chunks:.1f} us per 20 ms chunk, "
        f"Silero {1e6 * model / chunks:.1f} us for the same audio: {median(shares):.1%} "
        f"(rounds {shares[0]:.1%} to {shares[-1]:.1%})"
    )
    total = cpu(rule.decide, shown)
    print(
        f"{len(shown)} samples, {seconds:.0f} s of audio in {total:.1f} s of CPU: "
        f"{seconds / total:.0f} times real time"
    )


if __name__ == "__main__":
    main()
