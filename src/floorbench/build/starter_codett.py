"""Build the CoDeTT starter set: original texts, synthetic voices, the released layout.

``python -m floorbench.build.starter_codett --out DIR [--cache DIR] [--workers N]`` reads
``DIR/texts``, renders what the cache lacks and writes audio, JSONL files, licences and manifest.
The set shows that the machine runs; it does not rank systems.

``--out DIR --verify`` builds nothing: it compares the set in ``DIR`` with the shipped one
(or ``--against REFERENCE``) and prints differences, limits and this machine's arithmetic as JSON;
it exits 1 when a clip lies beyond a limit (:mod:`floorbench.build.starter_compare`).

Deviations from the published benchmark: texts are written by hand; two target turns share one
history (the ``dialogue`` is the resampling cluster); the voice is Kokoro; non-speech items are
mechanical, electronic, impact, animal and body sounds under CC0, none of them a cough; history
turns carry the idle state in their wrapper; there is no transcription gate.
"""

from __future__ import annotations

import argparse
import io
import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache as kept
from functools import partial
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from floorbench.build import speech_assets, starter_compare
from floorbench.build.codett.layout import Exchange, messages_of
from floorbench.build.kokoro_voices import VOICES
from floorbench.build.starter_plan import (
    LEAD_S,
    RATE,
    TAIL_S,
    Clip,
    audio_path,
    clips_of,
    parameters,
)
from floorbench.build.starter_render import RECIPE, Renderer, Task, prepare
from floorbench.build.starter_texts import Dialogue, Item, read_texts
from floorbench.datasets.open import STARTER
from floorbench.datasets.starter_digest import pcm_sha256, starter_digest

VERSION = "1"
LANGUAGES = ("en", "zh")
BITRATE = 24_000
NOTICE = "This set shows that the machine runs; it does not rank systems."
TOOLS = (
    "onnxruntime",
    "phonemizer-fork",
    "espeakng-loader",
    "misaki",
    "jieba",
    "pypinyin",
    "cn2an",
    "soxr",
    "soundfile",
    "pyroomacoustics",
    "numpy",
)


@kept
def _renderer(assets: Path, cache: Path) -> Renderer:
    """Return the one renderer of a worker process."""
    return Renderer(assets=assets, cache=cache)


def _work(assets: Path, cache: Path, task: Task) -> dict[str, Any]:
    return _renderer(assets, cache).render(task)


def build(*, out: Path, cache: Path, workers: int = 2) -> str:
    """Build or complete the set in ``out`` and return its digest.

    Parameters
    ----------
    out : Path
        Root of the set; ``out/texts/en.json`` and ``zh.json`` must exist.
    cache : Path
        Folder for packages, spoken lines and masters; safe to delete, safe to keep.
    workers : int
        Processes, 1 or 2; each runs one inference thread.
    """
    dialogues = {
        language: read_texts(out / "texts" / f"{language}.json")
        for language in LANGUAGES
        if (out / "texts" / f"{language}.json").exists()
    }
    assets = speech_assets.assemble(cache)
    clips = [clip for language in dialogues for clip in clips_of(dialogues[language])]
    tasks = prepare(clips)
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(
        max_workers=min(max(workers, 1), 2),
        mp_context=get_context("spawn"),
    ) as pool:
        records = list(pool.map(partial(_work, assets, cache), tasks, chunksize=4))
    entries = {}
    for clip, record in zip(clips, records, strict=True):
        pcm = encode(cache / "masters" / f"{record['master']}.flac", out / clip.audio)
        entries[clip.id] = _entry(clip, record) | {"pcm_sha256": pcm}
    _remove_strangers(out, {clip.audio for clip in clips})
    for language in dialogues:
        write_jsonl(out, dialogues[language])
    write_licences(out, assets, clips)
    return write_manifest(out, dialogues, entries, assets)


def opus_level(bitrate: int) -> float:
    """Return libsndfile's compression level for an Opus bit rate in bits per second.

    libsndfile maps level 0 to 256 kbps and level 1 to 6 kbps per channel, linearly.

    Examples
    --------
    >>> opus_level(24_000)
    0.928
    """
    return round(1 - (bitrate / 1000 - 6) / 250, 6)


