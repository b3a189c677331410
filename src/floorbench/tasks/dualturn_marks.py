"""The units of ``dualturn-4s`` on the time line, each with the rule that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floorbench.core.time import from_ticks
from floorbench.core.vocab import Role
from floorbench.events.dualturn import (
    RATE,
    SEGMENT_CLASSES,
    SegmentClass,
    SignalRules,
    dualturn_signals,
)
from floorbench.events.dualturn_actions import ACTIONS, RULES, ActionEvents
from floorbench.events.dualturn_words import WORD_LABELS, WordLabels
from floorbench.events.spans import Bools
from floorbench.tasks.frame_units import ROLES
from floorbench.tasks.marks import Mark, Marks

ACTION_RULES = {
    "ST_started": "after the user's offset the agent starts within 4 s",
    "ST_overlapping": "the agent is already talking when the user stops",
    "CL_resumed": "after the offset the user goes on within 2 s, before the agent starts",
    "incoming_long": "the user comes in while the agent talks, and stays for 0.96 s or more",
    "incoming_short": "the user comes in while the agent talks, for less than 0.96 s",
    "vocalisation": "a short sound of the agent while the user talks",
    "CL_negative": "a random frame in which the user talks alone",
}
END_RULES = {
    SegmentClass.EOT: "within 4 s the other channel is active first, in a run of 0.96 s or more",
    SegmentClass.HOLD: "no turn of the other channel comes first within 4 s",
}
WORD_RULES = {
    "C": "neither a turn shift nor a backchannel follows",
    "B": "a backchannel of the other channel begins in it or soon after it",
    "T": "the last word before the other channel has the turn",
}


def action_marks(found: Sequence[ActionEvents]) -> Marks:
    """Return the actions of each agent; a backchannel spans its run, others are moments."""
    rate = float(RATE)
    marks = []
    for events in found:
        for i in events.by_agent.nonzero()[0].tolist():
            label, rule = ACTIONS[events.label[i]], RULES[events.rule[i]]
            start = int(events.frame[i])
            end = start + int(events.run[i]) if events.run[i] else None
            marks.append(
                Mark(
                    time=start / rate,
                    end=None if end is None else end / rate,
                    role=events.agent,
                    label=label,
                    rule=f"{rule.replace('_', ' ')}: {ACTION_RULES[rule]}",
                )
            )
    return Marks(title="actions of the agent", where={"events": "actions"}, marks=tuple(marks))


def end_marks(vad: Mapping[Role, Bools], rules: SignalRules) -> Marks:
    """Return the segment ends that are an EOT or a HOLD."""
    signals = dualturn_signals(vad, rules)
    marks = []
    for role in ROLES:
        own = signals.channels[role]
        for end, code in zip(own.segments.end.tolist(), own.segment_class.tolist(), strict=True):
            kind = SEGMENT_CLASSES[code]
            if kind in END_RULES:
                time = end / float(RATE)
                marks.append(Mark(time=time, role=role, label=kind.value, rule=END_RULES[kind]))
    return Marks(
        title="turn ends",
        where={"events": "turn ends"},
        marks=tuple(marks),
        preferred={"at": "+0 ms"},
    )


def word_marks(labels: WordLabels | None) -> Marks:
    """Return the labelled words; none without a list of phrases."""
    marks: list[Mark] = []
    if labels is not None:
        for word, role, code in zip(labels.words, labels.role, labels.label.tolist(), strict=True):
            label = WORD_LABELS[code]
            start, end = from_ticks(word.start), from_ticks(word.end)
            marks.append(
                Mark(time=end, role=role, label=label, rule=f"“{word.text}” from {start:.2f} s: "
                     f"{WORD_RULES[label]}")
            )  # fmt: skip
    return Marks(title="words", where={"events": "words"}, marks=tuple(marks))
