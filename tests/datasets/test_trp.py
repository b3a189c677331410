"""Samples of a within-turn TRP set: prefixes, clusters, digest, splits."""

from __future__ import annotations

import json

import pytest

from floorbench.core.time import Span
from floorbench.datasets.open import open_dataset
from floorbench.datasets.trp import TrpSource
from floorbench.errors import DataError
from support import trp_tiny


@pytest.fixture
def source(tmp_path):
    return TrpSource(trp_tiny.build(tmp_path))


def test_every_prefix_is_a_sample_shortest_first(source):
    samples = list(source.samples())
    assert len(samples) == 13
    assert [s.id for s in samples[:6]] == [
        "one#001", "one#002", "one#003", "one#004", "one#005", "two#001",
    ]  # fmt: skip
    assert samples[2].observation.text == "w0 w1 w2"
    assert [w.span for w in samples[1].observation.words] == [Span(0.0, 0.4), Span(0.4, 0.8)]
    assert samples[2].observation.cutoff == 1.2


def test_the_cluster_is_the_conversation_where_it_is_known(source):
    assert {s.cluster for s in source.samples()} == {
        "conversation:c1", "stimulus:two", "stimulus:three",
    }  # fmt: skip


def test_a_system_sees_no_punctuation(tmp_path):
    turn = trp_tiny.stimulus("one", 3)
    turn["words"][1]["mark"] = "."
    source = TrpSource(trp_tiny.write(tmp_path, [turn]))
    last = list(source.samples())[-1]
    assert last.observation.text == "w0 w1 w2"
    assert last.target["turn"]["marks"] == ["", ".", ""]


def test_a_split_is_a_part(tmp_path):
    folder = trp_tiny.build(tmp_path)
    dev, test = TrpSource(folder, split="dev"), TrpSource(folder, split="test")
    assert [s.id for s in dev.stimuli] == ["one", "two"]
    assert dev.digest() != test.digest() != TrpSource(folder).digest()
    assert dev.describe()["listeners"] == 4
    with pytest.raises(DataError, match="splits: dev, test"):
        TrpSource(folder, split="train")


def test_it_opens_again_from_its_locator(tmp_path):
    source = TrpSource(trp_tiny.build(tmp_path), split="dev")
    again = open_dataset(source.locator())
    assert again.digest() == source.digest()
    assert open_dataset(tmp_path).name == tmp_path.name


def test_the_digest_is_of_the_content(tmp_path):
    first = TrpSource(trp_tiny.build(tmp_path / "a")).digest()
    other = trp_tiny.build(tmp_path / "b")
    for name in ("stimuli.jsonl", "responses.jsonl"):
        lines = (other / name).read_text().splitlines()
        respaced = [
            json.dumps(json.loads(x), indent=None, separators=(" , ", " : ")) for x in lines
        ]
        (other / name).write_text("\n\n".join(respaced))
    assert TrpSource(other).digest() == first
    changed = (other / "responses.jsonl").read_text().replace("0.7", "0.71")
    (other / "responses.jsonl").write_text(changed)
    assert TrpSource(other).digest() != first


def test_what_it_says_of_itself(source):
    found = source.describe()
    assert (found["samples"], found["stimuli"], found["lists"]) == (13, 3, ["A", "B"])
    assert (found["listeners"], found["responses"]) == (7, 12)


def test_no_stimuli_here(tmp_path):
    with pytest.raises(DataError, match="FB211"):
        TrpSource(tmp_path)


def test_the_starter_set_says_that_it_is_synthetic():
    starter = open_dataset("starter:trp")
    assert "synthetic" in starter.name
    assert any("Synthetic" in notice for notice in starter.describe()["notices"])
    assert open_dataset(starter.locator()).digest() == starter.digest()
    dev = open_dataset("starter:trp", split="dev")
    assert open_dataset(dev.locator()).digest() == dev.digest() != starter.digest()


def test_punctuation_inside_words_is_told(tmp_path):
    turn = trp_tiny.stimulus("one", 4)
    for number, text in enumerate(("well,", "o'clock", "mid.night", "so?")):
        turn["words"][number]["text"] = text
    (notice,) = TrpSource(trp_tiny.write(tmp_path, [turn])).describe()["notices"]
    assert notice.startswith("2 of 4 words end in a punctuation mark that systems see")
    assert len(open_dataset("starter:trp").describe()["notices"]) == 3
