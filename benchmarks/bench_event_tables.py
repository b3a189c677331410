"""Labels and event tables of two-channel sessions: time, memory, and against frame-by-frame loops.

    PYTHONPATH=src:tests python benchmarks/bench_event_tables.py [--hours 10 1000] [--real DIR]

Sessions of ten minutes are made on the fly as words and labelled one at a time; the event table is
written as JSON lines. Each size runs in its own process, so that its peak memory is its own. The
loops are the test oracles, run on one session. ``--real`` labels a folder of real calls.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from floorbench.core.vocab import Role
from floorbench.datasets.dualturn_labels import (
    LabelRules,
    labelled,
    training_phrases,
    write_table,
)
from floorbench.datasets.open import open_dataset
from floorbench.datasets.two_channel import TwoChannelSession, TwoChannelSource, words_session
from floorbench.errors import Place
from floorbench.events.dualturn import RATE
from floorbench.events.dualturn_words import TimedWord
from oracles import events_dualturn

MINUTES = 10
RULES = LabelRules(protocol="dualturn-4s", min_gap=0)
WORDS = ("so", "yeah", "we", "went", "there", "okay", "right", "and", "it", "was")


class MadeUp(TwoChannelSource):
    """Random conversations that exist only while they are labelled."""

    reader = "made-up"

    def __init__(self, hours: float) -> None:
        self._hours = hours
        super().__init__(Path("made-up"), splits="none")

    def _find(self) -> Mapping[str, int]:
        count = max(1, round(self._hours * 60 / MINUTES))
        return {f"m{n:06d}": n for n in range(count)}

    def _load(self, session_id: str, found: Any) -> TwoChannelSession:
        rng = np.random.default_rng(found)
        sides: dict[Role, list[TimedWord]] = {Role.USER: [], Role.SYSTEM: []}
        for role, words in sides.items():
            del role
            now = 0
            while now < MINUTES * 60_000_000:
                for _ in range(int(rng.integers(1, 14))):
                    length = int(rng.integers(120_000, 450_000))
                    words.append(TimedWord(WORDS[int(rng.integers(10))], now, now + length))
                    now += length + (int(rng.integers(0, 120_000)) if rng.random() < 0.2 else 0)
                now += int(rng.exponential(2_500_000)) + 200_000
        return words_session(session_id, sides, where=Place("made-up"))


def label(source: TwoChannelSource, folder: Path) -> tuple[int, float]:
    """Label everything; return the number of events and the seconds it took."""
    start = time.perf_counter()
    phrases = training_phrases(source, RULES)
    found = (row for one in labelled(source, RULES, phrases) for row in one.rows)
    count = write_table(folder / "events.jsonl", found)
    return count, time.perf_counter() - start


def loop(session: TwoChannelSession) -> float:
    """Return the seconds that frame-by-frame loops take for the labels of one session."""
    user, system = (track.tolist() for track in session.vad(RATE).values())
    start = time.perf_counter()
    for own, other in ((user, system), (system, user)):
        events_dualturn.labels(own, other)
        events_dualturn.future(own)
        events_dualturn.actions(own, other)
    return time.perf_counter() - start


def arrays(session: TwoChannelSession) -> float:
    """Return the seconds that floorbench takes for the same labels."""
    from floorbench.events.dualturn import SignalRules, dualturn_signals
    from floorbench.events.dualturn_actions import ActionRules, agent_actions

    vad = session.vad(RATE)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        dualturn_signals(vad, SignalRules(min_gap=0))
        for agent in (Role.USER, Role.SYSTEM):
            agent_actions(vad, ActionRules(min_gap=0), agent=agent)
        best = min(best, time.perf_counter() - start)
    return best


def one_size(hours: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        count, taken = label(MadeUp(hours), Path(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{hours:g} {count} {taken:.2f} {peak:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, nargs=2, default=(10, 1000))
    parser.add_argument("--one", type=float, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--real", type=Path, default=None)
    args = parser.parse_args()
    if args.one is not None:
        one_size(args.one)
        return
    session = MadeUp(MINUTES / 60).session("m000000")
    ratio = loop(session) / arrays(session)
    print(
        f"labels of one session: {ratio:.0f} times as fast as frame-by-frame loops (expected > 20)"
    )
    peaks = []
    for hours in args.hours:
        done = subprocess.run(
            [sys.executable, __file__, "--one", str(hours)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        _, count, taken, peak = done.stdout.split()
        peaks.append(float(peak))
        print(f"{hours:g} h: {count} events in {taken} s, peak memory {peak} MiB")
    print(f"peak memory {peaks[1] / peaks[0]:.2f} times (expected <= 1.2)")
    if args.real is not None:
        with tempfile.TemporaryDirectory() as folder:
            source = open_dataset(args.real)
            assert isinstance(source, TwoChannelSource)
            count, taken = label(source, Path(folder))
        print(f"{len(source.ids)} real sessions: {count} events in {taken:.1f} s")


if __name__ == "__main__":
    main()