def encode(master: Path, target: Path) -> str:
    """Encode a master to Opus unless the file already decodes to the same samples."""
    import soundfile

    samples, _ = soundfile.read(master, dtype="int16")
    buffer = io.BytesIO()
    soundfile.write(
        buffer,
        samples,
        RATE,
        format="OGG",
        subtype="OPUS",
        compression_level=opus_level(BITRATE),
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}")
    temporary.write_bytes(buffer.getvalue())
    digest = pcm_sha256(temporary)
    if target.exists() and pcm_sha256(target) == digest:
        temporary.unlink()
    else:
        temporary.replace(target)
    return digest


def _remove_strangers(out: Path, wanted: set[str]) -> None:
    for path in sorted(out.glob("audios/**/*.opus")):
        if path.relative_to(out).as_posix() not in wanted:
            path.unlink()


def _entry(clip: Clip, record: dict[str, Any]) -> dict[str, Any]:
    recipe = {k: v for k, v in clip.recipe().items() if v is not None and k != "id"}
    if clip.cut_after is None:
        recipe.pop("source", None)
    if clip.babble_db is None:
        recipe.pop("babble_offset_s")
    if clip.noise is not None:
        recipe["noise_kind"] = speech_assets.NOISE_KINDS[clip.noise]
    return dict(sorted(({"audio": clip.audio} | recipe | record).items()))


def example(dialogue: Dialogue, item: Item) -> dict[str, Any]:
    """Return one line of the released layout, with the gold label as its last message."""
    messages = messages_of(
        language=dialogue.language,
        history=[
            Exchange(user, assistant, audio_path(dialogue.language, f"{dialogue.id}-h{turn}"))
            for turn, (user, assistant) in enumerate(dialogue.history, start=1)
        ],
        state=item.state,
        text=item.text,
        audio=audio_path(dialogue.language, item.id),
        answer=(item.action, item.scenario),
    )
    return {
        "messages": messages,
        "language": dialogue.language,
        "dialogue": dialogue.id,
        "id": item.id,
    }


def write_jsonl(out: Path, dialogues: Sequence[Dialogue]) -> None:
    """Write one JSONL file per state, action and scenario."""
    lines: dict[Path, list[str]] = defaultdict(list)
    for dialogue in dialogues:
        for item in dialogue.items:
            folder = out / "jsonls" / dialogue.language.upper() / "syn" / item.state / item.action
            text = json.dumps(example(dialogue, item), ensure_ascii=False)
            lines[folder / f"{item.scenario}.jsonl"].append(text)
    for path, rows in lines.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def write_licences(out: Path, assets: Path, clips: Iterable[Clip]) -> None:
    """Name the licence of texts and voices, and author and source of every recording."""
    credits = json.loads((assets / "noise" / "credits.json").read_text("utf-8"))
    used = sorted({f"{clip.noise}.flac" for clip in clips if clip.noise})
    rows = [
        f"| `{name}` | {speech_assets.NOISE_KINDS[name.removesuffix('.flac')]} "
        f"| {credits[name]['author'].replace('<', '(').replace('>', ')')} "
        f"| <{credits[name]['source']}> | {credits[name]['sha256']} |"
        for name in used
    ]
    text = f"""# Licences of the CoDeTT starter set

- Texts, JSONL files, manifest and the set as a whole: Apache-2.0, written for this project.
- Voices: all speech is synthetic, made with Kokoro-82M v1.0 (model and voices by hexgrad,
  Apache-2.0; ONNX export under the MIT licence). No recording of a real talker is included.
- Non-speech items: the recordings below, released under CC0 1.0, taken from the Debian package
  `sonic-pi-samples` ({speech_assets.NOISES.file}).
  They were mixed down to mono, resampled, trimmed, shortened and scaled. They are percussion,
  electronics, objects, one animal and one body sound; none is a cough, a sneeze or a laugh.

| file | what it is | author | source | SHA-256 of the original |
| --- | --- | --- | --- | --- |
{chr(10).join(rows)}
"""
    (out / "LICENSES.md").write_text(text, encoding="utf-8")


