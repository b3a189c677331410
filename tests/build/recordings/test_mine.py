import json
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from floorbench.build.pipeline.runner import Runner
from floorbench.build.pipeline.stage import Item, Rejected
from floorbench.build.recordings import mine
from floorbench.build.recordings.candidates import COMPLETION, INTERRUPTION, MiningRules, candidates
from floorbench.build.recordings.mine import (
    Mine,
    Reviewed,
    read_verdicts,
    sessions_of,
    stamp,
)
from floorbench.errors import DataError, UsageError
from support import two_channel_tiny
from support.bench import FakeBench

RATE = 8_000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")
    two_channel_tiny.build(folder, ("sw9001", "sw9002"))
    noise = np.random.default_rng(1).uniform(-0.1, 0.1, (RATE * 60, 2))
    soundfile.write(folder / "sw9001.wav", noise, RATE)
    return folder


def mined(corpus, name, **more):
    bench = FakeBench(seed=2)
    stage = Mine(path=corpus, reader=None, rules=MiningRules(), **more)
    stage.start()
    return stage.make(Item(id=name, fields={"session": name}), bench), bench


def test_candidates_have_audio_history_and_where_they_came_from(corpus):
    outcome, bench = mined(corpus, "sw9001")
    assert {i.fields["scenario"] for i in outcome.items} >= {"Completion", "Incomplete"}
    assert len({i.id for i in outcome.items}) == len(outcome.items)
    for item in outcome.items:
        assert item.fields["origin"] == "real"
        assert item.fields["scenario"] not in item.id
        where = item.fields["mined"]
        samples, rate = bench.load(item.audio["target"])
        assert rate == RATE
        assert len(samples) / rate == pytest.approx(where["end_s"] - where["start_s"], abs=0.001)
        for turn in range(1, len(item.fields["history"]) + 1):
            assert f"history-{turn}-user" in item.audio
    assert [kind for kind, _ in bench.notes] == ["recording"]


def test_one_span_may_be_proposed_for_a_label_of_either_state(corpus, monkeypatch):
    both = (COMPLETION, INTERRUPTION)

    def twice(session, rules):
        found = next(c for c in candidates(session, rules) if c.intent is COMPLETION)
        return [replace(found, intent=intent) for intent in both]

    monkeypatch.setattr(mine, "candidates", twice)
    outcome, _ = mined(corpus, "sw9001")
    assert [i.fields["scenario"] for i in outcome.items] == ["Completion", "Interruption"]
    assert len({i.id for i in outcome.items}) == 2


def test_at_most_so_many_of_a_label_are_drawn(corpus):
    outcome, _ = mined(corpus, "sw9001", most=1)
    labels = [i.fields["scenario"] for i in outcome.items]
    assert len(labels) == len(set(labels))


def test_a_session_without_audio_gives_none(corpus):
    outcome, _ = mined(corpus, "sw9002")
    assert isinstance(outcome, Rejected)
    assert outcome.reason == "no-audio"


def test_a_corpus_counts_by_what_is_in_it_not_by_its_place(tmp_path):
    for name in ("one", "two"):
        two_channel_tiny.build(tmp_path / name, ("sw9001",))
        (tmp_path / name / "long.bin").write_bytes(bytes(3 << 20))
    first = stamp(tmp_path / "one")
    assert stamp(tmp_path / "two") == first
    sample = tmp_path / "one" / "sw9001A-ms98-a-word.text"
    sample.write_bytes(sample.read_bytes().replace(b"home", b"hone", 1))
    (tmp_path / "two" / "sw9001.wav").symlink_to(tmp_path / "nowhere")
    changed = {first, stamp(tmp_path / "one"), stamp(tmp_path / "two")}
    (tmp_path / "two" / "sw9001.wav").unlink()
    (tmp_path / "two" / "long.bin").write_bytes(bytes((3 << 20) - 1) + b"x")
    assert len(changed | {stamp(tmp_path / "two")}) == 4


def test_a_session_whose_audio_came_later_is_mined_again(tmp_path):
    two_channel_tiny.build(tmp_path / "calls", ("sw9001",))

    def key():
        stage = Mine(path=tmp_path / "calls", reader=None, rules=MiningRules())
        return Runner((stage,), cache=tmp_path / "c", seed=0).key(stage, {}, 0)

    before = key()
    soundfile.write(tmp_path / "calls" / "sw9001.wav", np.zeros((RATE, 2)), RATE)
    assert key() != before


def test_another_kind_of_dataset_is_refused():
    with pytest.raises(UsageError, match="FB886"):
        sessions_of("starter:codett")


def test_only_accepted_candidates_and_synthetic_items_pass(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    rows = [{"id": "a", "verdict": "accept"}, {"id": "b", "verdict": "reject"}]
    rows.append({"id": "t", "verdict": "reject"})
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    items = [Item(id=i, fields={"origin": "real"}) for i in "abc"]
    items += [Item(id=i, fields={"origin": "syn"}) for i in "st"]
    out = Reviewed(verdicts=path).gather(items)
    assert [i.id for i in out.items] == ["a", "s"]
    assert {k: r.reason for k, r in out.rejected.items()} == {
        "b": "review",
        "c": "unreviewed",
        "t": "review",
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{"id": "a"}', 1),
        ('\n{"id": "a", "verdict": "maybe"}', 2),
        ('{"id": "a", "verdict": "accept"}\n{"id": "a", "verdict": "reject"}', 2),
        ("[]", 1),
        ('{"id": "a", "verdict": "reject", "verdict": "accept"}', 1),
    ],
)
def test_a_broken_verdict_names_its_line(tmp_path, text, line):
    path = tmp_path / "v.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match="FB887") as caught:
        read_verdicts(path)
    assert caught.value.where.line == line


def test_a_missing_file_of_verdicts_is_an_error(tmp_path):
    with pytest.raises(DataError, match="FB887"):
        read_verdicts(tmp_path / "none.jsonl")
