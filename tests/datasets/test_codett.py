import json
from collections import Counter
from pathlib import Path

import pytest

from floorbench.core.vocab import Role
from floorbench.datasets.codett import CodettSource, from_path
from floorbench.datasets.codett_labels import BY_LABEL
from floorbench.datasets.manifest import Manifest, pcm_digests, write_manifest
from floorbench.errors import DataError
from support import codett_tiny as tiny

COMPLETION = BY_LABEL["SystemIdle_Takeover_Completion"]
INCOMPLETE = BY_LABEL["SystemIdle_Dismiss_Incomplete"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tiny.build(tmp_path / "set", history=2)


def one(root: Path, line: dict[str, object], file: str = "jsonls/EN/syn/x.jsonl") -> CodettSource:
    tiny.write_lines(root / file, [line])
    return CodettSource(root)


def test_reads_every_label_of_both_languages(root: Path) -> None:
    samples = list(CodettSource(root).samples())
    assert len(samples) == 28
    assert Counter(s.tags["language"] for s in samples) == {"en": 14, "zh": 14}
    assert Counter(s.tags["source"] for s in samples) == {"syn": 28}
    assert {s.target["label"] for s in samples} == set(BY_LABEL)
    assert all(s.observation.state == s.tags["state"] for s in samples)


def test_ids_are_file_and_line_and_stable(root: Path) -> None:
    ids = [s.id for s in CodettSource(root).samples()]
    assert ids[0] == "jsonls/EN/syn/SystemIdle_Dismiss_Dismissal.jsonl:1"
    assert ids == [s.id for s in CodettSource(root).samples()]


def test_a_given_id_is_kept_and_a_repeated_one_is_an_error(tmp_path: Path) -> None:
    item = tiny.line(COMPLETION, text="x", audio=None, id="a")
    assert [s.id for s in one(tmp_path, item).samples()] == ["a"]
    tiny.write_lines(tmp_path / "jsonls/EN/syn/y.jsonl", [item])
    with pytest.raises(DataError, match=r"FB203 jsonls/EN/syn/y\.jsonl:1: sample 'a'"):
        next(CodettSource(tmp_path).samples())


def test_empty_transcripts_stay_empty(root: Path) -> None:
    texts = {
        s.observation.text for s in CodettSource(root).samples()
        if s.target["scenario"] == "Invalidation"
    }  # fmt: skip
    assert texts == {""}


def test_audio_is_read_lazily(root: Path) -> None:
    sample = next(CodettSource(root).samples())
    assert sample.observation.channels[Role.USER].read().shape == (3200,)
    assert sample.observation.turns[0].audio is not None
    assert sample.observation.turns[1].audio is None


def test_reads_without_any_audio_file(tmp_path: Path) -> None:
    source = CodettSource(tiny.build(tmp_path, audio=False))
    samples = list(source.samples())
    assert len(samples) == 28
    with pytest.raises(DataError, match="FB301"):
        samples[0].observation.channels[Role.USER].read()
    with pytest.raises(DataError, match="FB216"):
        source.digest()


def test_a_history_turn_without_audio_is_kept_as_absent(tmp_path: Path) -> None:
    history = tiny.rounds(1, name="n", folder="f", audio=False)
    sample = next(
        one(tmp_path, tiny.line(COMPLETION, text="x", audio=None, history=history)).samples()
    )
    assert [(t.role, t.audio) for t in sample.observation.turns] == [
        (Role.USER, None),
        (Role.SYSTEM, None),
    ]
    assert sample.observation.channels == {}


@pytest.mark.parametrize("audio", ["../secret.wav", "/etc/secret.wav", "audios/../../secret.wav"])
def test_a_path_that_leaves_the_dataset_is_an_error(tmp_path: Path, audio: str) -> None:
    source = one(tmp_path / "set", tiny.line(COMPLETION, text="x", audio=audio))
    with pytest.raises(DataError, match=r"FB308 jsonls/EN/syn/x\.jsonl:1"):
        next(source.samples())


def test_a_broken_line_is_an_error_with_its_number(root: Path) -> None:
    file = root / "jsonls/ZH/syn/SystemIdle_Dismiss_SideTalk.jsonl"
    file.write_text(file.read_text() + "\n\n{broken\n")
    with pytest.raises(DataError, match=r"FB201 jsonls/ZH/syn/SystemIdle_Dismiss_SideTalk.jsonl:4"):
        list(CodettSource(root).samples())


def test_language_from_the_field_else_the_folder_else_an_error(tmp_path: Path) -> None:
    item = tiny.line(COMPLETION, text="x", audio=None, language="zh-CN")
    assert next(one(tmp_path / "a", item).samples()).observation.language == "zh"
    del item["language"]
    assert next(one(tmp_path / "b", item).samples()).observation.language == "en"
    with pytest.raises(DataError, match=r"FB215 x\.jsonl:1"):
        next(one(tmp_path / "c", item, "x.jsonl").samples())


def test_state_source_and_language_from_varying_folder_names() -> None:
    assert from_path("jsonls/EN/real/System_Idle/Dismiss/x.jsonl") == ("en", "real", "SystemIdle")
    assert from_path("jsonls/ZH/syn/SystemSpeaking_Stop_Listen.jsonl") == (
        "zh", "syn", "SystemSpeaking",
    )  # fmt: skip
    assert from_path("test_back2.jsonl") == (None, "unknown", None)
    assert from_path("SystemIdleNotes.jsonl").state is None


def test_cluster_is_the_dialogue_field_where_there_is_one(tmp_path: Path) -> None:
    source = CodettSource(tiny.build(tmp_path, dialogue=True, audio=False))
    samples = list(source.samples())
    assert {s.cluster for s in samples} == {"dialogue:EN-0", "dialogue:ZH-0"}
    assert {s.tags["cluster"] for s in samples} == {"dialogue"}


def test_cluster_is_the_history_or_else_the_sample(tmp_path: Path) -> None:
    shared = tiny.rounds(2, name="same", folder="f")
    tiny.write_lines(
        tmp_path / "jsonls/EN/syn/x.jsonl",
        [
            tiny.line(COMPLETION, text="a", audio=None, history=shared),
            tiny.line(INCOMPLETE, text="b", audio=None, history=shared),
            tiny.line(INCOMPLETE, text="c", audio=None),
            tiny.line(INCOMPLETE, text="d", audio=None),
        ],
    )
    a, b, c, d = CodettSource(tmp_path).samples()
    assert a.cluster == b.cluster
    assert a.tags["cluster"] == "history"
    assert c.cluster != d.cluster
    assert c.tags["cluster"] == "sample (dialogue unknown)"


def test_every_cluster_has_one_stratum_the_joined_set(tmp_path: Path) -> None:
    shared = tiny.rounds(1, name="same", folder="f")
    for file, intent in (("EN/syn/a", COMPLETION), ("EN/real/b", INCOMPLETE)):
        tiny.write_lines(
            tmp_path / f"jsonls/{file}.jsonl",
            [tiny.line(intent, text="a", audio=None, history=shared)],
        )
    samples = list(CodettSource(tmp_path).samples())
    assert {s.stratum for s in samples} == {
        "en x SystemIdle_Dismiss_Incomplete x real + en x SystemIdle_Takeover_Completion x syn"
    }


def test_digest_covers_texts_and_decoded_audio(root: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    before = CodettSource(root, cache=cache).digest()
    assert CodettSource(root, cache=cache).digest() == before  # now from the cache
    clip = root / "audios/EN/syn/SystemIdle_Dismiss_Incomplete/uEN0.wav"
    tiny.tone(clip, hertz=999.0, seconds=0.25)
    changed = CodettSource(root, cache=cache).digest()
    assert changed != before
    file = root / "jsonls/EN/syn/SystemIdle_Dismiss_Incomplete.jsonl"
    file.write_text(file.read_text().replace("says this", "says that"))
    assert CodettSource(root, cache=cache).digest() not in (before, changed)


def test_a_manifest_makes_audio_unnecessary_and_changes_no_digest(root: Path) -> None:
    source = CodettSource(root, name="tiny", cache=root.parent / "cache")
    digest = source.digest()
    clips = [p.relative_to(root).as_posix() for p in (root / "audios").rglob("*.wav")]
    pcm = pcm_digests(root, clips, None, cache=root.parent / "cache")
    write_manifest(root, Manifest(name="tiny", licence="CC0", pcm=pcm))
    for clip in (root / "audios").rglob("*.wav"):
        clip.unlink()
    again = CodettSource(root, cache=root.parent / "other")
    assert again.digest() == digest
    assert (again.name, again.describe()["licence"]) == ("tiny", "CC0")


def test_root_is_found_from_any_level(root: Path, tmp_path: Path) -> None:
    nested = tmp_path / "release" / "Benchmark_Datasets"
    nested.parent.mkdir()
    root.rename(nested)
    assert len(list(CodettSource(nested.parent).samples())) == 28
    part = CodettSource(nested / "jsonls" / "ZH")
    samples = list(part.samples())
    assert len(samples) == 14
    assert samples[0].observation.channels[Role.USER].read().size
    assert (
        len(
            list(
                CodettSource(
                    nested / "jsonls/EN/syn/SystemIdle_Takeover_Completion.jsonl"
                ).samples()
            )
        )
        == 1
    )


def test_an_empty_folder_is_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="FB211"):
        CodettSource(tmp_path)


def test_locator_opens_the_same_data_again(root: Path) -> None:
    locator = dict(CodettSource(root, name="tiny").locator())
    assert locator.pop("reader") == "codett"
    assert json.dumps(locator)
    again = CodettSource(**locator)
    assert (again.name, again.describe()["samples"]) == ("tiny", 28)


def test_labelled_clips_are_sent_to_their_reader(tmp_path: Path) -> None:
    tiny.tone(tmp_path / "clips" / "complete_1.wav", hertz=300)
    with pytest.raises(DataError, match="FB211") as caught:
        CodettSource(tmp_path / "clips")
    assert "--reader clips" in str(caught.value.hint)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="FB211") as caught:
        CodettSource(tmp_path / "empty")
    assert "--reader clips" not in str(caught.value.hint)
