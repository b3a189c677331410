"""The paths whose counts are compared in the tests: what one more of a thing costs.

Every path is a function that returns counts (see :mod:`benchmarks.counting`). Most are slopes: what
a run, a score or a page costs for one sample, row or step more, so that constants cancel and work
that has become quadratic shows.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

from benchmarks import bench_scoring
from benchmarks.bench_labels import FLOOR, dualturn, spans, vap
from benchmarks.bench_stream import STEP, Nothing
from benchmarks.counting import Counts, counted, peak, slope
from benchmarks.generated import (
    RATE,
    Conversations,
    activity,
    run_texts,
    write_clips,
)
from floorbench.audio.ref import ArrayAudio
from floorbench.build.pipeline.engine import build
from floorbench.core.sample import Observation
from floorbench.core.vocab import Role
from floorbench.datasets.clips import ClipsSource
from floorbench.datasets.dualturn_labels import LabelRules, labelled, training_phrases, write_table
from floorbench.datasets.manifest import Manifest, pcm_digests
from floorbench.datasets.open import open_dataset
from floorbench.events.dualturn import RATE as DUALTURN_RATE
from floorbench.events.floor import floor
from floorbench.events.vap import VapRules
from floorbench.metrics.base import evaluator
from floorbench.metrics.classification import accuracy
from floorbench.metrics.ranking import auc_macro
from floorbench.stats.bootstrap import bootstrap
from floorbench.systems.stream import StreamDriver
from floorbench.systems.whisper_mel import whisper_mel
from floorbench.web.index import Group
from floorbench.web.query import Query, facets, masks, select
from support.build_toy import ToyRecipe
from support.viewing import duo_reader, duo_runs

WRITING = ("write", "fsync")


@contextmanager
def still() -> Iterator[Path]:
    """Give a folder, and stop the clock that decides when the journal is synced."""
    frozen = SimpleNamespace(monotonic=lambda: 0.0)
    with tempfile.TemporaryDirectory() as folder, patch("floorbench.run.journal.time", frozen):
        yield Path(folder)


def start(*argv: str) -> Counts:
    """Return how many modules a command imports: floorbench's own, and all."""
    code = (
        "import atexit, json, sys; from floorbench.cli.app import main\n"
        "atexit.register(lambda: json.dump(sorted(sys.modules), sys.stderr))\n"
        f"main({list(argv)!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = json.loads(done.stderr)
    own = sum(name.partition(".")[0] == "floorbench" for name in names)
    return {"own_modules": float(own), "modules": float(len(names))}


def engine_sample() -> Counts:
    with still() as folder:
        return slope(lambda n: run_texts(n, out=folder), 100, names=WRITING)


def engine_resumed() -> Counts:
    with still() as folder:
        made = {n: run_texts(n, out=folder).path for n in (100, 200)}
        return slope(lambda n: run_texts(n, out=folder, resume=made[n]), 100, names=WRITING)


def score_prediction() -> Counts:
    with still() as folder:
        paths = {n: bench_scoring.toy_run(folder / str(n), n) for n in (100, 200)}
        return slope(lambda n: bench_scoring.score_folder(paths[n], n, draws=50), 100)


def score_codett() -> Counts:
    bench_scoring.codett(280, 50)
    return {
        **counted(lambda: bench_scoring.codett(280, 200)),
        "peak": peak(lambda: bench_scoring.codett(2800, 500)),
    }


def score_draw() -> Counts:
    scored = bench_scoring.predictions(np.random.default_rng(0), 280)
    made = evaluator(accuracy(), scored)
    return slope(lambda n: bootstrap({"a": made}, scored.strata, draws=n, seed=1), 500)


def auc_draw() -> Counts:
    scored = bench_scoring.word_units(2000, 50)
    made = evaluator(auc_macro(labels=("C", "B", "T")), scored)

    def draw(n: int) -> None:
        bootstrap({"a": made}, scored.strata, draws=n, seed=1)

    return {**slope(draw, 200), "peak": peak(lambda: draw(500))}


def compared() -> Counts:
    bench_scoring.paired(140, 50, 50)
    return {
        **counted(lambda: bench_scoring.paired(280, 200, 200)),
        "peak": peak(lambda: bench_scoring.paired(2800, 500, 500)),
    }


def frame_labels() -> Counts:
    sessions = {
        n: (activity(0, n, DUALTURN_RATE), activity(0, n, VapRules().rate)) for n in (10, 20)
    }

    def label(n: int) -> None:
        dualturn(sessions[n][0])
        vap(sessions[n][1])

    return {**slope(label, 10), "peak": peak(lambda: label(20))}


def floor_events() -> Counts:
    speech = {n: spans(activity(0, n, VapRules().rate)) for n in (10, 20)}
    return {
        **slope(lambda n: floor(speech[n], FLOOR), 10),
        "peak": peak(lambda: floor(speech[20], FLOOR)),
    }


def event_table() -> Counts:
    rules = LabelRules(protocol="dualturn-4s", min_gap=0)
    with still() as folder:

        def table(n: int) -> None:
            source = Conversations(sessions=n, minutes=2)
            phrases = training_phrases(source, rules)
            rows = (row for one in labelled(source, rules, phrases) for row in one.rows)
            write_table(folder / "events.jsonl", rows)

        return slope(table, 2, names=("write",))


def driver_step() -> Counts:
    driver = StreamDriver(Nothing())

    def stream(n: int) -> None:
        audio = ArrayAudio(np.zeros(int(n * STEP * RATE), dtype=np.float32), rate=RATE)
        channels = {Role.USER: audio, Role.SYSTEM: audio}
        driver.decide(Observation(language="en", channels=channels))

    return slope(stream, 500)


def front_end() -> Counts:
    samples = np.sin(np.arange(8 * RATE) / 30).astype(np.float32)
    whisper_mel(samples)
    return {**counted(lambda: whisper_mel(samples)), "peak": peak(lambda: whisper_mel(samples))}


def clips_sample() -> Counts:
    with still() as folder:
        for n in (20, 40):
            write_clips(folder / str(n), n)

        def read(n: int) -> None:
            source = ClipsSource(folder / str(n), cache=folder / "cache")
            source.digest()
            for sample in source.samples():
                sample.observation.channels[Role.USER].read()

        read(40)
        return slope(read, 20)


def codett_samples() -> Counts:
    def read() -> None:
        source = open_dataset("starter:codett")
        source.digest()
        for _ in source.samples():
            pass

    read()
    return counted(read)


def manifest_file() -> Counts:
    names = [f"{i}.wav" for i in range(400)]
    known = Manifest(name="made", pcm=dict.fromkeys(names, "0" * 64))
    with still() as folder:
        return slope(lambda n: pcm_digests(folder, names[:n], known, cache=folder), 200)


def viewer_row() -> Counts:
    with still() as folder:
        runs = {n: duo_runs(folder / str(n), n, audio=False) for n in (60, 120)}

        def show(n: int) -> None:
            read = duo_reader(n, audio=False)
            group = Group([read(path) for path in runs[n]])
            query = Query(text="number", against=1)
            found = masks(group, query, {})
            select(group, query, found)
            facets(group, query, found)

        return slope(show, 60)


def pipeline_item() -> Counts:
    number = count()
    with still() as folder:

        def make(n: int) -> None:
            k = next(number)
            build(
                ToyRecipe(), out=folder / f"out{k}", cache=folder / f"cache{k}",
                settings={"items": n, "threshold": 0.0},
            )  # fmt: skip

        return slope(make, 10)


PATHS: dict[str, Callable[[], Counts]] = {
    "start-up: --help": lambda: start("--help"),
    "start-up: list tasks": lambda: start("list", "tasks"),
    "engine: a sample": engine_sample,
    "engine: a sample of a resumed run": engine_resumed,
    "scoring: a prediction of a run folder": score_prediction,
    "scoring: the CoDeTT cells": score_codett,
    "scoring: a draw of an accuracy": score_draw,
    "scoring: a draw of an AUC": auc_draw,
    "scoring: two systems compared": compared,
    "labels: a minute of frames": frame_labels,
    "labels: a minute of floor events": floor_events,
    "labels: a session in the event table": event_table,
    "stream driver: a step": driver_step,
    "front end: a window": front_end,
    "data: a clip": clips_sample,
    "data: the CoDeTT starter set": codett_samples,
    "data: a file of a manifest": manifest_file,
    "viewer: a row of two runs": viewer_row,
    "construction: an item of a toy recipe": pipeline_item,
}
