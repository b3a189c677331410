import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from floorbench.build.recordings.mine import read_verdicts
from floorbench.core.sample import Observation, Sample
from floorbench.datasets.codett_labels import BY_LABEL, IDLE, LABELS, SPEAKING
from floorbench.errors import EnvironmentProblem
from floorbench.web.review_agreement import Agreement, agreement, export
from floorbench.web.review_plan import Sampling
from floorbench.web.review_store import Plan, Review

OF_STATE = {s: [name for name in LABELS if BY_LABEL[name].state == s] for s in (SPEAKING, IDLE)}
ECHO = ("yield", "keep")


def codett(golds: list[str]) -> dict[str, Sample]:
    return {
        f"s{i}": Sample(
            id=f"s{i}",
            cluster=f"c{i // 2}",
            observation=Observation(language="en", state=BY_LABEL[gold].state),
            target={"label": gold},
        )
        for i, gold in enumerate(golds)
    }


def echo(n: int) -> dict[str, Sample]:
    return {
        f"s{i}": Sample(
            id=f"s{i}",
            cluster=f"c{i}",
            observation=Observation(language="en"),
            target={"action": ECHO[i % 2]},
        )
        for i in range(n)
    }


def reviewed(folder: Path, samples: dict[str, Sample], **said: list[str | None]) -> Review:
    plan = Plan(name="tiny", data="d", sampling=Sampling(share=1.0), items=tuple(samples))
    review = Review.begin(folder, plan)
    for name, labels in said.items():
        for item, label in zip(samples, labels, strict=True):
            if label is not None:
                review.answer(name, item, label, heard=True)
    return review


def pick(found: list[Agreement], metric: str, part: str = "all", *people: str) -> Agreement:
    (one,) = (
        a for a in found
        if a.metric == metric and a.part == part and (not people or a.reviewers == people)
    )  # fmt: skip
    return one


def test_hand_values(tmp_path: Path) -> None:
    # 10 items, 7 agreed; yield: 6 and 5 of 10, keep: 4 and 5; categories yield, keep, reject.
    first = ["yield"] * 6 + ["keep"] * 4
    second = ["yield"] * 4 + ["keep"] * 2 + ["yield"] + ["keep"] * 3
    found = agreement(reviewed(tmp_path, echo(10), r1=first, r2=second), echo(10))
    assert [(a.metric, a.part) for a in found] == [("kappa_free", "all"), ("kappa_cohen", "all")]
    cohen = pick(found, "kappa_cohen")
    assert cohen.value == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    free = pick(found, "kappa_free")
    assert free.value == pytest.approx((0.7 - 1 / 3) / (1 - 1 / 3))
    for one in (cohen, free):
        assert one.value is not None
        assert one.interval is not None
        assert one.interval.low is not None
        assert one.interval.high is not None
        assert one.interval.low < one.value < one.interval.high
        assert one.interval.clusters == 10


