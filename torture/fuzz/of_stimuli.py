"""Stimuli of turns, who heard them, and what the listeners answered."""

from __future__ import annotations

from pathlib import Path

from floorbench.datasets.trp_files import Stimulus, read_panels, read_stimuli
from floorbench.datasets.trp_lists import LISTS, Lists, read_lists
from torture.fuzz.files import file, filled, rows, survives
from torture.fuzz.of_answers import seeds
from torture.fuzz.target import Target, law


def _stimuli(path: Path) -> None:
    found = read_stimuli(path)
    law(len(found) == filled(path), f"{len(found)} turns of {filled(path)} lines")
    for one in found:
        survives(one, Stimulus)
        law(all(w.start <= w.end for w in one.words), "a word backwards")


_STIMULUS = {
    "id": "t1", "list": "A", "turn_end": 2.5, "conversation": "c", "offset": 10.0, "speaker": "x",
    "words": [{"text": "well", "start": 0.1, "end": 0.4}, {"text": "yes", "start": 0.5, "end": 0.9}],
}  # fmt: skip


def _responses(path: Path) -> None:
    root = path.parent
    (root / "stimuli.jsonl").write_bytes(rows(_STIMULUS, {**_STIMULUS, "id": "t2", "offset": 20.0}))
    (root / "roster.json").write_text('[{"id": "p1", "list": "A"}, {"id": "p2", "list": "A"}]')
    found = read_panels(root, read_stimuli(root / "stimuli.jsonl"))
    law(found is not None, "a labelled set is seen as unlabelled")
    kept = sum(len(p.onsets) for p in found.values())
    law(kept == filled(path), f"{kept} answers of {filled(path)} lines")
    for panel in found.values():
        for onsets in panel.onsets.values():
            law(list(onsets) == sorted(onsets), "onsets out of order")
            law(all(isinstance(t, int) for t in onsets), "onsets that are no ticks")


def _roster(path: Path) -> None:
    root = path.parent
    (root / "stimuli.jsonl").write_bytes(rows(_STIMULUS))
    (root / "responses.jsonl").write_bytes(
        rows({"participant": "p1", "stimulus": "t1", "onsets": [1]})
    )
    found = read_panels(root, read_stimuli(root / "stimuli.jsonl"))
    law(found is not None and "p1" in found["t1"].roster, "a listener is lost")


def _lists(path: Path) -> None:
    found = read_lists(path.parent)
    survives(found, Lists)


_LISTS = {
    "seed": 1, "rules": {"gap": 2.0},
    "lists": [{"name": "A", "reversed": False, "audio": "a.wav", "rate": 16000, "frames": 90000,
               "pcm": "0" * 64, "items": [{"stimulus": "t1", "beep": 0, "start": 8000, "end": 40000,
                                           "stop": 60000}]}],
}  # fmt: skip


TARGETS = [
    Target(
        name="data-trp-stimuli",
        seeds=lambda: [rows(_STIMULUS, {**_STIMULUS, "id": "t2", "offset": 20.0})],
        read=file("stimuli.jsonl", _stimuli),
        covers=("floorbench.datasets.trp_files:read_stimuli", "floorbench.datasets.trp_files:_lines"),
    ),
    Target(
        name="data-trp-responses",
        seeds=lambda: [rows({"participant": "p1", "stimulus": "t1", "onsets": [0.5, 1.25]},
                            {"participant": "p2", "stimulus": "t2", "onsets": []})],
        read=file("responses.jsonl", _responses),
        covers=("floorbench.datasets.trp_files:read_panels", "floorbench.datasets.trp_files:_onsets"),
    ),
    Target(
        name="data-trp-roster",
        seeds=seeds([{"id": "p1", "list": "A"}, {"id": "p2", "list": "A", "reversed": True,
                                                 "heard": ["t1"]}]),
        read=file("roster.json", _roster),
        covers=("floorbench.datasets.trp_files:_roster",),
    ),
    Target(
        name="data-trp-lists",
        seeds=seeds(_LISTS),
        read=file(LISTS, _lists),
        covers=("floorbench.datasets.trp_lists:read_lists",),
    ),
]  # fmt: skip
