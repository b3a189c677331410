"""What reviews, listening tests and notes keep, and what their pages send."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from floorbench import codec
from floorbench.datasets.trp_lists import LISTS
from floorbench.web.listen_store import Session
from floorbench.web.notes import NOTES_FILE, Notes
from floorbench.web.review_plan import Sampling
from floorbench.web.review_store import Plan, Review
from torture.fuzz.files import file, rows, survives
from torture.fuzz.of_answers import seeds
from torture.fuzz.target import Target, finite, law

_PLAN = Plan(name="x", data="0" * 64, sampling=Sampling(share=1.0), items=("a", "b", "c"))


def _review_log(path: Path) -> None:
    folder = path.parents[2]
    (folder / "plan.json").write_text(codec.encode_pretty(_PLAN))
    found = Review.begin(folder, _PLAN)
    data = path.read_bytes()
    law(data == b"" or data.endswith(b"\n"), "a torn line is left")
    law(set(found.answers("r1")) <= set(_PLAN.items), "an item of nowhere")
    last = {json.loads(x)["item"]: json.loads(x)["label"] for x in data.split(b"\n")[:-1]}
    law({k: a.label for k, a in found.answers("r1").items()} == last, "not the last line counts")
    found.answer("r2", "a", "reject", heard=True)
    law("r2" in Review(folder).answers("r2") or Review(folder).answers("r2"), "an answer is lost")


def _review_plan(path: Path) -> None:
    survives(Review(path.parent).plan, Plan)


def _decisions(path: Path) -> None:
    (path.parent / "plan.json").write_text(codec.encode_pretty(_PLAN))
    found = Review.begin(path.parent, _PLAN)
    for verdict in found.verdicts().values():
        finite(verdict)


_SESSION = {"schema": 1, "stimuli": "x", "data": "0" * 64, "lists": "1" * 64, "seed": 1}
_LOG = (
    {"event": "joined", "id": "p1", "list": "A", "reversed": False, "mode": "key", "consent": "c",
     "at": "2026-01-01T00:00:00+00:00"},
    {"event": "calibration", "kind": "tap", "beats": [1.0, 2.0], "responses": [1.1, 2.1],
     "latency": 0.1, "spread": 0.01, "used": 2, "steady": True, "at": "x"},
    {"event": "key", "item": 0, "visit": 1, "time": 1.5, "at": "x"},
    {"event": "item", "item": 0, "stimulus": "t1", "visit": 1, "started": 0.5, "latency": 0.1,
     "rate": None, "frames": None, "facts": {"hidden": False}, "at": "x"},
    {"event": "visit", "number": 2, "at": "x"},
)  # fmt: skip


def _listening_log(path: Path) -> None:
    folder = path.parents[2]
    (folder / "session.json").write_text(json.dumps(_SESSION))
    session = Session.open(folder, stimuli="x", data="0" * 64, lists="1" * 64, seed=1)
    data = path.read_bytes()
    law(data == b"" or data.endswith(b"\n"), "a torn line is left")
    for person in session.people().values():
        finite(person)
    lines = [json.loads(x) for x in data.split(b"\n")[:-1]]
    kept = session.people().get("p1")
    keys = {(x["item"], x["visit"], x["time"]) for x in lines if x.get("event") == "key"}
    law(kept is None or len(kept.presses) == len(keys), "a press is lost")


def _listening_session(path: Path) -> None:
    (path.parent / "participants").mkdir()
    finite(Session(path.parent).record)


def _notes(path: Path) -> None:
    found = Notes(path.parent)
    before = dict(found.all())
    found.put("new", text="hello", tags="a b")
    law({k: v for k, v in Notes(path.parent).all().items() if k != "new"}
        == {k: v for k, v in before.items() if k != "new"}, "a note is lost")  # fmt: skip


def _posted(name: str) -> Callable[[bytes, Path], None]:
    def read(data: bytes, folder: Path) -> None:
        room = _room(folder)
        room.session.join("p1", lists=list(room._lists), mode="key", consent="c")
        before = len(room.session.person("p1").presses)
        from floorbench.web.posts import posted

        asked = codec.parse(data)
        made = posted(getattr(room, f"_{name}"))(None, asked)
        codec.encode(made)
        again = Session(folder / "session")
        law(again.people().keys() == room.session.people().keys(), "the journal tells of others")
        if name == "key":
            law(len(again.person("p1").presses) - before <= 1, "more than one press")

    return read


@cache
def _listening_set() -> Path:
    import tempfile

    import soundfile

    from floorbench.build.stimuli_lists import make_lists

    root = Path(tempfile.mkdtemp(prefix="torture-set-"))
    (root / "audio").mkdir()
    words = [{"text": "well", "start": 0.1, "end": 0.4}]
    (root / "stimuli.jsonl").write_bytes(
        rows({"id": "t1", "list": "A", "words": words, "turn_end": 0.5})
    )
    soundfile.write(root / "audio" / "t1.wav", 0.1 * np.sin(np.arange(8000) / 10), 16_000)
    make_lists(root, count=1, seed=5, gap=1.0)
    law((root / LISTS).is_file(), "no lists")
    return root


def _room(folder: Path) -> Any:
    from floorbench.web.listen import ListeningRoom

    return ListeningRoom(_listening_set(), folder / "session", mode="key", seed=1)


def _sound_part(data: bytes, folder: Path) -> None:
    """A block of sound with any number in front: kept once, in order, or refused."""
    (folder / "session.json").write_text(json.dumps(_SESSION))
    session = Session.open(folder, stimuli="x", data="0" * 64, lists="1" * 64, seed=1)
    session.join("p1", lists=[("A", False)], mode="voice", consent="c")
    session.append_sound("p1", "turn-0000", first=0, pcm=b"\1\0\2\0\3\0")
    first = int.from_bytes(data[:1], "little")
    pcm = data[1 : 1 + len(data[1:]) // 2 * 2]
    kept = session.append_sound("p1", "turn-0000", first=first, pcm=pcm)
    held = session.sound("p1", "turn-0000")
    law(len(held) == 2 * kept, f"{len(held)} bytes kept, {kept} frames said")
    law(held.startswith(b"\1\0\2\0\3\0"), "what was kept has changed")


TARGETS = [
    *(
        Target(
            name=f"request-listening-{name}",
            seeds=seeds(asked),
            read=_posted(name),
            covers=(f"floorbench.web.listen:ListeningRoom._{name}", "floorbench.web.posts:number",
                    "floorbench.web.guard:json_handler"),
            tokens=(b'"id"', b'"p1"', b'"item"'),
            share=0.2,
        )
        for name, asked in (
            ("join", {"id": "p2", "agreed": True}),
            ("device", {"id": "p1", "facts": {"rate": 48000}}),
            ("latency", {"id": "p1", "kind": "tap", "beats": [1.0, 2.0, 3.0], "taps": [1.1, 2.1, 3.1]}),
            ("key", {"id": "p1", "item": 0, "visit": 1, "time": 1.5}),
            ("item", {"id": "p1", "item": 0, "visit": 1, "started": 0.5, "facts": {}}),
        )
    ),
    Target(
        name="request-listening-sound",
        seeds=lambda: [b"\x03\1\0\2\0", b"\x00\1\0\2\0\3\0\4\0"],
        read=_sound_part,
        covers=("floorbench.web.listen_store:Session.append_sound",),
        share=0.3,
    ),
    Target(
        name="web-review-log",
        seeds=lambda: [rows(*({"item": i, "label": "reject", "heard": True, "at": "x"} for i in "abca"))],
        read=file("reviewers/r1/log.jsonl", _review_log),
        covers=("floorbench.web.review_store:Review._read", "floorbench.web.journal:plain_lines"),
        share=0.5,
    ),
    Target(
        name="web-review-plan",
        seeds=seeds(json.loads(codec.encode(_PLAN))),
        read=file("plan.json", _review_plan),
        covers=("floorbench.web.review_store:Review.__init__",),
    ),
    Target(
        name="web-review-decisions",
        seeds=lambda: [rows({"item": "a", "label": "x", "by": "r3", "after_gold": False, "at": "x"})],
        read=file("adjudication.jsonl", _decisions),
        covers=("floorbench.web.review_store:Review._read",),
        share=0.5,
    ),
    Target(
        name="web-listening-log",
        seeds=lambda: [rows(*_LOG)],
        read=file("participants/p1/log.jsonl", _listening_log),
        covers=("floorbench.web.listen_person:_events", "floorbench.web.listen_person:read_person"),
        tokens=(b'"event"', b'"joined"', b'"key"', b'"finished"'),
        share=0.5,
    ),
    Target(
        name="web-listening-session",
        seeds=seeds(_SESSION),
        read=file("session.json", _listening_session),
        covers=("floorbench.web.listen_store:Session.__init__",),
    ),
    Target(
        name="web-notes",
        seeds=seeds({"schema": 1, "notes": {"a": {"text": "x", "tags": ["t"], "changed": "x"}}}),
        read=file(NOTES_FILE, _notes),
        covers=("floorbench.web.notes:Notes._read",),
        share=0.3,
    ),
]  # fmt: skip
