import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from floorbench.core.ports import DatasetSource
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.codett_labels import INTENTS
from floorbench.datasets.open import open_dataset
from floorbench.errors import DataError, UsageError
from floorbench.web.review import ReviewRoom, planned
from floorbench.web.review_plan import Sampling, gold_label, possible_labels
from floorbench.web.review_store import Plan
from floorbench.web.serving import Serving
from floorbench.web.sound import HEADER, WaveCache
from support import codett_tiny, echo_tiny
from support.listening_wire import TOKEN, Page


@pytest.fixture
def source(tmp_path: Path) -> CodettSource:
    return CodettSource(codett_tiny.build(tmp_path / "data", languages=("EN",), history=1))


def room(tmp_path: Path, source: DatasetSource, **more: Any) -> ReviewRoom:
    waves = WaveCache(tmp_path / "waves")
    return ReviewRoom(source, tmp_path / "review", token=TOKEN, waves=waves, **more)


@pytest.fixture
def served(tmp_path: Path, source: CodettSource) -> Iterator[tuple[Page, ReviewRoom]]:
    made = room(tmp_path, source)
    with Serving(made.app()) as serving:
        yield Page(serving.port), made


def test_the_page_and_its_files_are_behind_the_token(served: tuple[Page, ReviewRoom]) -> None:
    page, _ = served
    status, body = page.ask("/")
    assert status == 200
    assert b"review.js" in body
    assert page.ask("/static/review-sound.js")[0] == 200
    for path in ("/", "/api/room", "/api/item?sample=0", "/audio?sample=0&part=target"):
        assert page.ask(path, cookie="")[0] == 403
    data = json.dumps({"id": "r1"}).encode()
    assert page.ask("/api/join", method="POST", body=data)[0] == 403


def test_nothing_that_a_reviewer_is_sent_tells_the_label(served: tuple[Page, ReviewRoom]) -> None:
    page, made = served
    assert page.ask("/api/room")[1] == {"name": "data", "items": 14}
    said = {"room": page.ask("/api/room")[1], "join": page.done("join", id="r1")}
    by_state: dict[str, set[str]] = {}
    for place, item in enumerate(made.review.plan.items):
        sample = made.samples[item]
        sent = page.ask(f"/api/item?sample={place}")[1]
        labels = json.dumps(sent.pop("labels"))
        by_state.setdefault(sent["state"], set()).add(labels)
        assert [one["label"] for one in json.loads(labels)] == list(possible_labels(sample))
        assert sent["text"] is None
        said[str(place)] = sent
        said[f"w{place}"] = page.ask(f"/api/wave?sample={place}&part=target")[1]
        answer = {"id": "r1", "sample": place, "label": possible_labels(sample)[0]}
        said[f"a{place}"] = page.done("answer", **answer).keys()
    assert all(len(kinds) == 1 for kinds in by_state.values())
    written = json.dumps({k: list(v) if not isinstance(v, dict) else v for k, v in said.items()})
    for item, sample in made.samples.items():
        for secret in (item, gold_label(sample), sample.target["scenario"], sample.cluster):
            assert str(secret) not in written
    agreed = json.dumps(page.ask("/api/agreement")[1])
    assert "accept" not in agreed
    assert "gold" not in agreed


def test_the_transcript_is_sent_only_where_there_is_nothing_to_hear(tmp_path: Path) -> None:
    line = codett_tiny.line(INTENTS[0], text="written words", audio=None)
    codett_tiny.write_lines(tmp_path / "data" / "jsonls" / "EN" / "syn" / "a.jsonl", [line])
    made = room(tmp_path, CodettSource(tmp_path / "data"))
    with Serving(made.app()) as serving:
        sent = Page(serving.port).ask("/api/item?sample=0")[1]
    assert (sent["text"], sent["target"], sent["roles"]) == ("written words", None, [])


def test_the_starter_set_can_be_heard(tmp_path: Path) -> None:
    made = room(tmp_path, open_dataset("starter:codett"), sampling=Sampling(share=0.1))
    with Serving(made.app()) as serving:
        page = Page(serving.port)
        sent = page.ask("/api/item?sample=0")[1]
        assert sent["target"]["seconds"] > 0
        assert len(page.ask("/audio?sample=0&part=target")[1]) > HEADER


def test_sound_of_every_part_and_no_other(served: tuple[Page, ReviewRoom]) -> None:
    page, _ = served
    for part in ("target", "turn-0"):
        status, wav = page.ask(f"/audio?sample=0&part={part}")
        assert status == 200
        assert len(wav) == HEADER + 2 * 3200
        assert page.ask(f"/audio?sample=0&part={part}", range="bytes=44-143")[0] == 206
    assert page.ask("/audio?sample=0&part=target", range="bytes=99999999-")[0] == 416
    assert page.ask("/audio?sample=0&part=../../x")[1]["code"] == "FB805"
    assert page.ask("/audio?sample=14&part=target")[1]["code"] == "FB805"
    assert page.ask("/api/wave?sample=-1&part=target")[1]["code"] == "FB805"


