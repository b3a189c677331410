"""The audit fires on planted shortcuts and on nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from floorbench.datasets.echo import EchoSource
from floorbench.datasets.open import open_dataset
from floorbench.errors import DataError, UsageError
from floorbench.run.shortcuts import audit, cross_validated, folds_of, text_features
from support import echo_tiny

DRAWS = 60


def findings(folder: Path, **kw: str) -> dict[str, bool]:
    source = EchoSource(folder, check=False)
    return {f.probe: f.shortcut for f in audit(source, draws=DRAWS, **kw)}  # type: ignore[arg-type]


def build(folder: Path, **kw: object) -> Path:
    return echo_tiny.build(folder, copies=6, languages=("zh",), **kw)  # type: ignore[arg-type]


def test_a_loudness_shortcut_is_found(tmp_path: Path) -> None:
    found = findings(build(tmp_path / "set", level={"interruption": 0.35}))
    assert found["loudness and duration"]
    assert not found["text"]


def test_a_lexical_shortcut_is_found(tmp_path: Path) -> None:
    folder = build(tmp_path / "set")
    lines = []
    for line in (folder / "samples.jsonl").read_text().splitlines():
        row = json.loads(line)
        row["insertion"] += " stop" if row["role"] == "interruption" else " yeah"
        lines.append(json.dumps(row))
    (folder / "samples.jsonl").write_text("\n".join(lines) + "\n")
    assert findings(folder)["text"]


def test_a_faded_assistant_is_found_on_the_channels(tmp_path: Path) -> None:
    folder = build(tmp_path / "set")
    assert findings(folder, version="listening")["channels"]


def test_the_starter_set_shows_systems_no_shortcut() -> None:
    source = open_dataset("starter:echo")
    assert isinstance(source, EchoSource)
    found = audit(source, draws=200)
    assert len(found) == 6
    for f in found:
        assert f.pair_interval[0] <= 0.5 <= f.pair_interval[1], f
        assert f.sample_interval[0] <= 0.5 <= f.sample_interval[1], f
        assert "no shortcut found" in f.sentence


def test_the_listening_version_of_the_starter_set_is_a_positive_control() -> None:
    source = open_dataset("starter:echo")
    assert isinstance(source, EchoSource)
    found = {(f.language, f.probe): f for f in audit(source, version="listening", draws=40)}
    for language in ("en", "zh"):
        assert found[language, "loudness and duration"].shortcut
        assert found[language, "channels"].shortcut
        assert "a shortcut exists" in found[language, "channels"].sentence
        assert not found[language, "text"].shortcut


def test_equal_texts_cannot_be_told_apart(tmp_path: Path) -> None:
    source = EchoSource(build(tmp_path / "set"))
    text = next(f for f in audit(source, draws=DRAWS) if f.probe == "text")
    assert text.pair == 0.5
    assert text.pair_interval == (0.5, 0.5)


def test_a_set_without_contrasts_and_bad_versions_are_refused(tmp_path: Path) -> None:
    samples = [s for s in echo_tiny.rows(languages=("zh",)) if "-bo-" in s["sample_id"]]
    source = EchoSource(echo_tiny.write(tmp_path, samples, echo_tiny.pairs(samples)))
    with pytest.raises(DataError, match="FB266"):
        audit(source)
    with pytest.raises(UsageError, match="FB103"):
        audit(source, version="loud")


def test_folds_hold_whole_groups_and_scores_are_held_out() -> None:
    fold = folds_of([f"g{i}" for i in range(25)])
    assert sorted(np.bincount(fold)) == [2] * 5 + [3] * 5
    random = np.random.default_rng(0)
    target = np.arange(50) % 2 == 0
    told = np.where(target, 1.0, -1.0)[:, None] + 0.1 * random.standard_normal((50, 3))
    score = cross_validated(told, target, np.arange(50) % 10)
    assert score[target].min() > score[~target].max()


def test_text_features_count_characters_pairs_and_length() -> None:
    found = text_features(["ab", "b"])
    assert found.tolist() == [[1, 1, 1, 2], [0, 0, 1, 1]]  # a, ab, b, length


@pytest.mark.parametrize("draws", [-1, 0, 1])
def test_too_few_draws_for_an_interval_are_refused(draws: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="FB103"):
        audit(EchoSource(echo_tiny.build(tmp_path / "set")), draws=draws)
