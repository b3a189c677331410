from pathlib import Path

import pytest

from floorbench.audio.ref import FileAudio
from floorbench.datasets.manifest import (
    Manifest,
    fold,
    pcm_digests,
    read_manifest,
    write_manifest,
)
from floorbench.errors import DataError
from support import codett_tiny as tiny


def test_a_manifest_round_trips(tmp_path: Path) -> None:
    manifest = Manifest(name="m", licence="CC0", notices=("n",), pcm={"a.wav": "00"})
    assert read_manifest(tmp_path) is None
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest


def test_a_recipes_manifest_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(
        '{"name": "m", "notice": "n", "seed": 1,'
        ' "clips": {"x": {"audio": "a.opus", "pcm_sha256": "00", "voice": "v"}}}'
    )
    assert read_manifest(tmp_path) == Manifest(name="m", notices=("n",), pcm={"a.opus": "00"})


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"name": 1}', '{"name": "m", "clips": {"x": {}}}',
             '{"name": "m", "pcm": {"a": 1}}', '{"name": "m", "clips": []}'],
)  # fmt: skip
def test_a_broken_manifest_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(DataError, match="FB201"):
        read_manifest(tmp_path)


def test_listed_hashes_need_no_file_and_others_are_decoded(tmp_path: Path) -> None:
    tiny.tone(tmp_path / "b.wav", hertz=300)
    found = pcm_digests(
        tmp_path, ["b.wav", "a.wav"], Manifest(name="m", pcm={"a.wav": "00"}), cache=tmp_path / "c"
    )
    assert found == {"a.wav": "00", "b.wav": FileAudio(tmp_path / "b.wav").digest()}


def test_the_cache_is_used_until_the_file_changes(tmp_path: Path) -> None:
    clip, cache = tmp_path / "b.wav", tmp_path / "c"
    tiny.tone(clip, hertz=300)
    first = pcm_digests(tmp_path, ["b.wav"], None, cache=cache)
    (stored,) = (cache / "pcm").iterdir()
    stored.write_text(stored.read_text().replace(first["b.wav"], "remembered"))
    assert pcm_digests(tmp_path, ["b.wav"], None, cache=cache) == {"b.wav": "remembered"}
    tiny.tone(clip, hertz=400, seconds=0.3)
    assert pcm_digests(tmp_path, ["b.wav"], None, cache=cache) != first
    stored.write_text("not json")
    assert len(pcm_digests(tmp_path, ["b.wav"], None, cache=cache)["b.wav"]) == 64


def test_audio_that_is_nowhere_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"FB216 .*audio 'b\.wav'"):
        pcm_digests(tmp_path, ["b.wav"], None, cache=tmp_path / "c")


def test_fold_depends_on_the_order_of_texts_and_not_of_audio() -> None:
    assert fold([b"a", b"b"], {}) != fold([b"b", b"a"], {})
    assert fold([], {"a": "1", "b": "2"}) == fold([], {"b": "2", "a": "1"})
    assert fold([], {"a": "1"}) != fold([], {"a": "2"})
