"""What names the files of a dataset: manifests, the cache of their hashes, splits."""

from __future__ import annotations

from pathlib import Path

from floorbench import codec
from floorbench.audio.ref import FileAudio
from floorbench.datasets.manifest import MANIFEST, Manifest, pcm_digests, read_manifest
from floorbench.datasets.two_channel_splits import SPLITS, Splits
from torture.fuzz.files import file, survives
from torture.fuzz.of_answers import seeds
from torture.fuzz.of_audio import wav
from torture.fuzz.target import Target, law


def _manifest(path: Path) -> None:
    found = read_manifest(path.parent)
    law(found is not None, "a manifest that is there is not seen")
    survives(found, Manifest)


def _pcm_cache(path: Path) -> None:
    """Whatever the cache of hashes holds, the hash of a file that is there is its own."""
    root = path.parent / "data"
    root.mkdir()
    (root / "a.wav").write_bytes(wav())
    import hashlib

    key = hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:24]
    cache_ = path.parent / "c"
    (cache_ / "pcm").mkdir(parents=True)
    path.replace(cache_ / "pcm" / f"{key}.json")
    found = pcm_digests(root, ["a.wav"], None, cache=cache_)
    law(found == {"a.wav": FileAudio(root / "a.wav").digest()}, "a hash out of a damaged cache")


def _splits(path: Path) -> None:
    found = Splits.read(path)
    law(set(found.by_id.values()) <= set(SPLITS), "another split")
    plain = codec.parse(path.read_bytes())
    named = [i for ids in plain.values() if isinstance(ids, list) for i in ids]
    law(sorted(named) == sorted(found.by_id), "an id is lost or made up")


TARGETS = [
    Target(
        name="data-manifest",
        seeds=seeds({"name": "x", "version": "1", "licence": "CC0-1.0", "notice": "mind", "ranks": False,
                     "pcm": {"a.wav": "0" * 64}, "clips": {"c": {"audio": "b.wav",
                                                                 "pcm_sha256": "1" * 64}}}),
        read=file(MANIFEST, _manifest),
        covers=("floorbench.datasets.manifest:read_manifest",),
    ),
    Target(
        name="data-pcm-cache",
        seeds=seeds({"a.wav": [3244, 1, "0" * 64]}, {}),
        read=file("cache.json", _pcm_cache),
        covers=("floorbench.datasets.manifest:_Store.__init__",
                "floorbench.datasets.manifest:_Store.digest"),
        share=0.5,
    ),
    Target(
        name="data-splits",
        seeds=seeds({"train": ["a", "b"], "val": ["c"], "test": ["d"], "source": "theirs"}),
        read=file("splits.json", _splits),
        covers=("floorbench.datasets.two_channel_splits:Splits.read",),
        tokens=(b'"train"', b'"dev"', b'"Test"'),
    ),
]  # fmt: skip