def test_three_reviewers_by_hand(tmp_path: Path) -> None:
    # Agreement per item: 1, 1/3, 1/3, and of two answers 1; P_o = 2/3 over three categories.
    samples = echo(4)
    found = agreement(
        reviewed(
            tmp_path, samples,
            r1=["yield", "yield", "keep", "reject"],
            r2=["yield", "keep", "keep", "reject"],
            r3=["yield", "keep", "yield", None],
        ),
        samples,
    )  # fmt: skip
    assert pick(found, "kappa_free").value == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    assert [a.reviewers for a in found if a.metric == "kappa_cohen"] == [
        ("r1", "r2"), ("r1", "r3"), ("r2", "r3"),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_cohen_against_scikit_learn(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = codett([str(x) for x in rng.choice(LABELS, 60)])
    said: dict[str, list[str]] = {"r1": [], "r2": []}
    for sample in samples.values():
        for answers in said.values():
            own = [*OF_STATE[str(sample.observation.state)], "reject", "unsure"]
            answers.append(
                str(sample.target["label"]) if rng.random() < 0.6 else str(rng.choice(own))
            )
    found = agreement(reviewed(tmp_path, samples, **said), samples)
    for part in ("all", SPEAKING, IDLE):
        rows = [
            (a, b)
            for s, a, b in zip(samples.values(), said["r1"], said["r2"], strict=True)
            if part in ("all", s.observation.state) and "unsure" not in (a, b)
        ]
        cohen = pick(found, "kappa_cohen", part)
        assert cohen.items == len(rows)
        assert cohen.value == pytest.approx(cohen_kappa_score(*zip(*rows, strict=True)))
        free = pick(found, "kappa_free", part)
        share = float(np.mean([a == b for a, b in rows]))
        assert free.value == pytest.approx((share - 1 / 8) / (1 - 1 / 8))


def test_undefined_values_have_a_reason(tmp_path: Path) -> None:
    samples = echo(3)
    nobody = agreement(reviewed(tmp_path / "0", samples), samples)
    assert [(a.value, a.reason) for a in nobody] == [(None, "no item has answers of two reviewers")]
    one = agreement(reviewed(tmp_path / "1", samples, r1=["keep", None, None]), samples)
    assert [a.value for a in one] == [None]
    apart = reviewed(tmp_path / "2", samples, r1=["keep", None, None], r2=[None, "keep", None])
    assert pick(agreement(apart, samples), "kappa_cohen").reason == "no item has answers of both"
    unsure = reviewed(tmp_path / "3", samples, r1=["unsure"] * 3, r2=["keep"] * 3)
    assert {a.value for a in agreement(unsure, samples)} == {None}
    same = agreement(reviewed(tmp_path / "4", samples, r1=["keep"] * 3, r2=["keep"] * 3), samples)
    cohen = pick(same, "kappa_cohen")
    assert cohen.value is None
    assert cohen.reason == "both sides use one and the same label only"
    assert pick(same, "kappa_free").value == 1.0


def test_states_with_different_numbers_of_labels(tmp_path: Path) -> None:
    mixed = {**codett([LABELS[0]]), "e": echo(1)["s0"]}
    mixed["e"] = Sample(
        id="e", cluster="e", observation=mixed["e"].observation, target={"action": "keep"}
    )
    review = reviewed(tmp_path, mixed, r1=[LABELS[0], "keep"], r2=[LABELS[0], "keep"])
    free = pick(agreement(review, mixed), "kappa_free")
    assert free.value is None
    assert free.reason == "items allow 3 or 8 categories"


def test_export_is_what_construction_reads(tmp_path: Path) -> None:
    samples = echo(6)  # gold: yield, keep, yield, keep, yield, keep
    review = reviewed(
        tmp_path / "review", samples,
        r1=["yield", "keep", "keep", "reject", "yield", "keep"],
        r2=["yield", "yield", "keep", "reject", "keep", None],
    )  # fmt: skip
    review.decide("r3", "s1", "keep")
    made = export(review, samples, tmp_path / "out" / "verdicts.jsonl")
    assert (made.accepted, made.rejected, made.open) == (2, 2, 2)
    assert read_verdicts(made.verdicts) == {
        "s0": "accept", "s1": "accept", "s2": "reject", "s3": "reject",
    }  # fmt: skip
    lines = [json.loads(line) for line in made.verdicts.read_text().splitlines()]
    assert lines[0] == {
        "id": "s0", "verdict": "accept", "gold": "yield", "final": "yield",
        "labels": {"r1": "yield", "r2": "yield"}, "adjudicated": None,
    }  # fmt: skip
    assert (lines[1]["adjudicated"]["label"], lines[1]["adjudicated"]["by"]) == ("keep", "r3")
    about = json.loads(made.agreement.read_text())
    assert about["reviewers"] == ["r1", "r2"]
    assert about["agreement"][0]["metric"] == "kappa_free"
    assert made.agreement.name == "verdicts.agreement.json"


def test_export_to_where_nothing_can_be_written(tmp_path: Path) -> None:
    review = reviewed(tmp_path / "review", echo(1))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EnvironmentProblem, match="FB402"):
        export(review, echo(1), tmp_path / "file" / "verdicts.jsonl")
