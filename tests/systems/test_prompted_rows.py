"""Prompted rows on CoDeTT: both stages, both parsers, and what a bad answer becomes."""

from __future__ import annotations

import pytest

from fake_server import Reply, chat, serving
from floorbench.catalog import SYSTEMS
from floorbench.core.vocab import Outcome, ParserMode
from floorbench.datasets.open import open_dataset
from floorbench.metrics.base import OUTCOMES
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.scoring import open_predictions, score
from floorbench.systems.build import build_system
from floorbench.tasks.codett import CodettTask
from floorbench.tasks.codett_answers import meaning
from support.model_server import gemini

ROWS = {
    "prompted-openai": {"model": "m"},
    "prompted-gemini": {"model": "m"},
    "gpt-4o-audio": {},
    "qwen3-omni": {},
    "gemini-3-pro": {},
    "gemini-3.1-pro": {},
    "prompted-smollm2": {},
}
SPEC = build_system("gpt-4o-audio").spec
KEY = "sk-secret-0123456789abcdef"


@pytest.mark.parametrize("name", ROWS)
def test_every_row_builds_and_says_what_it_is(name):
    spec = build_system(name, **ROWS[name]).spec
    assert spec.name == name
    assert spec.level == SYSTEMS.entry(name).level
    hears = name in ("gpt-4o-audio", "qwen3-omni", "gemini-3-pro")
    assert ("audio" in spec.modalities) is hears
    assert (spec.labels is not None) is (name == "gemini-3.1-pro")


def go(server, tmp_path, *, stage="intent", name="gpt-4o-audio", limit=2, **more):
    suffix = "" if name.startswith("gemini") else "/v1"
    return run(
        task=CodettTask(stage=stage),
        task_parameters={"stage": stage},
        system=SystemChoice(
            name=name, parameters={"base_url": server.url + suffix, "attempts": 1, **more}
        ),
        source=open_dataset("starter:codett"),
        conditions=["h1"],
        limit=limit,
        out=tmp_path / "runs",
        notify=lambda _: None,
    )


@pytest.mark.parametrize(("stage", "answers"), [("intent", 7), ("action", 2)])
def test_both_stages_are_asked_in_the_language_of_the_sample(tmp_path, stage, answers):
    with serving([Reply(chat("<|Dismiss|><|Incomplete|>"))]) as server:
        folder = go(server, tmp_path, stage=stage)
    for call in server.calls:
        text = call.body["messages"][0]["content"]
        options = [line for line in text.splitlines() if line.startswith("<|")]
        assert len({line.partition(" ")[0] for line in options}) == answers
        assert call.body["messages"][-1]["content"][0]["type"] == "input_audio"
    assert {p.decision.outcome for p in folder.predictions()} == {Outcome.OK}


@pytest.mark.parametrize(
    ("text", "strict", "lenient"),
    [
        ("I would say the user is done.", "invalid", "invalid"),
        ("<|Takeover|><|Completion|> or <|Dismiss|><|Incomplete|>", "ok", "invalid"),
        ("Takeover - Completion", "invalid", "ok"),
    ],
)
def test_prose_and_two_labels_are_the_parsers_business(tmp_path, text, strict, lenient):
    with serving([Reply(chat(text))]) as server:
        folder = go(server, tmp_path, limit=120)
    idle = [s for s in open_dataset("starter:codett").samples()
            if s.observation.state == "SystemIdle"]  # fmt: skip
    assert idle
    for mode, expected in (("strict", strict), ("lenient", lenient)):
        said = {p.sample_id: p for p in folder.predictions()}
        read = [
            meaning(
                said[s.id], state="SystemIdle", system=SPEC, stage="intent",
                mode=ParserMode(mode), threshold=None,
            )
            for s in idle if s.id in said
        ]  # fmt: skip
        assert {OUTCOMES[m.outcome] for m in read} == {expected}


def test_a_gemini_run_goes_through_to_a_score(tmp_path):
    with serving([Reply(gemini("<|Dismiss|><|Incomplete|>"))]) as server:
        folder = go(server, tmp_path, name="gemini-3-pro")
    task, source = CodettTask(), open_dataset("starter:codett")
    assert score(open_predictions(folder.path, task=task, source=source)).estimates


def test_the_key_is_in_nothing_that_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def leaks(call):
        said = call.headers["authorization"]
        return Reply({"error": {"message": f"refused: {said}"}}, status=401)

    with serving(leaks) as server:
        folder = go(server, tmp_path, cache=str(tmp_path / "cache"))
        assert KEY in str(server.calls[0].headers)
    files = [f for f in tmp_path.rglob("*") if f.is_file()]
    assert len(files) > 1
    assert all(KEY.encode() not in f.read_bytes() for f in files)
    out = capsys.readouterr()
    assert KEY not in out.out + out.err
    (reason,) = {p.decision.reason for p in folder.predictions()}
    assert "refused: Bearer <key>" in reason


def test_the_embedded_model_answers_both_stages_of_codett():
    system = build_system("prompted-smollm2")
    system.load()
    samples = open_dataset("starter:codett").samples()
    sample = next(s for s in samples if s.observation.language == "en")
    for stage in ("intent", "action"):
        seen = CodettTask(stage=stage).observe(sample, "h0", system=system.spec)
        decision = system.decide(seen)
        assert decision.raw in seen.question.answers
    assert len(system.spec.weights) == 1
