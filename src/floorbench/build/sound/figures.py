"""How a build sounds: a figure with a panel per measure, a row per group, and the same as a table.

A group is what a reader compares: a label of CoDeTT (state and scenario, because a scenario's name
alone may belong to both states), or a role of ECHO.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from floorbench.build.pipeline.report import Figure
from floorbench.build.pipeline.stage import Item
from floorbench.build.sound.soundscape import CLEAN, TARGET
from floorbench.errors import EnvironmentProblem
from floorbench.report.figures import PALETTE, library, styled
from floorbench.report.figures_save import render
from floorbench.report.tables import Row, Table, text

BEFORE, AFTER = "before", "after"
STAGES = (BEFORE, AFTER)
MEASURES: Mapping[str, tuple[str, float]] = {
    "duration_s": ("Duration (s)", 1.0),
    "active_level_db": ("Active level (dBFS)", 1.0),
    "loudness_lufs": ("Loudness (LUFS)", 1.0),
    "peak_db": ("Peak (dBFS)", 1.0),
    "clipped_share": ("Clipped samples (%)", 100.0),
}
"""Name of a measure to its title and the factor of its unit."""
RATIOS: Mapping[str, str] = {"babble": "Speech to babble (dB)", "noise": "Speech to noise (dB)"}
ORDER = (*(title for title, _ in MEASURES.values()), *RATIOS.values())
"""Measures in the order of the panels; a speaking rate, whose unit differs, comes last."""


def label_name(state: str, scenario: str) -> str:
    """Return a label as figures call it.

    Examples
    --------
    >>> label_name("SystemIdle", "Dismissal")
    'Dismissal, idle'
    """
    return f"{scenario}, {state.removeprefix('System').lower()}"


def records_of(items: Iterable[Item]) -> list[dict[str, Any]]:
    """Return one record per defined figure: item, label, language, measure, stage and value.

    Before and after the soundscape; a speaking rate before and after stretching. Ratios of speech
    to babble and to noise exist after it only.
    """
    records: list[dict[str, Any]] = []
    for item in items:
        fields = item.fields
        base = {
            "item": item.id,
            "group": label_name(str(fields.get("state", "")), str(fields.get("scenario", ""))),
            "language": str(fields.get("language", "")),
        }
        measures = fields.get("measures") or {}
        for track, stage in ((CLEAN, BEFORE), (TARGET, AFTER)):
            records += measured(base, measures.get(track, {}), stage)
        sound = fields.get("sound") or {}
        for name, title in RATIOS.items():
            if name in sound:
                value = sound[name]["achieved_db"]
                records.append({**base, "measure": title, "stage": AFTER, "value": value})
        for row in fields.get("speech") or ():
            if row["track"] == TARGET:
                records += rates(base, row)
    return records


def measured(
    base: Mapping[str, str], measures: Mapping[str, Any], stage: str
) -> list[dict[str, Any]]:
    """Return the records of one track's measures (:mod:`floorbench.build.sound.measures`)."""
    return [
        {**base, "measure": title, "stage": stage, "value": scale * measures[name]}
        for name, (title, scale) in MEASURES.items()
        if measures.get(name) is not None
    ]


