"""Frame labels and floor events of two-channel sessions, beside loops over frames and pyannote.

The loops are the test oracles, written frame by frame from the definitions. pyannote.core knows
merged speech, silence and overlap of two channels; backchannels, interruptions, pauses and
transfers, which floorbench finds in the same call, have no counterpart there. The published code
of the voice-activity-projection labels is not on the package index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.generated import Activity, activity
from benchmarks.ratios import OURS, Case, Work, peer
from floorbench.core.vocab import Role
from floorbench.events.dualturn import RATE, SignalRules, dualturn_signals
from floorbench.events.dualturn_actions import ActionRules, agent_actions
from floorbench.events.floor import FloorRules, floor
from floorbench.events.vap import VapRules, vap_events
from floorbench.events.vap_projection import ProjectionRules, projection_classes
from oracles import events_dualturn, events_vap

VAP = VapRules()
PROJECTION = ProjectionRules()
FLOOR = FloorRules(
    min_gap=200_000,
    max_backchannel=1_000_000,
    backchannel_silence=1_000_000,
    interruption_overlap=300_000,
    backchannels="keep",
)
NOT_THERE = "not on the package index"


def dualturn(session: Activity) -> None:
    dualturn_signals(session, SignalRules(min_gap=0))
    agent_actions(session, ActionRules(min_gap=0), agent=Role.SYSTEM)


def dualturn_loop(session: Activity) -> None:
    user, system = (track.tolist() for track in session.values())
    for own, other in ((user, system), (system, user)):
        events_dualturn.labels(own, other)
        events_dualturn.future(own)
    events_dualturn.actions(system, user)


def vap(session: Activity) -> None:
    vap_events(session, VAP)
    projection_classes(session, PROJECTION)


def vap_loop(session: Activity) -> None:
    user, system = (track.tolist() for track in session.values())
    names = {
        "context": VAP.min_context, "silence": VAP.pad + VAP.region, "pad": VAP.pad,
        "region": VAP.region, "pre": VAP.pre, "post": VAP.post, "ahead": VAP.prediction,
        "bc": VAP.max_bc, "quiet": VAP.bc_silence, "left": VAP.negative_left,
        "right": VAP.negative_right,
    }  # fmt: skip
    events_vap.events(user, system, {k: VAP.frames(v) for k, v in names.items()})
    events_vap.classes(user, system, PROJECTION.bin_frames)


def spans(session: Activity) -> dict[Role, np.ndarray]:
    """Return the speech of a session at 50 Hz as spans in ticks."""
    out = {}
    for role, track in session.items():
        edges = np.flatnonzero(np.diff(np.concatenate([[False], track, [False]]).astype(np.int8)))
        out[role] = edges.reshape(-1, 2).astype(np.int64) * 20_000
    return out


def floor_counts(speech: Mapping[Role, np.ndarray]) -> Work:
    def work() -> tuple[int, int, int]:
        found = floor(speech, FLOOR)
        return len(found.ipus), len(found.silences), len(found.overlaps)

    return work


def pyannote(speech: Mapping[Role, np.ndarray]) -> Work:
    from pyannote.core import Segment, Timeline

    seconds = {role: (one / 1e6).tolist() for role, one in speech.items()}

    def work() -> tuple[int, int, int]:
        sides = [
            # merges what is closer than the collar; ours keeps a gap of exactly the limit open
            Timeline([Segment(a, b) for a, b in one]).support(collar=FLOOR.min_gap / 1e6 - 1e-3)
            for one in seconds.values()
        ]
        both = Timeline([*sides[0], *sides[1]])
        silences = sum(1 for gap in both.gaps() if gap.duration > 1e-6)
        overlaps = sum(1 for one in both.get_overlap() if one.duration > 1e-6)
        return len(sides[0]) + len(sides[1]), silences, overlaps

    return work


def counted(found: Mapping[str, Any]) -> None:
    """Raise when other numbers of speech spans or silences were found.

    Overlaps that touch are one to pyannote and two to floorbench, where the speakers change.
    """
    for name, numbers in found.items():
        if numbers[:2] != found[OURS][:2]:
            raise AssertionError(f"{name} finds {numbers}, floorbench {found[OURS]}")


def cases(full: bool) -> Iterator[Case]:
    minutes = 60.0 if full else 20.0
    size = f"a session of {minutes:g} minutes"
    per = (minutes / 60, "hour of audio")
    slow = activity(0, minutes, RATE)
    yield Case(
        name="DualTurn signals and actions, 12.5 Hz",
        size=size,
        ours=lambda: dualturn(slow),
        peers={"loop over frames": lambda: dualturn_loop(slow)},
        per=per,
    )
    fast = activity(0, minutes, VAP.rate)
    yield Case(
        name="VAP events and classes, 50 Hz",
        size=size,
        ours=lambda: vap(fast),
        peers={"loop over frames": lambda: vap_loop(fast), "VoiceActivityProjection": NOT_THERE},
        per=per,
    )
    speech = spans(fast)
    yield Case(
        name="floor events",
        size=size,
        ours=floor_counts(speech),
        peers={
            "pyannote.core (silence and overlap only)": peer(("pyannote.core",), pyannote, speech)
        },
        per=per,
        agree=counted,
    )
