"""The paragraph for a methods section says what the results themselves say."""

import dataclasses

import pytest

from floorbench.core.spec import SystemSpec
from floorbench.report.methods import methods
from floorbench.run.served import Snapshot
from support.results import toy_result


def test_one_system() -> None:
    result = toy_result("silence-webrtc")
    said = methods([result])
    paragraph, _, signature = said.partition("\n\n")
    digest = result.signature.protocol["dataset"]
    for part in (
        "task codett version 1 after CoDeTT (2026), sections 3-4 (stage=intent, parser=strict,",
        "Conditions: h0.",
        f"Data: codett-starter version 1, 196 samples, digest {digest}. ",
        "it does not rank systems.",
        f"answered {result.coverage.ok} of {result.coverage.expected} questions.",
        "Intervals are 95 %, two-sided, from a bootstrap of 50 draws (seed 0) that resamples whole "
        "clusters (dialogue, else history, else sample), drawn within strata (language x label x "
        "source, joined, strata of one collapsed); by BCa",
        "counts against the system",
    ):
        assert part in paragraph
    assert "Holm" not in paragraph
    assert signature.startswith("task:codett/1|data:")


def test_two_systems_say_how_they_are_compared_and_have_a_signature_each() -> None:
    said = methods([toy_result("silence-webrtc"), toy_result("oracle")])
    assert "exact up to 14 clusters, else 9,999 permutations" in said
    assert said.count("task:codett/1|data:") == 2


def test_dropped_answers_are_said_to_be_dropped() -> None:
    result = toy_result()
    task = dataclasses.replace(
        result.task, parameters={**result.task.parameters, "missing": "drop"}
    )
    assert "are left out." in methods([dataclasses.replace(result, task=task)])


def test_a_service_names_who_answered_and_no_secret_is_told() -> None:
    result = toy_result()
    spec: SystemSpec = dataclasses.replace(
        result.system, parameters={"api_key": "sk-secret"}, weights={"model.onnx": "ab" * 32}
    )
    served = (Snapshot(snapshot="gpt-4o-2024-08-06", answers=8),)
    said = methods([dataclasses.replace(result, system=spec, served=served)])
    assert "answered by gpt-4o-2024-08-06 (100 %)" in said
    assert "model.onnx sha256 abababababab)" in said
    assert "sk-secret" not in said


@pytest.mark.parametrize("name", ["oracle", "always-takeover"])
def test_it_is_one_paragraph(name: str) -> None:
    paragraph = methods([toy_result(name)]).split("\n\n")[0]
    assert "\n" not in paragraph
    assert paragraph.endswith(".")


def test_the_threshold_is_the_one_that_was_scored_at() -> None:
    result = toy_result()
    own = dataclasses.replace(result, system=dataclasses.replace(result.system, threshold=0.5))
    assert "threshold 0.5)" in methods([own])
    task = dataclasses.replace(
        result.task, parameters={**result.task.parameters, "threshold": 0.689}
    )
    given = dataclasses.replace(own, task=task)
    said = methods([given])
    assert said.count("threshold") == 1
    assert "threshold 0.689)" in said
    protocol, system = result.signature.protocol, result.signature.system
    chosen = {"artefact": "ab" * 32, "threshold": 0.689, "dataset": "0123"}
    signature = dataclasses.replace(
        result.signature,
        protocol={
            **protocol,
            "parameters": {**protocol["parameters"], "threshold": "recall_at_fpr (limit 0.05)"},
        },
        system={**system, "threshold_from": chosen},
    )
    frozen = methods([dataclasses.replace(given, signature=signature)]).split("\n\n")[0]
    assert (
        "threshold 0.689, chosen by recall_at_fpr (limit 0.05) on data of digest 0123 and then "
        "frozen)" in frozen
    )
    assert "threshold 0.5" not in frozen


@pytest.mark.parametrize(
    ("source", "said"),
    [("ours", "version 1 (stage"), ("Easy Turn test set; ours", "after Easy Turn test set (stage")],
)
def test_what_is_floorbenchs_own_is_not_said_to_be_ours(source: str, said: str) -> None:
    result = toy_result()
    task = dataclasses.replace(result.task, source=source)
    assert said in methods([dataclasses.replace(result, task=task)])


def test_without_any_interval_no_reason_is_guessed() -> None:
    result = toy_result()
    bare = [
        dataclasses.replace(
            e, interval=dataclasses.replace(e.interval, low=None, high=None, method="none")
        )
        for e in result.estimates
    ]
    said = methods([dataclasses.replace(result, estimates=bare)])
    assert "; no figure here has one. Under 10 clusters there is none." in said


def test_in_latex_every_sign_is_printed() -> None:
    said = methods([toy_result()], "latex")
    assert r"Intervals are 95 \%, two-sided" in said
    assert "_" not in said.replace(r"\_", "")
