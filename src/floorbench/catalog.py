"""The tables of names that ship with floorbench; a new part adds one line here."""

from __future__ import annotations

from floorbench.registry import Entry, Registry

TASKS = Registry(
    "task",
    {
        "codett": Entry("floorbench.tasks.codett:CodettTask", "CoDeTT: 4 actions, 14 intents"),
    },
)

DATASETS = Registry("dataset", {})

SYSTEMS = Registry(
    "system",
    {
        "always-maintain": Entry(
            "floorbench.systems.baselines:always_maintain",
            "always keeps talking",
            level="measured",
        ),
        "always-stop": Entry(
            "floorbench.systems.baselines:always_stop",
            "always stops to listen",
            level="measured",
        ),
        "always-takeover": Entry(
            "floorbench.systems.baselines:always_takeover",
            "always takes the turn",
            level="measured",
        ),
        "always-dismiss": Entry(
            "floorbench.systems.baselines:always_dismiss",
            "never takes the turn",
            level="measured",
        ),
        "always-yield": Entry(
            "floorbench.systems.baselines:always_yield",
            "gives way to every insertion",
            level="measured",
        ),
        "always-keep": Entry(
            "floorbench.systems.baselines:always_keep",
            "gives way to no insertion",
            level="measured",
        ),
        "constant": Entry(
            "floorbench.systems.baselines:Constant",
            "one label for everything (parameter label)",
            level="measured",
        ),
        "constant-per-state": Entry(
            "floorbench.systems.baselines:ConstantPerState",
            "one label while speaking, one while idle",
            level="measured",
        ),
        "smart-turn-v3.0": Entry(
            "floorbench.systems.smart_turn:smart_turn_v3_0",
            "P(turn complete) from the last 8 s of audio",
            extra="onnx",
            level="measured",
        ),
        "smart-turn-v3.1": Entry(
            "floorbench.systems.smart_turn:smart_turn_v3_1",
            "P(turn complete) from the last 8 s of audio",
            extra="onnx",
            level="measured",
        ),
        "smart-turn-v3.2": Entry(
            "floorbench.systems.smart_turn:smart_turn_v3_2",
            "P(turn complete) from the last 8 s of audio",
            extra="onnx",
            level="measured",
        ),
        "silence-silero": Entry(
            "floorbench.systems.endpointers:silence_silero",
            "complete after enough silence, Silero VAD",
            extra="onnx",
            level="measured",
        ),
        "silence-webrtc": Entry(
            "floorbench.systems.endpointers:silence_webrtc",
            "complete after enough silence, WebRTC VAD",
            extra="webrtc",
            level="measured",
        ),
    },
)

METRICS = Registry("metric", {})

ALL = {r.kind: r for r in (TASKS, DATASETS, SYSTEMS, METRICS)}
