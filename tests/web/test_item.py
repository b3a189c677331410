from dataclasses import replace
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.core.prediction import Decision, Event, PredictionKey
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.echo import EchoSource
from floorbench.report.stored import Sources, load, read_run
from floorbench.tasks.codett import CodettTask
from floorbench.tasks.echo import EchoTask
from floorbench.web.gold import gold_events
from floorbench.web.index import Group
from floorbench.web.item import _gold, tracks
from floorbench.web.item import item_payload as make_payload
from floorbench.web.line import TimeLine
from support import echo_tiny
from support.codett_tiny import build
from support.viewing import (
    HOSTILE,
    SECONDS,
    DuoSource,
    DuoTask,
    answers,
    duo_reader,
    duo_runs,
    system,
    write_run,
)


def item_payload(group: Group, key: PredictionKey) -> dict[str, Any]:
    return make_payload(group, key, TimeLine(group, key))


def payload(tmp_path: Path, sample: str = "s1", condition: str = "h1") -> dict[str, Any]:
    read = duo_reader()
    group = Group([read(p) for p in duo_runs(tmp_path)])
    made = item_payload(group, PredictionKey(sample, condition, 0))
    codec.encode(made)  # it can be sent
    return made


def test_an_item_carries_sound_and_answers(tmp_path: Path) -> None:
    made = payload(tmp_path)
    assert made["target"] == {"part": "target", "seconds": SECONDS, "rate": 8000, "problem": None}
    assert [t["audio"] and t["audio"]["part"] for t in made["turns"]] == ["turn-0", None]
    assert made["gold"] == {"answer": "yes"}
    first = made["runs"][0]
    assert first["decision"]["commit"] == 1.5
    assert first["decision"]["events"] == 1
    assert first["layers"] == [
        {"name": "label", "verdict": "right", "gold": "yes", "predicted": "yes"}
    ]
    assert [c["condition"] for c in made["conditions"]] == ["h0", "h1"]


def test_what_the_system_saw_is_what_the_task_showed_it(tmp_path: Path) -> None:
    assert payload(tmp_path / "a", condition="h0")["runs"][0]["seen"]["turns"] == 0
    assert payload(tmp_path / "b", condition="h1")["runs"][0]["seen"]["turns"] == 2


def test_the_rule_says_how_an_answer_counted(tmp_path: Path) -> None:
    assert payload(tmp_path / "a")["runs"][0]["rule"] == [
        "The system answered “yes”.",
        "Its score 0.89 is above the system's own threshold 0.5.",
        "Read as label “yes”; gold is “yes”: right.",
    ]
    failed = payload(tmp_path / "b", sample="s7")["runs"][1]["rule"]
    assert failed[1] == f"Outcome failed (no luck {HOSTILE}); with missing=wrong."
    assert failed[2] == "It gives no usable label; gold is “yes”: wrong."


def test_units_are_shown_with_names(tmp_path: Path) -> None:
    units = payload(tmp_path)["runs"][0]["units"]
    assert units[0]["kind"] == "sample"
    row = dict(zip(units[0]["columns"], units[0]["rows"][0], strict=True))
    assert row == {
        "gold": "yes", "predicted": "yes", "outcome": "ok", "condition": "h1", "score": "0.89",
    }  # fmt: skip


def test_missing_audio_is_said_and_the_item_shown(tmp_path: Path) -> None:
    data = build(tmp_path / "data", history=1, languages=("EN",))
    source = CodettSource(data)
    spec = system("cut", labels=("complete", "incomplete"), label_map="smart-turn", context="none")
    path = write_run(
        tmp_path / "runs",
        task=CodettTask(),
        source=source,
        spec=spec,
        answer=lambda *_: Decision(label="complete"),
    )
    sample = next(s for s in source.samples() if s.tags["action"] == "Dismiss")
    for wav in (data / "audios").rglob("*.wav"):
        wav.unlink()
    group = Group([load(path, Sources())])
    made = item_payload(group, PredictionKey(sample.id, "h0", 0))
    assert made["target"]["problem"].startswith("FB301")
    assert made["target"]["seconds"] is None
    rule = made["runs"][0]["rule"]
    assert rule[-1] == (
        "Read as label “Takeover” through the label map smart-turn; gold is “Dismiss”: wrong."
    )


def test_named_times_and_the_gold_of_the_task_stand_on_the_time_line() -> None:
    target = {"role": "x", "events": {"insertion_start": 1.0, "insertion_end": 2.0, "cue": 3.0}}
    gold = Decision(label="yield", scores={"p": 0.5}, events=(Event(kind="shift", time=4.0),))
    assert gold_events(target, gold) == [
        {"kind": "shift", "start": 4.0, "end": None},
        {"kind": "insertion", "start": 1.0, "end": 2.0},
        {"kind": "cue", "start": 3.0, "end": None},
    ]
    sample = replace(DuoSource().sample(1), target=target)
    assert _gold(sample, gold) == {"answer": "yield", "p": "0.5", "role": "x"}


def test_events_without_a_label_are_said(tmp_path: Path) -> None:
    path = write_run(
        tmp_path,
        task=DuoTask(),
        source=DuoSource(),
        spec=system(),
        answer=lambda *_: Decision(
            label=None, events=tuple(Event(kind="yield", time=float(i)) for i in range(8)),
            outcome="abstained",
        ),
    )  # fmt: skip
    made = item_payload(Group([duo_reader()(path)]), PredictionKey("s1", "h0", 0))
    said = made["runs"][0]["rule"][0]
    assert said.startswith("The system answered yield at 0.00 s, yield at 1.00 s")
    assert said.endswith("and 2 more events.")


def test_pairs_are_shown_with_both_members(tmp_path: Path) -> None:
    source = EchoSource(echo_tiny.build(tmp_path / "data"))
    path = write_run(
        tmp_path / "runs",
        task=EchoTask(),
        source=source,
        spec=system("keeper", labels=("keep", "yield"), score=None, threshold=None),
        answer=lambda *_: Decision(label="keep"),
    )
    group = Group([read_run(path, task=EchoTask(), source=source)])
    made = item_payload(group, group.keys[0])
    kinds = {u["kind"]: u["count"] for u in made["runs"][0]["units"]}
    assert kinds["sample"] == 1
    assert kinds["pair"] >= 1
    measure = next(m for m in group.runs[0].stored.measures if m.metric.spec.name == "pasr")
    mask = group.cell_mask(group.runs[0], "pasr", measure.slice)
    present = zip(measure.scored.clusters, measure.scored.present(), strict=True)
    names = {cluster for cluster, there in present if there}
    assert {group.samples[r].cluster for r in mask.nonzero()[0]} == names


def test_an_item_that_a_run_was_not_asked_says_so(tmp_path: Path) -> None:
    paths = [
        write_run(tmp_path, task=DuoTask(), source=DuoSource(), spec=spec, answer=answers())
        for spec in (system("short", context="none"), system("long"))
    ]
    group = Group([duo_reader()(p) for p in paths])
    made = item_payload(group, PredictionKey("s1", "h1", 0))
    assert [r["due"] for r in made["runs"]] == [False, True]
    assert made["conditions"][1]["verdicts"] == ["not asked", "right"]


def test_tracks_are_turns_and_channels() -> None:
    found = tracks(DuoSource().sample(1))
    assert {k: [role for role, _ in v] for k, v in found.items()} == {
        "turn-0": ["user"],
        "target": ["user", "system"],
    }
