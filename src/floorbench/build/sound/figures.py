"""The distributions of a build as a figure: one panel per measure, one row per scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from floorbench.build.pipeline.stage import Item
from floorbench.build.sound.soundscape import CLEAN, TARGET
from floorbench.report.figures import PALETTE, library, styled

STAGES = {CLEAN: "before the soundscape", TARGET: "after it"}
MEASURES: Mapping[str, str] = {
    "duration_s": "Duration (s)",
    "active_level_db": "Active level (dBFS)",
    "loudness_lufs": "Loudness (LUFS)",
    "peak_db": "Peak (dBFS)",
}
RATIOS: Mapping[str, str] = {"babble": "Babble (dB)", "noise": "Noise (dB)"}


def records_of(items: Iterable[Item]) -> list[dict[str, Any]]:
    """Return one record per defined figure: scenario, language, measure, stage and value.

    Ratios of speech to babble and to noise exist after the soundscape only.
    """
    records: list[dict[str, Any]] = []
    for item in items:
        base = {key: str(item.fields.get(key, "")) for key in ("scenario", "language")}
        measures = item.fields.get("measures") or {}
        for track, stage in STAGES.items():
            for name, title in MEASURES.items():
                value = measures.get(track, {}).get(name)
                if value is not None:
                    records.append({**base, "measure": title, "stage": stage, "value": value})
        sound = item.fields.get("sound") or {}
        for name, title in RATIOS.items():
            if name in sound:
                value = sound[name]["achieved_db"]
                records.append({**base, "measure": title, "stage": STAGES[TARGET], "value": value})
    return records


def distributions(records: Iterable[Mapping[str, Any]], *, title: str = "") -> Any:
    """Draw every value as a tick and the median as a mark, for each measure and scenario.

    Parameters
    ----------
    records : iterable of mapping
        As :func:`records_of` returns them.
    title : str

    Returns
    -------
    Chart of Altair; :func:`floorbench.report.figures_save.save` writes it.
    """
    alt = library()
    rows = [dict(record) for record in records]
    shown = [
        m for m in (*MEASURES.values(), *RATIOS.values()) if any(r["measure"] == m for r in rows)
    ]
    colour = alt.Color(
        "stage:N",
        scale=alt.Scale(domain=list(STAGES.values()), range=[PALETTE[1], PALETTE[0]]),
        legend=alt.Legend(title=None, orient="top"),
    )
    panels = []
    for measure in shown:
        data = alt.Data(values=[r for r in rows if r["measure"] == measure])
        base = alt.Chart(data, width=300, height=alt.Step(11)).encode(
            y=alt.Y("scenario:N", title=None),
            yOffset=alt.YOffset("stage:N", sort=list(STAGES.values())),
            color=colour,
        )
        ticks = base.mark_tick(thickness=1, opacity=0.45, size=9).encode(
            x=alt.X("value:Q", title=measure, scale=alt.Scale(zero=False))
        )
        median = base.mark_point(shape="diamond", filled=True, size=45, opacity=1).encode(
            x=alt.X("median(value):Q", title=measure)
        )
        panels.append(ticks + median)
    grid = alt.concat(*panels, columns=2).properties(
        title=alt.TitleParams(title, subtitle="ticks: items; diamonds: medians", anchor="start")
    )
    return styled(grid)
