"""The tables of names that ship with floorbench; a new part adds one line to its table.

Systems stand in ``floorbench.catalog.systems``, metrics in ``floorbench.catalog.metrics``, the
shorter tables here. All are imported from here.
"""

from __future__ import annotations

from floorbench.catalog.metrics import METRICS
from floorbench.catalog.systems import SYSTEMS
from floorbench.registry import Entry, Registry

__all__ = ["ALL", "DATASETS", "METRICS", "RECIPES", "SYSTEMS", "TASKS"]

TASKS = Registry(
    "task",
    {
        "clips": Entry("floorbench.tasks.clips:ClipsTask", "labelled clips: complete or not"),
        "turns": Entry("floorbench.tasks.turns:TurnsTask", "whole turns: when a stream takes them"),
        "dualturn-4s": Entry(
            "floorbench.tasks.dualturn:DualTurnTask", "DualTurn: agent actions, words, turn ends"
        ),
        "vap-1s": Entry("floorbench.tasks.vap:VapTask", "shift, hold and backchannel prediction"),
        "codett": Entry("floorbench.tasks.codett:CodettTask", "CoDeTT: 4 actions, 14 intents"),
        "trp": Entry("floorbench.tasks.trp:TrpTask", "within-turn TRPs: could a listener respond?"),
        "echo": Entry("floorbench.tasks.echo:EchoTask", "ECHO: yield or keep, matched contrasts"),
    },
)

DATASETS = Registry(
    "dataset",
    {
        "clips": Entry("floorbench.datasets.clips:ClipsSource", "labelled clips of user turns"),
        "swb-ms98": Entry(
            "floorbench.datasets.two_channel_calls:SwitchboardSource",
            "Switchboard word files of the ISIP release",
        ),
        "ami": Entry("floorbench.datasets.two_channel_speakers:AmiSource", "AMI words or RTTM"),
        "fisher": Entry("floorbench.datasets.two_channel_calls:FisherSource", "Fisher transcripts"),
        "candor": Entry(
            "floorbench.datasets.two_channel_speakers:CandorSource", "CANDOR, three segmentations"
        ),
        "dualturn-rows": Entry(
            "floorbench.datasets.dualturn_rows:FrameRowsSource", "stored frame labels (Parquet)"
        ),
        "two-channel": Entry(
            "floorbench.datasets.two_channel_files:TwoChannelFiles",
            "stereo audio with any annotation format",
        ),
        "otospeech": Entry(
            "floorbench.datasets.two_channel_files:OtoSpeechSource", "otoSpeech stereo FLAC"
        ),
        "codett": Entry("floorbench.datasets.codett:CodettSource", "CoDeTT's released layout"),
        "trp": Entry("floorbench.datasets.trp:TrpSource", "stimulus turns, roster and responses"),
        "echo": Entry("floorbench.datasets.echo:EchoSource", "matched-contrast samples and pairs"),
        "shards": Entry("floorbench.datasets.shards:ShardsSource", "packed datasets, also remote"),
    },
)

RECIPES = Registry(
    "recipe",
    {
        "codett": Entry(
            "floorbench.build.codett.recipe:CodettRecipe",
            "CoDeTT's six stages, from dialogues to the released layout",
        ),
        "echo": Entry(
            "floorbench.build.echo_recipe.recipe:EchoRecipe",
            "ECHO's matched contrasts: one insertion, rewritten contexts, placed overlaps",
        ),
    },
)

ALL = {r.kind: r for r in (TASKS, DATASETS, SYSTEMS, METRICS, RECIPES)}
