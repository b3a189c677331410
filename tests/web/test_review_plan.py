from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from floorbench.core.sample import Observation, Sample
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.codett_labels import BY_LABEL, LABELS
from floorbench.datasets.open import open_dataset
from floorbench.errors import DataError, UsageError
from floorbench.web.review_plan import Sampling, draw, gold_label, possible_labels
from support import codett_tiny, echo_tiny


@pytest.fixture
def samples(tmp_path: Path) -> list[Sample]:
    root = codett_tiny.build(tmp_path, per_scenario=5, history=0, audio=False)
    return list(CodettSource(root).samples())


def test_a_share_is_rounded_up(samples: list[Sample]) -> None:
    assert len(samples) == 140
    assert len(draw(samples, Sampling(share=0.01))) == 2
    assert len(draw(samples, Sampling(share=0.05))) == 7
    assert sorted(draw(samples, Sampling(share=1.0))) == sorted(s.id for s in samples)


def test_so_many_of_each_label_in_each_language(samples: list[Sample]) -> None:
    by_id = {s.id: s for s in samples}
    drawn = [by_id[i] for i in draw(samples, Sampling(per_scenario=2))]
    counts = Counter((gold_label(s), s.observation.language) for s in drawn)
    assert set(counts.values()) == {2}
    assert len(counts) == 28
    assert len(draw(samples, Sampling(per_scenario=9))) == 140


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_files(samples: list[Sample]) -> None:
    plan = Sampling(share=0.2, seed=3)
    assert draw(samples, plan) == draw(list(reversed(samples)), plan)
    assert draw(samples, plan) != draw(samples, Sampling(share=0.2, seed=4))
    larger = draw(samples, Sampling(share=0.4, seed=3))
    assert larger[:28] == draw(samples, plan)


def test_the_order_does_not_tell_the_label(samples: list[Sample]) -> None:
    by_id = {s.id: s for s in samples}
    labels = [gold_label(by_id[i]) for i in draw(samples, Sampling(per_scenario=5))]
    runs = sum(a != b for a, b in pairwise(labels))
    assert runs > 110  # sorted by label it would be 13


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"share": 0.1, "per_scenario": 1},
        {"share": 0.0},
        {"share": 1.01},
        {"share": float("nan")},
        {"per_scenario": 0},
        {"share": 1.0, "seed": -1},
    ],
)
def test_plans_out_of_range(given: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="FB891"):
        Sampling(**given)


def test_labels_possible_in_a_state(samples: list[Sample]) -> None:
    for sample in samples:
        labels = possible_labels(sample)
        assert gold_label(sample) in labels
        assert len(labels) == 7
        assert {BY_LABEL[name].state for name in labels} == {sample.observation.state}
    assert {name for s in samples for name in possible_labels(s)} == set(LABELS)


def test_matched_contrasts_are_kept_or_yielded(tmp_path: Path) -> None:
    echo_tiny.build(tmp_path / "echo", languages=("en",))
    for sample in open_dataset(tmp_path / "echo").samples():
        assert possible_labels(sample) == ("yield", "keep")
        assert gold_label(sample) == sample.target["action"]


def test_what_cannot_be_reviewed() -> None:
    with pytest.raises(DataError, match="FB891"):
        draw([], Sampling(share=1.0))
    bare = Sample(id="s", cluster="c", observation=Observation(language="en"), target={})
    with pytest.raises(DataError, match="FB891"):
        draw([bare], Sampling(share=1.0))