def write_manifest(
    out: Path,
    dialogues: dict[str, tuple[Dialogue, ...]],
    entries: dict[str, dict[str, Any]],
    assets: Path,
) -> str:
    """Write ``manifest.json`` and return the digest it records."""
    items = [i for d in dialogues.values() for dialogue in d for i in dialogue.items]
    labels = {i.id: {"state": i.state, "action": i.action, "scenario": i.scenario} for i in items}
    voices = sorted(
        {
            v
            for roles in VOICES.values()
            for pool in roles.values()
            for b in pool
            for v in b.split("+")
        }
    )
    counts = Counter((i.id[:2], i.state, i.action, i.scenario) for i in items)
    manifest = {
        "name": "codett-starter",
        "version": VERSION,
        "licence": "Apache-2.0",
        "notice": NOTICE,
        "ranks": False,
        "digest": None,
        "totals": {
            "items": len(items),
            "dialogues": sum(len(d) for d in dialogues.values()),
            "audio_files": len(entries),
            "audio_s": round(sum(e["duration_s"] for e in entries.values()), 2),
            "audio_bytes": sum((out / e["audio"]).stat().st_size for e in entries.values()),
            "per_label": {"/".join(k): v for k, v in sorted(counts.items())},
        },
        "parameters": parameters() | {"recipe": RECIPE, "bitrate": BITRATE},
        "tools": tool_versions(),
        "silence": {"lead_s": LEAD_S, "tail_s": TAIL_S},
        "voice_model": {
            "name": "Kokoro-82M v1.0, int8 ONNX",
            "sha256": speech_assets.MODEL_SHA256,
            "voices": {
                name: speech_assets.sha256_file(assets / "voices" / f"{name}.bin")
                for name in voices
            },
        },
        "clips": {name: entries[name] | labels.get(name, {}) for name in sorted(entries)},
    }
    path = out / "manifest.json"
    path.write_text(_dump(manifest), encoding="utf-8")
    manifest["digest"] = starter_digest(out)
    path.write_text(_dump(manifest), encoding="utf-8")
    return str(manifest["digest"])


def tool_versions() -> dict[str, str | None]:
    """Return the versions of the packages that shape the audio; ``None`` when not installed."""
    versions: dict[str, str | None] = {}
    for name in TOOLS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return versions


def _dump(manifest: dict[str, Any]) -> str:
    """Indent the manifest but keep each clip on a line of its own."""
    head = json.dumps(manifest | {"clips": 0}, ensure_ascii=False, indent=1)
    rows = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(clip, ensure_ascii=False)}"
        for name, clip in manifest["clips"].items()
    )
    return head.replace('"clips": 0', f'"clips": {{\n{rows}\n }}') + "\n"


def verify(rebuilt: Path, reference: Path) -> int:
    """Print how a rebuild differs from the reference as JSON; return 1 when it is beyond a limit.

    Raises
    ------
    DataError
        FB906 when the two sets do not hold the same clips.
    """
    found = starter_compare.compare_sets(rebuilt, reference)
    told = starter_compare.summary(found, rate=RATE)
    told["digest_equal"] = starter_digest(rebuilt) == starter_digest(reference)
    print(json.dumps(told, ensure_ascii=False, indent=1))
    return 1 if told["beyond"] else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the recipe from the command line."""
    parser = argparse.ArgumentParser(prog="python -m floorbench.build.starter_codett")
    parser.add_argument("--out", type=Path, required=True, help="root of the set")
    parser.add_argument("--cache", type=Path, default=Path("build-cache"), help="build cache")
    parser.add_argument("--workers", type=int, default=2, help="processes, 1 or 2")
    parser.add_argument("--verify", action="store_true", help="compare --out; build nothing")
    parser.add_argument("--against", type=Path, default=STARTER / "codett", help="the reference")
    options = parser.parse_args(arguments)
    if options.verify:
        return verify(options.out, options.against)
    digest = build(out=options.out, cache=options.cache.resolve(), workers=options.workers)
    print(f"{options.out}: digest {digest}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
