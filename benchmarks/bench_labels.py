"""Speed of the frame labels: hours of two-channel audio a second, against frame-by-frame loops.

    PYTHONPATH=src:tests python benchmarks/bench_labels.py [--hours 20] [--session-minutes 10]

Sessions are made and labelled one at a time, so memory stays that of one session. The loops are
the test oracles, run on one session.
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from ratios import cpu_seconds, spread

from floorbench.core.vocab import Role
from floorbench.events.dualturn import RATE, SignalRules, dualturn_signals
from floorbench.events.dualturn_actions import ActionRules, agent_actions
from floorbench.events.vap import VapRules, vap_events
from floorbench.events.vap_projection import ProjectionRules, projection_classes
from oracles import events_dualturn, events_vap

Session = dict[Role, np.ndarray]
VAP = VapRules()
PROJECTION = ProjectionRules()


def sessions(count: int, minutes: float, rate: Fraction) -> Iterator[Session]:
    """Yield random conversations: turns of about 2 s, pauses of about 0.5 s, some overlap."""
    frames = int(minutes * 60 * rate)
    for number in range(count):
        rng = np.random.default_rng(number)
        state = np.zeros(0, dtype=np.int64)
        n = int(frames / float(rate))
        length = np.maximum(rng.exponential(1.2 * float(rate), 2 * n), 1).astype(np.int64)
        state = np.repeat(rng.choice(4, size=2 * n, p=[0.3, 0.32, 0.32, 0.06]), length)[:frames]
        yield {Role.USER: (state & 1) == 1, Role.SYSTEM: (state & 2) == 2}


def dualturn(session: Session) -> None:
    dualturn_signals(session, SignalRules(min_gap=0))
    agent_actions(session, ActionRules(min_gap=0), agent=Role.SYSTEM)


def dualturn_loop(session: Session) -> None:
    user, system = (track.tolist() for track in session.values())
    for own, other in ((user, system), (system, user)):
        events_dualturn.labels(own, other)
        events_dualturn.future(own)
    events_dualturn.actions(system, user)


def vap(session: Session) -> None:
    vap_events(session, VAP)
    projection_classes(session, PROJECTION)


def vap_loop(session: Session) -> None:
    user, system = (track.tolist() for track in session.values())
    names = {
        "context": VAP.min_context, "silence": VAP.pad + VAP.region, "pad": VAP.pad,
        "region": VAP.region, "pre": VAP.pre, "post": VAP.post, "ahead": VAP.prediction,
        "bc": VAP.max_bc, "quiet": VAP.bc_silence, "left": VAP.negative_left,
        "right": VAP.negative_right,
    }  # fmt: skip
    events_vap.events(user, system, {k: VAP.frames(v) for k, v in names.items()})
    events_vap.classes(user, system, PROJECTION.bin_frames)


def seconds(work: Callable[[Session], None], stream: Iterator[Session]) -> float:
    return sum(cpu_seconds(lambda s=session: work(s)) for session in stream)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=20)
    parser.add_argument("--session-minutes", type=float, default=10)
    args = parser.parse_args()
    count = max(1, round(args.hours * 60 / args.session_minutes))
    hours = count * args.session_minutes / 60
    for name, rate, fast, loop in (
        ("dualturn signals + actions, 12.5 Hz", RATE, dualturn, dualturn_loop),
        ("vap events + classes, 50 Hz", VAP.rate, vap, vap_loop),
    ):
        taken = seconds(fast, sessions(count, args.session_minutes, rate))
        one = list(sessions(1, args.session_minutes, rate))
        ratios = [seconds(loop, iter(one)) / seconds(fast, iter(one * 20)) * 20 for _ in range(3)]
        once, long = (
            min(seconds(fast, sessions(1, k * args.session_minutes, rate)) for _ in range(5))
            for k in (1, 16)
        )
        tracemalloc.start()
        seconds(fast, sessions(min(count, 12), args.session_minutes, rate))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print(name)
        print(f"  {hours:.1f} h in {taken:.2f} s: {hours / taken:,.0f} hours a second")
        print(f"  frame-by-frame loop: ratio {spread(ratios)}")
        print(f"  a session 16 times as long takes {long / once:.1f} times as long")
        print(f"  peak {peak / 2**20:.1f} MiB over a stream of sessions")


if __name__ == "__main__":
    main()
