"""Build the ECHO starter set: original texts, synthetic voices, two channels by role.

``python -m floorbench.build.echo --out DIR [--cache DIR]`` reads ``DIR/texts``, speaks what the
cache lacks, and writes audio, ``samples.jsonl``, ``pairs.jsonl``, the licence page and the
manifest. The set shows that the machine runs; it does not rank systems.

The set holds what systems get. What a listener hears (a stressed onset and an assistant who falls
silent, for interruptions) is derived from it; ``--listening DIR`` writes that version of a built
set as stereo FLAC files, user left, assistant right.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorbench.build import speech_assets
from floorbench.build.echo_render import (
    ASSISTANT,
    LEVEL_DB,
    RATE,
    SPEEDS,
    USERS,
    Speaker,
    render,
)
from floorbench.build.echo_rows import NOTICE, dump, pair_rows, sample_row
from floorbench.build.echo_texts import Scene, read_texts, scenes
from floorbench.build.g2p_process import PhonemeClient
from floorbench.core.vocab import Role
from floorbench.core.words import counted
from floorbench.datasets.echo import EchoSource
from floorbench.datasets.echo_audio import listening
from floorbench.errors import DataError, missing_extra

VERSION = "1"
SEED = 20264
LANGUAGES = ("en", "zh")
OPUS_LEVEL = 0.928  # libsndfile: 24 kbit/s


def build(*, out: Path, cache: Path) -> None:
    """Build the set in ``out``.

    Parameters
    ----------
    out : Path
        Root of the set; ``out/texts/en.json`` and ``zh.json`` must exist.
    cache : Path
        Folder for packages and spoken lines; safe to delete, safe to keep.
    """
    todo = [s for lang in LANGUAGES for s in scenes(read_texts(out / "texts" / f"{lang}.json"))]
    assets = speech_assets.assemble(cache)
    rows, pcm, wanted = [], {}, set()
    with PhonemeClient() as client:
        speaker = Speaker(assets=assets, cache=cache, client=client)
        for number, scene in enumerate(todo, start=1):
            made = render(scene, speaker, seed=SEED)
            row = sample_row(scene, made, audio=paths_of(scene))
            for channel, track in (("user", made.user), ("system", made.system)):
                name = row["audio"][channel]["path"]
                pcm[name] = encode(track, out / name)
                wanted.add(name)
            rows.append(row)
            print(f"{number}/{len(todo)} {scene.id} {made.onset:.2f}-{made.end:.2f} s", flush=True)
    for path in sorted(out.glob("audio/**/*.opus")):
        if path.relative_to(out).as_posix() not in wanted:
            path.unlink()
    write_lines(out / "samples.jsonl", rows)
    write_lines(out / "pairs.jsonl", pair_rows(todo))
    (out / "LICENSES.md").write_text(licences(), encoding="utf-8")
    (out / "manifest.json").write_text(dump(manifest(pcm, assets)), encoding="utf-8")


def write_listening(source: EchoSource, out: Path) -> int:
    """Write what a listener hears of every sample, one stereo file each, and return how many.

    Up to the insertion's onset every sample value equals what systems get.
    """
    try:
        import soundfile
    except ImportError:
        raise missing_extra("soundfile", "build") from None
    out.mkdir(parents=True, exist_ok=True)
    for row, place in source.rows:
        tracks = []
        for role in (Role.USER, Role.SYSTEM):
            audio = source.channel(row, role, place=place)
            if audio is None:
                raise DataError("FB266", f"there is no {role} channel", where=place)
            onset = row.events.insertion_start
            heard = listening(
                audio.read(), rate=RATE, onset=onset, role=role.value, how=row.listening
            )
            tracks.append(heard)
        target = out / f"{row.sample_id}.flac"
        soundfile.write(target, np.stack(tracks, axis=1), RATE, subtype="PCM_16")
    return len(source.rows)


def paths_of(scene: Scene) -> dict[str, str]:
    """Return where the two tracks of a scene lie in the starter set."""
    stem = f"audio/{scene.language}/{scene.id}"
    return {"user": f"{stem}-user.opus", "system": f"{stem}-system.opus"}


def encode(track: NDArray[np.float64], target: Path) -> str:
    """Encode a track to Opus, unless the file decodes to that already, and return its hash."""
    try:
        import soundfile
    except ImportError:
        raise missing_extra("soundfile", "build") from None
    from floorbench.audio.ref import FileAudio

    buffer = io.BytesIO()
    soundfile.write(
        buffer,
        np.round(track * 32767).astype(np.int16),
        RATE,
        format="OGG",
        subtype="OPUS",
        compression_level=OPUS_LEVEL,
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}")
    temporary.write_bytes(buffer.getvalue())
    digest = FileAudio(temporary).digest()
    if target.exists() and FileAudio(target).digest() == digest:
        temporary.unlink()
    else:
        temporary.replace(target)
    return digest


def manifest(pcm: dict[str, str], assets: Path) -> dict[str, Any]:
    """Return what ``manifest.json`` says."""
    names = sorted({v for pool in USERS.values() for v in pool} | set(ASSISTANT.values()))
    return {
        "format": "floorbench-echo-1",
        "name": "echo-starter",
        "version": VERSION,
        "licence": "Apache-2.0",
        "notices": [NOTICE],
        "ranks": False,
        "samples": "samples.jsonl",
        "pairs": "pairs.jsonl",
        "history": "text",
        "system_channel": "planned",
        "recipe": {
            "seed": SEED,
            "rate": RATE,
            "level_db": LEVEL_DB,
            "speeds": list(SPEEDS),
            "voice_model": {
                "name": "Kokoro-82M v1.0, int8 ONNX",
                "sha256": speech_assets.MODEL_SHA256,
                "voices": {
                    n: speech_assets.sha256_file(assets / "voices" / f"{n}.bin") for n in names
                },
            },
        },
        "pcm": dict(sorted(pcm.items())),
    }


def licences() -> str:
    """Return the licence page of the set."""
    return """# Licences of the ECHO starter set

- Texts, tables, manifest and the set as a whole: Apache-2.0, written for this project.
- Voices: all speech is synthetic, made with Kokoro-82M v1.0 (model and voices by hexgrad,
  Apache-2.0; ONNX export under the MIT licence). No recording of a real talker is included.
"""


def write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write one JSON object a line."""
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the recipe from the command line."""
    parser = argparse.ArgumentParser(prog="python -m floorbench.build.echo")
    parser.add_argument("--out", type=Path, required=True, help="root of the set")
    parser.add_argument("--cache", type=Path, default=Path("build-cache"), help="build cache")
    parser.add_argument("--listening", type=Path, help="write the listening version of a built set")
    options = parser.parse_args(arguments)
    if options.listening is not None:
        count = write_listening(EchoSource(options.out), options.listening)
        print(f"{counted(count, 'file')} in {options.listening}")
        return
    build(out=options.out, cache=options.cache.resolve())


if __name__ == "__main__":
    main()
