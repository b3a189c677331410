"""Figures from plain tables: lists of records in, Altair charts out.

Every figure names the columns it reads (:data:`FIGURES`), so that tasks, notebooks and reports can
fill it with whatever they computed. Colours are told apart in grey and by colour-blind readers;
where several series share a plot, marks or dashes differ as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from floorbench.errors import UsageError, did_you_mean, missing_extra

Record = Mapping[str, Any]
Records = Sequence[Record]

# Okabe and Ito's palette in an order of falling darkness, so that it also reads in grey.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3], [10, 4])
FONT = "Liberation Sans, Arial, Helvetica, Noto Sans CJK SC, sans-serif"
INK, QUIET = "#1b1f24", "#8a939b"


class Figure(NamedTuple):
    """A kind of figure: how it is made, what it shows and the columns it reads."""

    make: Callable[[Records, str], Any]
    shows: str
    columns: tuple[str, ...]


def draw(name: str, records: Records, *, title: str = "") -> Any:
    """Return a figure as an Altair chart.

    Parameters
    ----------
    name : str
        A key of :data:`FIGURES`.
    records : sequence of mappings
        One record a mark, with at least the figure's columns.
    title : str
        Shown above the figure.

    Raises
    ------
    UsageError
        ``FB804`` for an unknown figure, a missing column or no record at all.
    EnvironmentProblem
        ``FB401`` without Altair.
    """
    if name not in FIGURES:
        near = did_you_mean(name, FIGURES)
        raise UsageError(
            "FB804",
            f"there is no figure '{name}'",
            hint=f"did you mean '{near}'?" if near else f"known: {', '.join(FIGURES)}",
        )
    figure = FIGURES[name]
    if not records:
        raise UsageError("FB804", f"figure '{name}' has nothing to show")
    for i, record in enumerate(records):
        absent = [c for c in figure.columns if c not in record]
        if absent:
            raise UsageError("FB804", f"figure '{name}': record {i} has no column '{absent[0]}'")
    return styled(figure.make(records, title))


def library() -> Any:
    """Return Altair, ``FB401`` when it is not installed."""
    try:
        import altair
    except ImportError:
        raise missing_extra("altair", "report") from None
    return altair


def _chart(
    records: Records, title: str, *, width: int, height: int, more: Sequence[str] = ()
) -> Any:
    alt = library()
    small = {"subtitle": list(more), "subtitleColor": INK, "subtitleFontSize": 11} if more else {}
    return alt.Chart(
        alt.Data(values=[dict(r) for r in records]),
        title=alt.TitleParams(title, anchor="start", **small),
        width=width,
        height=height,
    )


def styled(chart: Any) -> Any:
    """Give a chart the look of all figures."""
    return (
        chart.configure(font=FONT, background="#ffffff")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK, titleColor=INK, titleFontWeight="normal", gridColor="#e3e6e8",
            domainColor=QUIET, tickColor=QUIET, labelFontSize=11, titleFontSize=12, labelLimit=260,
        )
        .configure_legend(labelColor=INK, titleColor=INK, titleFontWeight="normal", labelLimit=260)
        .configure_title(fontSize=13, color=INK)
        .configure_header(labelFontSize=12, titleFontSize=12, labelColor=INK)
    )  # fmt: skip


def _colour(alt: Any, field: str, names: Sequence[str], **options: Any) -> Any:
    scale = alt.Scale(domain=list(names), range=[PALETTE[i % 7] for i in range(len(names))])
    return alt.Color(f"{field}:N", scale=scale, title=None, **options)


def _shape(alt: Any, field: str, names: Sequence[str]) -> Any:
    scale = alt.Scale(domain=list(names), range=[SHAPES[i % 7] for i in range(len(names))])
    return alt.Shape(f"{field}:N", scale=scale, title=None)


def _dash(alt: Any, field: str, names: Sequence[str]) -> Any:
    scale = alt.Scale(domain=list(names), range=[DASHES[i % 7] for i in range(len(names))])
    return alt.StrokeDash(f"{field}:N", scale=scale, title=None)


def _names(records: Records, column: str) -> list[str]:
    return list(dict.fromkeys(str(r[column]) for r in records))


def confusion(records: Records, title: str) -> Any:
    """Counts of gold by answered labels; shade is the share of the gold label's items."""
    alt = library()
    total: dict[str, float] = {}
    for r in records:
        total[str(r["gold"])] = total.get(str(r["gold"]), 0) + r["count"]
    rows = [{**r, "share": r["count"] / (total[str(r["gold"])] or 1)} for r in records]
    golds, answers = _names(rows, "gold"), _names(rows, "predicted")
    step = 44 if len(answers) <= 6 else 30
    base = _chart(rows, title, width=step * len(answers), height=30 * len(golds)).encode(
        x=alt.X("predicted:N", sort=answers, title="answered", axis=alt.Axis(labelAngle=-40)),
        y=alt.Y("gold:N", sort=golds, title="gold"),
        tooltip=["gold:N", "predicted:N", "count:Q", alt.Tooltip("share:Q", format=".1%")],
    )
    heat = base.mark_rect(stroke="#ffffff").encode(
        color=alt.Color(
            "share:Q",
            scale=alt.Scale(domain=[0, 1], range=["#f4f6f7", "#08306b"]),
            legend=alt.Legend(title="share of gold", format=".0%"),
        )
    )
    counts = base.mark_text(fontSize=11).encode(
        text="count:Q",
        color=alt.condition("datum.share > 0.5", alt.value("#ffffff"), alt.value(INK)),
        opacity=alt.condition("datum.count > 0", alt.value(1), alt.value(0.35)),
    )
    return heat + counts


