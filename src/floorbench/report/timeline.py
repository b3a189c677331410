"""The picture of a conversation: two channels in time, gold events, and what a system said.

From top to bottom: activity of both channels with their words, the gold signals and actions, and
one curve per asked signal of the trace. Drawn with Altair and vl-convert, which are imported late
and work without a network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from floorbench.core.prediction import Trace
from floorbench.core.time import from_ticks
from floorbench.core.vocab import Role
from floorbench.core.words import counted
from floorbench.datasets.two_channel_session import ROLES, TwoChannelSession
from floorbench.errors import UsageError, missing_extra
from floorbench.events.dualturn import RATE, SEGMENT_CLASSES, SignalRules, dualturn_signals
from floorbench.events.dualturn_actions import ActionRules, agent_actions
from floorbench.events.spans import union
from floorbench.events.tokens import is_speech
from floorbench.events.traces import FVAD, on_grid

COLOURS = {Role.USER: "#2b6cb0", Role.SYSTEM: "#c05621"}
SIGNS = {"EOT": "#c53030", "HOLD": "#718096", "BOT": "#2f855a", "BC": "#6b46c1"}
ACTION_COLOUR = "#1a202c"
WIDTH = 1400
LANES = 4
"""Rows of words below a channel's activity, so that neighbours do not cover each other."""
LONGEST = 60.0
USUAL = ("eot", "bc", "p_now", "p_future", "hold", "bot", *FVAD, "vad")
"""Signals in the order in which they are drawn unasked."""
Rows = list[dict[str, Any]]


def timeline(
    session: TwoChannelSession,
    *,
    start: float,
    end: float,
    min_gap: int,
    trace: Trace | None = None,
    signals: Sequence[str] = (),
    title: str | None = None,
) -> Any:
    """Return the chart of one span of a session.

    Parameters
    ----------
    session : TwoChannelSession
    start, end : float
        Seconds; at most 60 s are readable.
    min_gap : int
        Of the gold signals and actions.
    trace : Trace or None
        A system's scores; without one the lowest part is left out.
    signals : sequence of str
        Which signals of the trace are drawn; none named draws the usual two.

    Raises
    ------
    UsageError
        ``FB103`` for a span outside the session or too long, or a signal the trace does not have.
    EnvironmentProblem
        ``FB401`` without Altair.
    """
    length = from_ticks(session.end)
    if not 0 <= start < end <= length + 1 or end - start > LONGEST:
        raise UsageError(
            "FB103",
            f"{start:g} to {end:g} s is no span of at most {LONGEST:g} s; the session ends at "
            f"{length:.1f} s",
        )
    try:
        import altair as alt
    except ModuleNotFoundError:
        raise missing_extra("altair", "report") from None
    span = (start, end)
    x = alt.X("start:Q", scale=alt.Scale(domain=list(span), nice=False), title=None)
    parts = [
        _talk(alt, session, span, x),
        _gold(alt, session, span, min_gap),
    ]
    if trace is not None:
        parts.append(_said(alt, session, span, trace, signals or usual_signals(trace)))
    chart = alt.vconcat(*parts, spacing=14).resolve_scale(color="independent")
    name = title if title is not None else f"{session.id}, {start:g} to {end:g} s"
    return (
        chart.properties(title=alt.TitleParams(name, anchor="start", fontSize=16, offset=8))
        .configure_view(stroke="#e2e8f0")
        .configure_axis(grid=True, gridColor="#edf2f7", labelFontSize=11)
    )