def rates(base: Mapping[str, str], row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the speaking rates of one line, before and after its duration was stretched.

    None in a language whose units are not counted.
    """
    if row.get("rate_unit") is None:
        return []
    title = f"Speaking rate ({row['rate_unit']})"
    return [
        {**base, "measure": title, "stage": stage, "value": value}
        for stage, value in ((BEFORE, row["rate"] * row["stretch"]), (AFTER, row["rate"]))
    ]


def figures_of(
    records: Sequence[Mapping[str, Any]], *, order: Sequence[str], of: str, between: str
) -> list[Figure]:
    """Return a figure and its table per language; the table alone without the extra ``report``.

    Parameters
    ----------
    records : sequence of mapping
        As :func:`records_of` returns them.
    order : sequence of str
        Groups from top to bottom.
    of : str
        What was measured, in words.
    between : str
        What ``before`` and ``after`` are about.
    """
    out = []
    for language in sorted({str(record["language"]) for record in records}):
        rows = [r for r in records if r["language"] == language]
        caption = f"{of} ({language}): {', '.join(_heads(rows))}"
        svg = ""
        with contextlib.suppress(EnvironmentProblem):
            chart = distributions(rows, order=order, title=f"{of} ({language})", between=between)
            svg = render(chart, "svg").decode()
        out.append(
            Figure(
                caption=caption,
                svg=svg,
                table=table(rows, order=order, title=f"{of} ({language})", between=between),
            )
        )
    return out


def _heads(records: Sequence[Mapping[str, Any]]) -> list[str]:
    return [measure.partition(" (")[0].lower() for measure in _measures(records)]


def _measures(records: Iterable[Mapping[str, Any]]) -> list[str]:
    found = dict.fromkeys(str(r["measure"]) for r in records)
    return [m for m in ORDER if m in found] + [m for m in found if m not in ORDER]


def _counts(records: Iterable[Mapping[str, Any]], order: Sequence[str]) -> dict[str, int]:
    """Return the number of items of every group that has some."""
    items: dict[str, set[str]] = {}
    for record in records:
        items.setdefault(record["group"], set()).add(record["item"])
    return {group: len(items[group]) for group in order if group in items}


def table(
    records: Sequence[Mapping[str, Any]], *, order: Sequence[str], title: str, between: str
) -> Table:
    """Return median, least and greatest value of every measure, before and after."""
    rows = []
    for group, count in _counts(records, order).items():
        for stage in STAGES:
            own = [r for r in records if (r["group"], r["stage"]) == (group, stage)]
            if not own:
                continue
            cells = {"stage": text(stage), "n": text(str(count))}
            for measure in _measures(records):
                cells[measure] = text(_spread([r["value"] for r in own if r["measure"] == measure]))
            rows.append(Row(name=group, cells=cells))
    return Table(
        title=title,
        head="group",
        columns={"stage": "stage", "n": "items", **{m: m for m in _measures(records)}},
        rows=rows,
        notes=(f"median (least to greatest); before and after {between}",),
    )


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "-"
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def distributions(
    records: Sequence[Mapping[str, Any]],
    *,
    order: Sequence[str],
    title: str = "",
    between: str = "",
) -> Any:
    """Draw every value as a tick and the median as a mark, for each measure and group.

    Parameters
    ----------
    records : sequence of mapping
        As :func:`records_of` returns them.
    order : sequence of str
        Groups from top to bottom; those without an item are left out.
    title, between : str
        ``between`` says what ``before`` and ``after`` are about.

    Returns
    -------
    Chart of Altair; :func:`floorbench.report.figures_save.save` writes it.
    """
    alt = library()
    counts = _counts(records, order)
    names = {group: f"{group}  ({n})" for group, n in counts.items()}
    rows = [{**r, "group": names[r["group"]]} for r in records if r["group"] in names]
    colour = alt.Color(
        "stage:N",
        scale=alt.Scale(domain=list(STAGES), range=[PALETTE[1], PALETTE[0]]),
        legend=alt.Legend(title=None, orient="top", symbolOpacity=1),
    )
    shape = alt.Shape(
        "stage:N", scale=alt.Scale(domain=list(STAGES), range=["diamond", "circle"]), title=None
    )
    panels = []
    for measure in _measures(rows):
        own = [r for r in rows if r["measure"] == measure]
        flat = not any(r["value"] for r in own)
        scale = alt.Scale(domain=[0, 1]) if flat else alt.Scale(zero=False)
        x = alt.X("value:Q", title=measure, scale=scale)
        base = alt.Chart(alt.Data(values=own), width=300, height=alt.Step(11)).encode(
            y=alt.Y("group:N", title=None, sort=list(names.values())),
            yOffset=alt.YOffset("stage:N", sort=list(STAGES)),
            color=colour,
        )
        ticks = base.mark_tick(thickness=1, opacity=0.45, size=9).encode(x=x)
        medians = base.mark_point(filled=True, size=45, opacity=1).encode(
            x=alt.X("median(value):Q", title=measure, scale=scale), shape=shape
        )
        panels.append(ticks + medians)
    more = ["ticks: items; diamonds and circles: medians; in brackets: number of items"]
    if between:
        more.append(f"before and after {between}")
    grid = alt.concat(*panels, columns=2).properties(
        title=alt.TitleParams(title, subtitle=more, anchor="start")
    )
    return styled(grid)