def history(records: Records, title: str) -> Any:
    """Metrics against the number of user turns of history, one panel a metric."""
    alt = library()
    systems, metrics = _names(records, "system"), _names(records, "metric")
    lengths = sorted({r["history"] for r in records})
    axis = alt.Axis(values=lengths, format="d")
    x = alt.X("history:Q", title="user turns of history", axis=axis)
    panels = []
    for metric in metrics:
        rows = [r for r in records if r["metric"] == metric]
        base = _chart(rows, metric, width=280, height=220).encode(
            x=x, color=_colour(alt, "system", systems)
        )
        line = base.mark_line().encode(
            y=alt.Y("value:Q", title="%", scale=alt.Scale(domain=[0, 100])),
            strokeDash=_dash(alt, "system", systems),
        )
        mark = base.mark_point(filled=True, size=55).encode(
            y="value:Q", shape=_shape(alt, "system", systems), tooltip=_tips(alt, rows)
        )
        layers = line + mark
        ranged = [r for r in rows if r["low"] is not None and r["high"] is not None]
        if ranged:
            bars = _chart(ranged, metric, width=280, height=220).mark_rule(opacity=0.6)
            layers += bars.encode(
                x=x, y=alt.Y("low:Q", title="%"), y2="high:Q", color=_colour(alt, "system", systems)
            )
        panels.append(layers)
    return alt.concat(*panels, columns=2, title=alt.TitleParams(title, anchor="start"))


def pair_success(records: Records, title: str) -> Any:
    """Pair success against macro accuracy; policies that ignore the context are grey crosses."""
    alt = library()
    systems = _names([r for r in records if r["kind"] == "system"], "name")
    base = _chart(records, title, width=380, height=340).encode(
        x=alt.X("macro:Q", title="macro accuracy, %", scale=alt.Scale(domain=[0, 100])),
        y=alt.Y("pasr:Q", title="PASR, %", scale=alt.Scale(domain=[0, 100])),
        tooltip=["name:N", "kind:N", "macro:Q", "pasr:Q"],
    )
    policies = base.transform_filter("datum.kind != 'system'")
    real = base.transform_filter("datum.kind == 'system'")
    return (
        policies.mark_point(shape="cross", filled=True, size=60, color=QUIET)
        + policies.mark_text(align="left", dx=8, dy=-9, color="#58626d").encode(text="name:N")
        # Outlines: systems that score the same stay to be seen, one shape in the other.
        + real.mark_point(filled=False, size=110, strokeWidth=2, opacity=1).encode(
            color=_colour(alt, "name", systems), shape=_shape(alt, "name", systems)
        )
    )


def anticipation(records: Records, title: str) -> Any:
    """How well a turn end is told from a pause, against the time from the end of the segment."""
    alt = library()
    systems = _names(records, "system")
    numbers = sorted({r["n"] for r in records})
    many = " to ".join(f"{n:,}" for n in dict.fromkeys((numbers[0], numbers[-1])))
    known = [r for r in records if r["low"] is not None and r["high"] is not None]
    more = "; bars: bootstrap intervals" if known else "; no intervals"
    chart = _chart(records, title, width=480, height=280, more=[
        "A score counts from when it was committed: look-ahead is folded into the time axis.",
        f"n = {many} segment ends{more}; dotted: chance, and the end itself.",
    ])  # fmt: skip
    x = alt.X(
        "at:Q",
        title="seconds from the end of the segment (negative: before it)",
        scale=alt.Scale(nice=False, padding=8),
        axis=alt.Axis(format="+.2~f", tickCount=8, grid=False),
    )
    y = alt.Y("value:Q", title="AUC, end of turn against hold", scale=alt.Scale(zero=False))
    base = chart.encode(x=x, y=y, color=_colour(alt, "system", systems))
    dots = {"color": QUIET, "strokeDash": [2, 2]}
    marks = [
        alt.Chart(alt.Data(values=[{"at": 0}])).mark_rule(**dots).encode(x="at:Q"),
        alt.Chart(alt.Data(values=[{"value": 0.5}])).mark_rule(**dots).encode(y="value:Q"),
    ]
    if known:
        bars = alt.Chart(alt.Data(values=known)).mark_rule(opacity=0.45)
        marks.append(
            bars.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=_colour(alt, "system", systems))
        )
    return alt.layer(
        *marks,
        base.mark_line().encode(strokeDash=_dash(alt, "system", systems)),
        base.mark_point(filled=True, size=45).encode(
            shape=_shape(alt, "system", systems), tooltip=_tips(alt, records)
        ),
    )


