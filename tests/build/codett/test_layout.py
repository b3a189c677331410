import json

from floorbench.build.codett import layout
from floorbench.build.pipeline.stage import Item
from floorbench.datasets.codett_labels import INTENTS


class Written:
    """An export in memory."""

    def __init__(self):
        self.files = {}

    def text(self, path, content):
        self.files[path] = content

    def lines(self, path, rows):
        self.files[path] = [json.loads(json.dumps(row)) for row in rows]

    def sound(self, path, digest, *, rate=None):
        assert path not in self.files
        self.files[path] = digest


def item(n, intent, **more):
    fields = {
        "language": "en",
        "state": intent.state,
        "action": intent.action,
        "scenario": intent.scenario,
        "text": f"Words {n}.",
        "family": f"f{n // 2}",
        "history": [{"user": "Hello?", "assistant": "Hello."}],
        "split": "test",
        "measures": {"target": {"duration_s": 2.0}},
    }
    audio = {"target": f"t{n}", "history-1-user": f"h{n // 2}", "target-clean": f"c{n}"}
    return Item(id=f"en-{n:03}", fields={**fields, **more}, audio=audio)


def written(items):
    out = Written()
    layout.write(items, out, title="A set", provenance={"voices": "Kokoro"})
    return out.files


def test_every_item_is_one_line_in_the_file_of_its_label():
    files = written([item(n, intent) for n, intent in enumerate(INTENTS)])
    paths = [p for p in files if p.startswith("jsonls/")]
    assert len(paths) == 14
    (row,) = files["jsonls/EN/syn/SystemIdle/Dismiss/Exclusion.jsonl"]
    *_, target, gold = row["messages"]
    assert gold == {"role": "assistant", "content": "<|Dismiss|><|Exclusion|>"}
    assert "<|SystemIdle|>" in target["content"]
    assert files[target["audio"]].startswith("t")
    assert "Exclusion" not in target["audio"]


def test_a_shared_history_is_written_once_and_clean_speech_not_at_all():
    files = written([item(0, INTENTS[0]), item(1, INTENTS[0])])
    sounds = sorted(v for k, v in files.items() if k.startswith("audios/"))
    assert sounds == ["h0", "t0", "t1"]
    rows = files["jsonls/EN/syn/SystemSpeaking/Maintain/Backchannel.jsonl"]
    assert rows[0]["messages"][1]["audio"] == rows[1]["messages"][1]["audio"]


def test_a_history_turn_without_audio_stays_as_text():
    lone = item(0, INTENTS[0])
    bare = Item(id=lone.id, fields=lone.fields, audio={"target": "t"})
    (row,) = written([bare])["jsonls/EN/syn/SystemSpeaking/Maintain/Backchannel.jsonl"]
    assert "audio" not in row["messages"][1]


def test_statistics_stand_beside_the_published_counts():
    figures = layout.statistics(
        [
            item(0, INTENTS[0]),
            item(1, INTENTS[0], origin="real"),
            item(2, INTENTS[1], split="train"),
        ]
    )
    assert figures["items"] == 3
    assert figures["splits"] == {"test": 2, "train": 1}
    assert figures["target_seconds"] == {"en": 6.0}
    first = figures["labels"][0]
    assert (first["synthetic"], first["real"]) == (1, 1)
    assert sum(r["published_synthetic"] + r["published_real"] for r in figures["labels"]) == 9000


def test_the_card_says_what_is_in_it_and_names_leaks():
    clean = written([item(0, INTENTS[0])])["README.md"]
    assert "# A set" in clean
    assert "No dialogue, speaker or target sentence" in clean
    assert "- voices: Kokoro" in clean
    assert "Targets: en 0.0 min." in clean
    assert "It does not rank turn detectors" in clean
    real = written([item(0, INTENTS[0], origin="real")])["README.md"]
    assert "It does not rank turn detectors" not in real
    leaking = [item(0, INTENTS[0]), item(1, INTENTS[0], split="train")]
    assert "family f0 in test, train" in written(leaking)["README.md"]
