"""One stimulus as listeners and models took it: responses, consensus and predictions over time.

Source
------
Within-turn TRP prediction (2024), figure 2.

Deviations
----------
The height of a bar is the share of listeners, not a count of responses. Every prediction is shown
in a row of its system, told apart by its mark as a hit, a near miss or a miss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from floorbench.core.spec import TaskSpec
from floorbench.core.time import from_ticks, to_ticks
from floorbench.core.words import counted
from floorbench.datasets.trp import TrpSource
from floorbench.datasets.trp_files import Stimulus
from floorbench.errors import DataError, Place, UsageError, did_you_mean
from floorbench.events.trp import TrpLabels, TrpRules, trp_labels
from floorbench.report.figures import INK, PALETTE, library, styled
from floorbench.report.stored import StoredRun
from floorbench.tasks.trp_gold import check_rules, seconds
from floorbench.tasks.trp_units import stimulus_code

HIT, NEAR, MISS = "on a consensus slot", "within the window", "elsewhere"
GREY = "#b9c2c9"
WIDTH = 1000
LETTER = 10.5
"""Height of a letter of the words, in the units of WIDTH."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What the figure shows; times in seconds of the turn's clock.

    Parameters
    ----------
    title : str
    threshold : float or None
        The share above which a slot is a TRP; ``None`` for the adaptive rule.
    slots : list of dict
        ``start``, ``end``, ``share``, ``consensus`` and ``word`` of every slot.
    windows : list of dict
        ``start``, ``end`` and ``at`` of the window around every consensus slot.
    onsets : list of dict
        ``time`` and ``listener`` (0, 1, ... by roster) of every response.
    predictions : list of dict
        ``system``, ``time`` and ``kind`` of every prediction.
    systems : list of str
        Rows of predictions, empty ones included.
    words : list of dict
        ``time`` and ``text``.
    listeners : int
        Who heard it.
    length : float
        End of the last slot.
    """

    title: str
    threshold: float | None
    slots: list[dict[str, Any]]
    windows: list[dict[str, float]]
    onsets: list[dict[str, float]]
    predictions: list[dict[str, Any]]
    systems: list[str]
    words: list[dict[str, Any]]
    listeners: int
    length: float


def picture(
    source: TrpSource,
    stimulus: str,
    *,
    runs: Sequence[StoredRun] = (),
    rules: TrpRules | None = None,
) -> Picture:
    """Gather what is known about one stimulus.

    Parameters
    ----------
    source : TrpSource
        With listeners.
    stimulus : str
    runs : sequence of StoredRun
        Runs of the task on this set.
    rules : TrpRules or None
        By default those of the first run, else the task's own defaults.

    Raises
    ------
    DataError
        ``FB232`` for a stimulus that is not there, ``FB235`` for one that nobody heard.
    UsageError
        ``FB802`` for a run of another task or set.
    """
    turn = _turn(source, stimulus)
    for run in runs:
        if run.opened.task.spec.name != "trp" or run.digest != source.digest():
            raise UsageError(
                "FB802", "the run is not one of within-turn TRPs on this set",
                where=Place(str(run.path)),
                hint="A run on one split goes with that split: --reader-set split=NAME.",
            )  # fmt: skip
    if rules is None:
        rules = _rules(runs[0].opened.task.spec) if runs else TrpRules()
    panel = (source.panels or {}).get(stimulus)
    if panel is None or not panel.roster:
        raise DataError("FB235", "nobody has heard this stimulus", where=Place(item=stimulus))
    labels = trp_labels(
        [[to_ticks(w.start or 0.0), to_ticks(w.end or 0.0)] for w in turn.words],
        panel.onsets,
        roster=panel.roster,
        turn_end=to_ticks(turn.turn_end),
        next_turn=None if turn.next_turn is None else to_ticks(turn.next_turn),
        rules=rules,
    )
    starts = [seconds(int(t)) for t in labels.start]
    ends = [seconds(int(t)) for t in labels.end]
    slots = [
        {"start": a, "end": b, "share": float(share), "consensus": bool(on), "word": word.text}
        for a, b, share, on, word in zip(
            starts, ends, labels.proportion, labels.positive, turn.words, strict=False
        )
    ]
    named = [row for run in runs for row in _rows(run, stimulus)]
    half = rules.half_window
    hits = np.flatnonzero(labels.positive)
    last = len(labels) - 1
    return Picture(
        title=f"{stimulus}: {counted(len(panel.roster), 'listener')}, "
        f"{counted(labels.onsets, 'response')}",
        threshold=float(rules.tau) if rules.rule == "fixed" else None,
        slots=slots,
        windows=[
            {"start": starts[max(0, i - half)], "end": ends[min(last, i + half)], "at": starts[i]}
            for i in hits.tolist()
        ],
        onsets=[
            {"time": from_ticks(t), "listener": float(row)}
            for row, person in enumerate(panel.roster)
            for t in panel.onsets.get(person, ())
        ],
        predictions=[
            {"system": name, "time": starts[slot], "kind": _kind(slot, labels, half)}
            for name, chosen in named
            for slot in chosen
            if slot < len(labels)
        ],
        systems=[name for name, _ in named],
        words=[
            {"time": ((w.start or 0.0) + (w.end or 0.0)) / 2, "text": w.text} for w in turn.words
        ],
        listeners=len(panel.roster),
        length=max(ends, default=0.0),
    )


def draw(shown: Picture) -> Any:
    """Return the figure as an Altair chart.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` without Altair.
    """
    alt = library()
    # A margin on the left, so that a response at the very start is not cut.
    scale = alt.Scale(domain=[0, shown.length], nice=False)
    bare = alt.X("time:Q", scale=scale, axis=None)
    panels = [_listeners(alt, shown, scale)]
    onsets = alt.Chart(_data(alt, shown.onsets), width=WIDTH, height=54)
    panels.append(
        onsets.mark_tick(thickness=1.5, height=5, color=INK, opacity=0.7)
        if shown.listeners > 12
        else onsets.mark_tick(thickness=1.5, height=8, color=INK, opacity=0.8)
    )
    panels[-1] = panels[-1].encode(
        x=bare,
        y=alt.Y(
            "listener:Q",
            scale=alt.Scale(domain=[-1, shown.listeners], nice=False, reverse=True),
            axis=alt.Axis(title="responses", labels=False, ticks=False, grid=False),
        ),
    )
    axis = alt.X("time:Q", scale=scale, title="seconds", axis=alt.Axis(grid=False))
    panels.append(_words(alt, shown, bare if shown.systems else axis))
    if shown.systems:
        panels.append(_predictions(alt, shown, axis))
    title = alt.TitleParams(shown.title, anchor="start")
    chart = alt.vconcat(*panels, spacing=4, title=title)
    return styled(chart.resolve_scale(color="independent", shape="independent"))


def _listeners(alt: Any, shown: Picture, scale: Any) -> Any:
    top = max([s["share"] for s in shown.slots] + [shown.threshold or 0.0, 0.1])
    share = alt.Scale(domain=[0, min(1.0, top * 1.08)], nice=False)
    title = "share of listeners"
    bars = (
        alt.Chart(_data(alt, shown.slots), width=WIDTH, height=190)
        .mark_rect(stroke="#ffffff", strokeWidth=0.4)
        .encode(
            x=alt.X("start:Q", scale=scale, axis=None),
            x2="end:Q",
            y=alt.Y("share:Q", scale=share, title=title, axis=alt.Axis(format=".0%")),
            y2=alt.datum(0),
            color=alt.Color(
                "state:N",
                scale=alt.Scale(domain=["TRP by consensus", "no TRP"], range=[PALETTE[0], GREY]),
                legend=alt.Legend(title=None, orient="top", direction="horizontal"),
            ),
            tooltip=["word:N", alt.Tooltip("share:Q", format=".1%"), "start:Q", "end:Q"],
        )
        .transform_calculate(state="datum.consensus ? 'TRP by consensus' : 'no TRP'")
    )
    windows = alt.Chart(_data(alt, shown.windows), width=WIDTH)
    band = windows.mark_rect(color=PALETTE[0], opacity=0.09).encode(
        x=alt.X("start:Q", scale=scale, axis=None), x2="end:Q"
    )
    line = windows.mark_rule(strokeDash=[2, 3], color=PALETTE[0]).encode(
        x=alt.X("at:Q", scale=scale, axis=None)
    )
    layers = [band, bars, line]
    if shown.threshold is not None:
        at = [{"share": shown.threshold, "time": 0.0, "text": f"τ = {shown.threshold:g}"}]
        level = alt.Chart(_data(alt, at), width=WIDTH).encode(
            y=alt.Y("share:Q", scale=share, title=title)
        )
        layers += [
            level.mark_rule(strokeDash=[6, 3], color=INK),
            level.mark_text(align="left", dx=4, dy=-7, color=INK).encode(
                x=alt.X("time:Q", scale=scale, axis=None), text="text:N"
            ),
        ]
    return alt.layer(*layers)


def _predictions(alt: Any, shown: Picture, x: Any) -> Any:
    kinds = [HIT, NEAR, MISS]
    legend = alt.Legend(title="predicted", orient="bottom", direction="horizontal")
    rows = shown.predictions or [{"system": shown.systems[0], "time": None, "kind": MISS}]
    return (
        alt.Chart(_data(alt, rows), width=WIDTH, height=alt.Step(18))
        .mark_point(size=60, filled=True, opacity=1)
        .encode(
            x=x,
            y=alt.Y(
                "system:N",
                scale=alt.Scale(domain=shown.systems),
                sort=shown.systems,
                title=None,
                axis=alt.Axis(grid=True, ticks=False, domain=False, labelLimit=200),
            ),
            shape=alt.Shape(
                "kind:N",
                scale=alt.Scale(domain=kinds, range=["triangle-up", "diamond", "cross"]),
                legend=legend,
            ),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=kinds, range=[PALETTE[0], PALETTE[5], PALETTE[1]]),
                legend=legend,
            ),
        )
    )


def _words(alt: Any, shown: Picture, x: Any) -> Any:
    return (
        alt.Chart(_data(alt, _spread(shown)), width=WIDTH, height=70)
        .mark_text(angle=270, align="right", baseline="middle", fontSize=10, color=INK)
        .encode(
            x=x,
            y=alt.datum(1, scale=alt.Scale(domain=[0, 1]), axis=None),
            text="text:N",
        )
    )


def _spread(shown: Picture) -> list[dict[str, Any]]:
    """Return the words, moved right where they would be written over each other."""
    step = LETTER * shown.length / WIDTH
    out, free = [], 0.0
    for word in shown.words:
        time = max(word["time"], free)
        free = time + step
        if time <= shown.length:
            out.append({**word, "time": time})
    return out


def _data(alt: Any, rows: Sequence[dict[str, Any]]) -> Any:
    return alt.Data(values=list(rows))


def _turn(source: TrpSource, stimulus: str) -> Stimulus:
    found = {s.id: s for s in source.stimuli}
    if stimulus not in found:
        near = did_you_mean(stimulus, found)
        hint = f"did you mean '{near}'?" if near else f"known: {', '.join(found)}"
        raise DataError("FB232", f"there is no stimulus '{stimulus}'", hint=hint)
    return found[stimulus]


def _rules(spec: TaskSpec) -> TrpRules:
    given = spec.parameters
    return check_rules(
        tau=Fraction(str(given["tau"] or "3/10")),
        rule=str(given["rule"]),
        k=Fraction(str(given["k"] or "1/20")),
        tail=given["tail"],
        final_slot=str(given["final_slot"]),
        h=int(str(given["h"])),
    )


def _rows(run: StoredRun, stimulus: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the chosen slots of each condition and trial of a run."""
    units = run.scored["slot"]
    mine = units.column("stimulus") == stimulus_code(stimulus)
    yes = units.vocab["predicted"].index("yes")
    trials = units.column("trial")
    several = len(np.unique(trials)) > 1
    name = run.result.system.name
    for code, condition in enumerate(units.vocab["condition"]):
        for trial in np.unique(trials).tolist():
            here = mine & (units.column("condition") == code) & (trials == trial)
            if not here.any():
                continue
            chosen = units.column("slot")[here & (units.column("predicted") == yes)]
            label = name if condition == "none" else f"{name} · {condition}"
            yield label + (f" · {trial + 1}" if several else ""), sorted(chosen.tolist())


def _kind(slot: int, labels: TrpLabels, half: int) -> str:
    if labels.positive[slot]:
        return HIT
    near = labels.positive[max(0, slot - half) : slot + half + 1]
    return NEAR if near.any() else MISS