def test_a_sound_that_has_gone_is_said(tmp_path: Path, source: CodettSource) -> None:
    made = room(tmp_path, source)
    for path in (tmp_path / "data" / "audios").rglob("*.wav"):
        path.unlink()
    with Serving(made.app()) as serving:
        page = Page(serving.port)
        assert page.ask("/api/item?sample=0")[1]["target"]["problem"].startswith("FB3")
        assert page.done("answer", id="r1", sample=0, label="reject") == {"label": "reject"}
    assert not made.review.answers("r1")[made.review.plan.items[0]].heard


def test_the_gold_label_comes_with_the_decision_and_not_before(
    served: tuple[Page, ReviewRoom],
) -> None:
    page, made = served
    for place, item in enumerate(made.review.plan.items):
        labels = possible_labels(made.samples[item])
        for name, label in (("r1", labels[0]), ("r2", labels[place == 2])):
            page.done("answer", id=name, sample=place, label=label, heard=True)
    (found,) = page.done("disputes", id="r3")["disputes"]
    assert found["place"] == 2
    assert (found["decided"], found["gold"]) == (None, None)
    sample = made.samples[made.review.plan.items[2]]
    assert page.post("decide", id="r3", sample=3, label="reject")[1]["code"] == "FB894"
    decided = page.done("decide", id="r3", sample=2, label="reject")
    assert (decided["decided"], decided["gold"]) == ("reject", gold_label(sample))
    assert page.done("disputes", id="r3")["disputes"] == [decided]
    assert page.post("answer", id="r1", sample=2, label="reject")[1]["code"] == "FB894"
    assert page.ask("/api/agreement")[1]["undecided"] == 0


def test_what_is_refused(served: tuple[Page, ReviewRoom]) -> None:
    page, made = served
    other = next(
        name for name in ("SystemIdle_Takeover_Completion", "SystemSpeaking_Maintain_SideTalk")
        if name not in possible_labels(made.samples[made.review.plan.items[0]])
    )  # fmt: skip
    for wrong, code in (
        ({"label": other}, "FB894"),
        ({"label": "<script>"}, "FB894"),
        ({"label": 3}, "FB805"),
        ({"label": "unsure", "sample": True}, "FB805"),
        ({"label": "unsure", "sample": -1}, "FB805"),
        ({"label": "unsure", "sample": 14}, "FB805"),
        ({"label": "unsure", "id": "Maria"}, "FB844"),
    ):
        asked = {"id": "r1", "sample": 0, **wrong}
        assert page.post("answer", **asked)[1]["code"] == code, wrong
    assert page.post("join")[1]["code"] == "FB805"
    assert page.ask("/api/join", method="POST", body=b"[]", x_floorbench="1")[1]["code"] == "FB805"
    assert made.review.reviewers() == ()


def test_matched_contrasts_have_two_channels_and_times(tmp_path: Path) -> None:
    echo_tiny.build(tmp_path / "echo", languages=("en",))
    made = room(tmp_path, open_dataset(tmp_path / "echo"))
    with Serving(made.app()) as serving:
        sent = Page(serving.port).ask("/api/item?sample=0")[1]
    assert sent["roles"] == ["user", "system"]
    assert {e["kind"] for e in sent["events"]} == {"insertion", "system"}
    assert [one["label"] for one in sent["labels"]] == ["yield", "keep"]


def test_a_review_is_gone_on_with_under_its_own_plan(tmp_path: Path, source: CodettSource) -> None:
    first = room(tmp_path, source, sampling=Sampling(share=0.5, seed=7))
    assert len(first.samples) == 7
    first.review.answer("r1", first.review.plan.items[0], "unsure", heard=True)
    again = room(tmp_path, source)
    assert again.review.plan == first.review.plan
    assert len(again.review.answers("r1")) == 1
    with pytest.raises(UsageError, match="FB892"):
        room(tmp_path, source, sampling=Sampling(share=0.5, seed=8))
    other = CodettSource(codett_tiny.build(tmp_path / "other", languages=("ZH",), history=0))
    with pytest.raises(UsageError, match="FB892"):
        room(tmp_path, other)


def test_items_of_a_plan_that_are_not_there(source: CodettSource) -> None:
    plan = Plan(name="x", data="d", sampling=Sampling(share=1.0), items=("nowhere",))
    with pytest.raises(UsageError, match="FB892"):
        planned(source, plan)


def test_data_without_labels_that_can_be_reviewed(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="FB891"):
        room(tmp_path, open_dataset("starter:trp"))