def reliability(records: Records, title: str) -> Any:
    """Share of positives against the mean probability of each bin; the diagonal is calibrated."""
    alt = library()
    systems = _names(records, "system")
    kept = [r for r in records if r["score"] is not None and r["positive"] is not None]
    span = alt.Scale(domain=[0, 1])
    base = _chart(kept, title, width=320, height=320).encode(
        x=alt.X("score:Q", title="mean score of the bin", scale=span),
        y=alt.Y("positive:Q", title="share of positives", scale=span),
        color=_colour(alt, "system", systems),
    )
    diagonal = alt.Chart(alt.Data(values=[{"a": 0, "b": 0}, {"a": 1, "b": 1}]))
    return (
        diagonal.mark_line(color=QUIET, strokeDash=[2, 2]).encode(x="a:Q", y="b:Q")
        + base.mark_line().encode(strokeDash=_dash(alt, "system", systems))
        + base.mark_point(filled=True).encode(
            size=alt.Size("units:Q", title="units", scale=alt.Scale(range=[30, 260])),
            shape=_shape(alt, "system", systems),
            tooltip=_tips(alt, kept),
        )
    )


def trade_off(records: Records, title: str) -> Any:
    """What a threshold costs: share of false positives against share of misses."""
    alt = library()
    systems = _names(records, "system")
    base = _chart(records, title, width=340, height=320).encode(
        x=alt.X("fpr:Q", title="taken too early (false positives), %"),
        y=alt.Y("miss:Q", title="not taken (misses), %"),
        color=_colour(alt, "system", systems),
        tooltip=_tips(alt, records),
    )
    lines = base.mark_line(interpolate="step-after").encode(
        order="threshold:Q", strokeDash=_dash(alt, "system", systems)
    )
    if not any(r["chosen"] for r in records):
        return lines
    chosen = base.transform_filter("datum.chosen").mark_point(filled=True, size=110)
    return lines + chosen.encode(shape=_shape(alt, "system", systems))


def forest(records: Records, title: str) -> Any:
    """Paired differences with their intervals; the line at zero is no difference."""
    alt = library()
    names = _names(records, "name")
    base = _chart(records, title, width=420, height=24 * len(names) + 20).encode(
        y=alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=420)),
        tooltip=_tips(alt, records),
    )
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color=QUIET).encode(x="zero:Q")
    points = base.mark_point(filled=True, size=70, shape="square").encode(
        x=alt.X("difference:Q", title="difference A - B, points"),
        color=alt.condition("datum.shown", alt.value(PALETTE[0]), alt.value(QUIET)),
    )
    if all(r["low"] is None or r["high"] is None for r in records):
        return zero + points
    bars = base.mark_rule(strokeWidth=1.6, color=INK).encode(
        x=alt.X("low:Q", title="difference A - B, points"), x2="high:Q"
    )
    return zero + bars + points


def _tips(alt: Any, records: Records) -> list[Any]:
    first = records[0]
    return [
        alt.Tooltip(f"{name}:Q", format=".4~g")
        if any(isinstance(r.get(name), float) for r in records)
        else f"{name}:N"
        for name in first
    ]


FIGURES: dict[str, Figure] = {
    "confusion": Figure(confusion, "gold against answered labels", ("gold", "predicted", "count")),
    "history": Figure(
        history,
        "metrics against the length of the history",
        ("system", "metric", "history", "value", "low", "high"),
    ),
    "pair-success": Figure(
        pair_success, "PASR against macro accuracy", ("name", "kind", "macro", "pasr")
    ),
    "anticipation": Figure(
        anticipation, "turn ends ahead of time", ("system", "at", "value", "low", "high", "n")
    ),
    "reliability": Figure(
        reliability, "reliability diagram", ("system", "score", "positive", "units")
    ),
    "trade-off": Figure(
        trade_off,
        "false positives against misses over all thresholds",
        ("system", "threshold", "fpr", "miss", "chosen"),
    ),
    "forest": Figure(forest, "paired differences", ("name", "difference", "low", "high", "shown")),
}