def talk_rows(session: TwoChannelSession, span: tuple[float, float]) -> tuple[Rows, Rows]:
    """Return activity bars and words inside a span."""
    bars: Rows = []
    words: Rows = []
    for role in ROLES:
        for low, high in union(session.speech[role]).tolist():
            first, last = max(from_ticks(low), span[0]), min(from_ticks(high), span[1])
            if first < last:
                bars.append({"start": first, "end": last, "channel": role.value})
        number = 0
        for word in session.words.get(role, ()):
            middle = from_ticks((word.start + word.end) // 2)
            if span[0] <= middle < span[1] and is_speech(word.text):
                lane = number % LANES
                words.append(
                    {"start": middle, "text": word.text, "channel": role.value, "lane": lane}
                )
                number += 1
    return bars, words


def gold_rows(session: TwoChannelSession, span: tuple[float, float], min_gap: int) -> Rows:
    """Return gold signals and actions inside a span, each with its lane."""
    vad = session.vad(RATE)
    rate = float(RATE)
    out: Rows = []
    found = dualturn_signals(vad, SignalRules(min_gap=min_gap))
    for role, own in found.channels.items():
        codes = zip(own.segments.start, own.segments.end, own.segment_class, strict=True)
        for start, end, code in ((int(a), int(b), int(c)) for a, b, c in codes):
            label = SEGMENT_CLASSES[code].value
            if label == "BC":
                out.append(_mark(role, "signals", start / rate, "BC", end / rate))
            elif label != "open":
                out.append(_mark(role, "signals", end / rate, label))
            if own.bot[start]:
                out.append(_mark(role, "signals", start / rate, "BOT"))
    for agent in ROLES:
        actions = agent_actions(vad, ActionRules(min_gap=min_gap), agent=agent)
        for row, mine in zip(actions.rows(session.id), actions.by_agent.tolist(), strict=True):
            if mine:
                out.append(_mark(agent, "actions", row.frame / rate, row.label))
    return [r for r in out if span[0] <= r["start"] < span[1]]


def usual_signals(trace: Trace) -> tuple[str, ...]:
    """Return what is drawn of a trace when nothing is asked for: the two that say most of it."""
    there = {name.partition(":")[0] for name in trace.columns}
    return tuple(s for s in USUAL if s in there)[:2]


def said_rows(
    session: TwoChannelSession,
    span: tuple[float, float],
    trace: Trace,
    signals: Sequence[str],
) -> Rows:
    """Return the trace inside a span, each score at the time when it was committed."""
    rate = float(RATE)
    frames = len(session.vad(RATE)[Role.USER])
    columns = on_grid(trace, frames=frames, rate=RATE)
    low, high = int(span[0] * rate), min(int(np.ceil(span[1] * rate)), frames)
    out: Rows = []
    for name, values in columns.items():
        signal, _, role = name.partition(":")
        if signal in signals:
            out += [
                {
                    "start": (t + 1) / rate, "value": float(values[t]),
                    "channel": role, "signal": signal,
                }
                for t in range(low, high)
                if (t + 1) / rate < span[1]
            ]  # fmt: skip
    known = sorted({n.partition(":")[0] for n in columns})
    missing = [s for s in signals if s not in known]
    if missing:
        raise UsageError(
            "FB103", f"the trace has no signal '{missing[0]}'", hint=f"it has: {', '.join(known)}"
        )
    return out


def _mark(
    role: Role, what: str, start: float, label: str, end: float | None = None
) -> dict[str, Any]:
    return {
        "start": start,
        "end": start if end is None else end,
        "label": label,
        "lane": f"{role.value} {what}",
    }


def _colour(alt: Any) -> Any:
    return alt.Color(
        "channel:N",
        scale=alt.Scale(domain=[r.value for r in ROLES], range=list(COLOURS.values())),
        legend=None,
    )


def _talk(alt: Any, session: TwoChannelSession, span: tuple[float, float], x: Any) -> Any:
    bars, words = talk_rows(session, span)
    panels = []
    for role in ROLES:
        mine = [b for b in bars if b["channel"] == role.value]
        said = [w for w in words if w["channel"] == role.value]
        y = alt.Y("y:Q", scale=alt.Scale(domain=[LANES + 1.2, -0.2]), axis=None)
        bar = (
            alt.Chart(alt.Data(values=[{**b, "y": 0.0, "y2": 0.9} for b in mine]))
            .mark_rect(opacity=0.85)
            .encode(x=x, x2="end:Q", y=y, y2="y2:Q", color=_colour(alt))
        )
        text = (
            alt.Chart(alt.Data(values=[{**w, "y": 1.35 + w["lane"]} for w in said]))
            .mark_text(fontSize=11, color="#1a202c")
            .encode(x=x, y=y, text="text:N")
        )
        ticks = (
            alt.Chart(alt.Data(values=[{**w, "y": 0.9, "y2": 1.0 + w["lane"]} for w in said]))
            .mark_rule(color="#cbd5e0", strokeWidth=0.7)
            .encode(x=x, y=y, y2="y2:Q")
        )
        panels.append(
            alt.layer(bar, ticks, text).properties(
                width=WIDTH,
                height=110,
                title=alt.TitleParams(
                    f"{role.value}: activity and words", anchor="start", fontSize=12,
                    color=COLOURS[role], offset=2,
                ),
            )
        )  # fmt: skip
    return alt.vconcat(*panels, spacing=6)


def _gold(alt: Any, session: TwoChannelSession, span: tuple[float, float], min_gap: int) -> Any:
    rows = gold_rows(session, span, min_gap)
    lanes = [f"{role.value} {what}" for role in ROLES for what in ("signals", "actions")]
    x = alt.X("start:Q", scale=alt.Scale(domain=list(span), nice=False), title=None)
    y = alt.Y("lane:N", sort=lanes, scale=alt.Scale(domain=lanes), title=None)
    colour = alt.Color(
        "label:N", scale=alt.Scale(domain=list(SIGNS), range=list(SIGNS.values())), legend=None
    )
    signals = [r for r in rows if r["label"] in SIGNS and r["lane"].endswith("signals")]
    actions = _levelled([r for r in rows if r["lane"].endswith("actions")], span)
    spans = (
        alt.Chart(alt.Data(values=[r for r in signals if r["end"] > r["start"]]))
        .mark_bar(height=16, opacity=0.35)
        .encode(x=x, x2="end:Q", y=y, color=colour)
    )
    ticks = (
        alt.Chart(alt.Data(values=signals))
        .mark_tick(thickness=2, size=22)
        .encode(x=x, y=y, color=colour)
    )
    names = (
        alt.Chart(alt.Data(values=signals))
        .mark_text(dx=3, dy=-7, align="left", fontSize=9)
        .encode(x=x, y=y, text="label:N", color=colour)
    )
    done = (
        alt.Chart(alt.Data(values=actions))
        .mark_text(fontSize=11, fontWeight="bold", color=ACTION_COLOUR)
        .encode(x=x, y=y, text="label:N", yOffset=alt.YOffset("level:Q", scale=None))
    )
    return alt.layer(spans, ticks, names, done).properties(
        width=WIDTH,
        height=150,
        title=alt.TitleParams(
            f"gold, min_gap {counted(min_gap, 'frame')}", anchor="start", fontSize=12, offset=2,
            subtitle="signals: EOT end of turn, HOLD pause, BOT begin of turn, BC backchannel | "
            "actions: ST start talking, CL continue listening, SL start listening, "
            "CT continue talking, BC backchannel",
            subtitleFontSize=10, subtitleColor="#4a5568",
        ),
    )  # fmt: skip


def _levelled(rows: Rows, span: tuple[float, float]) -> Rows:
    """Return labels with a vertical offset that keeps close neighbours of a lane apart."""
    near = 24 * (span[1] - span[0]) / WIDTH  # 24 pixels: the width of a label
    last: dict[str, tuple[float, int]] = {}
    out: Rows = []
    for row in sorted(rows, key=lambda r: (r["start"], r["label"])):
        before, level = last.get(row["lane"], (-near, 0))
        level = (level + 1) % 3 if row["start"] - before < near else 0
        last[row["lane"]] = (row["start"], level)
        out.append({**row, "level": 6 + 12 * level})
    return out


def _said(
    alt: Any,
    session: TwoChannelSession,
    span: tuple[float, float],
    trace: Trace,
    signals: Sequence[str],
) -> Any:
    rows = said_rows(session, span, trace, signals)
    panels = []
    for signal in signals:
        mine = [r for r in rows if r["signal"] == signal]
        panels.append(
            alt.Chart(alt.Data(values=mine))
            .mark_line(interpolate="step-after", strokeWidth=1.6)
            .encode(
                x=alt.X(
                    "start:Q",
                    scale=alt.Scale(domain=list(span), nice=False),
                    title="seconds" if signal == signals[-1] else None,
                ),
                y=alt.Y("value:Q", title=signal, scale=alt.Scale(domain=_domain(mine))),
                color=alt.Color(
                    "channel:N",
                    scale=alt.Scale(
                        domain=[r.value for r in ROLES], range=list(COLOURS.values())
                    ),
                    legend=None,
                ),
            )
            .properties(
                width=WIDTH,
                height=80,
                title=alt.TitleParams(
                    f"predicted {signal}, at the time it was committed "
                    "(blue: user, orange: system)",
                    anchor="start", fontSize=12, offset=2,
                ),
            )
        )  # fmt: skip
    return alt.vconcat(*panels, spacing=6)


def _domain(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    values = [r["value"] for r in rows] or [0.0]
    top = max(values)
    return [min(0.0, *values), 1.0 if 0.5 < top <= 1.0 else max(top * 1.1, 0.01)]
