"""The tables of names that ship with floorbench; a new part adds one line here."""

from __future__ import annotations

from floorbench.registry import Entry, Registry

TASKS = Registry(
    "task",
    {
        "clips": Entry("floorbench.tasks.clips:ClipsTask", "labelled clips: complete or not"),
        "codett": Entry("floorbench.tasks.codett:CodettTask", "CoDeTT: 4 actions, 14 intents"),
    },
)

DATASETS = Registry(
    "dataset",
    {
        "clips": Entry("floorbench.datasets.clips:ClipsSource", "labelled clips of user turns"),
        "codett": Entry("floorbench.datasets.codett:CodettSource", "CoDeTT's released layout"),
    },
)

SYSTEMS = Registry("system", {})

METRICS = Registry("metric", {})

ALL = {r.kind: r for r in (TASKS, DATASETS, SYSTEMS, METRICS)}
