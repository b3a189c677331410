"""Who responded where in one turn, what the listeners agreed on, and what models predicted.

The picture of the within-turn TRP paper's Figure 2: a bar per slot for the share of listeners, a
line for the threshold, a mark for every consensus TRP, and one row of marks per run below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floorbench.core.prediction import Decision
from floorbench.core.sample import JsonValue, Sample
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome
from floorbench.datasets.trp import TrpSource
from floorbench.errors import UsageError, did_you_mean, missing_extra
from floorbench.run.predictions import read_predictions
from floorbench.run.scoring import Opened
from floorbench.tasks.trp import TrpTask

WIDTH = 900
ANYONE = SystemSpec(name="anyone", version="1")
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"


def slots(task: TrpTask, source: TrpSource, stimulus: str) -> list[dict[str, JsonValue]]:
    """Return one row per slot: its word, number, share of listeners and consensus.

    Raises
    ------
    UsageError
        ``FB101`` for an unknown stimulus.
    """
    rows = []
    for sample in _prefixes(source, stimulus):
        if not task.due(sample, ANYONE):
            continue
        gold = task.gold(sample)
        words = (sample.observation.text or "").split()
        rows.append(
            {
                "slot": len(words),
                "word": words[-1],
                "share": gold.scores["proportion"],
                "consensus": gold.label == "yes",
            }
        )
    return rows


def answers(runs: Sequence[Opened], stimulus: str) -> list[dict[str, JsonValue]]:
    """Return one row per run, condition and slot that was answered yes in the first trial."""
    rows = []
    for opened in runs:
        for prediction in read_predictions(opened.path):
            name, _, slot = prediction.sample_id.rpartition("#")
            if name == stimulus and prediction.trial == 0 and _yes(prediction.decision):
                label = opened.system.name
                if prediction.condition != "none":
                    label += f" {prediction.condition}"
                rows.append({"run": label, "slot": int(slot)})
    return rows


def figure(task: TrpTask, source: TrpSource, stimulus: str, runs: Sequence[Opened] = ()) -> Any:
    """Return the chart of one stimulus (an Altair chart; ``save`` writes SVG, PNG or HTML).

    Raises
    ------
    EnvironmentProblem
        ``FB401`` without Altair.
    UsageError
        ``FB101`` for an unknown stimulus.
    """
    try:
        import altair
    except ImportError:
        raise missing_extra("altair", "report") from None
    shown = slots(task, source, stimulus)
    tau = task.spec.parameters["tau"]
    order = [f"{row['slot']} {row['word']}" for row in shown]
    axis = altair.X("at:N", sort=order, title=None, axis=altair.Axis(labelAngle=-90))
    bars = _data(altair, [{**row, "at": at} for row, at in zip(shown, order, strict=True)])
    share = (
        altair.Chart(bars)
        .mark_bar()
        .encode(
            x=axis,
            y=altair.Y("share:Q", title="share of listeners", scale=altair.Scale(domain=[0, 1])),
            color=altair.condition("datum.consensus", altair.value(ORANGE), altair.value(BLUE)),
            tooltip=["word:N", "share:Q"],
        )
    )
    layers = [share]
    if tau is not None:
        line = _data(altair, [{"tau": _number(str(tau))}])
        layers.append(altair.Chart(line).mark_rule(strokeDash=[4, 4], color=GREY).encode(y="tau:Q"))
    title = f"{stimulus} ({source.name}): responses, consensus TRPs, predictions"
    upper = altair.layer(*layers).properties(width=WIDTH, height=180, title=title)
    marks = [
        {"run": "listeners", "at": at}
        for row, at in zip(shown, order, strict=True)
        if row["consensus"]
    ]
    marks += [{"run": a["run"], "at": order[a["slot"] - 1]} for a in answers(runs, stimulus)]
    names = list(dict.fromkeys(m["run"] for m in marks))
    lower = (
        altair.Chart(_data(altair, marks))
        .mark_point(filled=True, size=60)
        .encode(
            x=altair.X("at:N", sort=order, title=None, axis=None, scale=altair.Scale(domain=order)),
            y=altair.Y("run:N", sort=names, title=None),
            color=altair.condition(
                "datum.run == 'listeners'", altair.value(ORANGE), altair.value("black")
            ),
        )
        .properties(width=WIDTH)
    )
    return altair.vconcat(upper, lower).configure_axis(labelFontSize=9)


def _data(altair: Any, rows: Sequence[Mapping[str, JsonValue]]) -> Any:
    return altair.Data(values=[dict(row) for row in rows])


def _number(fraction: str) -> float:
    top, _, bottom = fraction.partition("/")
    return float(top) / float(bottom or 1)


def _yes(decision: Decision) -> bool:
    return decision.outcome is Outcome.OK and decision.label == "yes"


def _prefixes(source: TrpSource, stimulus: str) -> list[Sample]:
    found = [s for s in source.samples() if s.target["slot"][0] == stimulus]
    if not found:
        known = [s.id for s in source.stimuli]
        near = did_you_mean(stimulus, known)
        raise UsageError(
            "FB101",
            f"there is no stimulus '{stimulus}'",
            hint=f"did you mean '{near}'?" if near else f"known: {', '.join(known)}",
        )
    return found
