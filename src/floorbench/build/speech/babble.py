"""The embedded babble: sentences that no item uses, by voices that no item has."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from floorbench.build.kokoro_voices import BABBLE, VOICES
from floorbench.build.speech.providers import TTS

SPEED = 1.0
KIND = "synthetic reading"
LICENCE = "Apache-2.0"
CREDITS_FILE = "credits.json"


def babble_folder(cache: Path) -> Path:
    """Return where the babble of a cache lies, whether it is there or not."""
    return cache / "babble"


def prepare(
    cache: Path,
    tts: TTS,
    *,
    voices: Mapping[str, Mapping[str, Sequence[str]]] = VOICES,
    sentences: Mapping[str, Sequence[str]] = BABBLE,
) -> Path:
    """Say every sentence with every babble voice once and return the folder.

    A language is whole when its ``credits.json`` is there: it is written last, so a killed run is
    made up for by the next.

    Parameters
    ----------
    cache : Path
    tts : TTS
    voices : mapping
        Language to role to voices; only the role ``babble`` is used.
    sentences : mapping of str to sequence of str
    """
    import soundfile

    where = babble_folder(cache)
    for language, lines in sentences.items():
        folder = where / language
        credits = folder / CREDITS_FILE
        if credits.exists():
            continue
        folder.mkdir(parents=True, exist_ok=True)
        table = {}
        for voice in voices[language]["babble"]:
            for number, line in enumerate(lines, start=1):
                name = f"{voice}-{number}.flac"
                spoken = tts.synthesize(line, language=language, voice=voice, speed=SPEED, seed=0)
                temporary = folder / f".{name}.{os.getpid()}"
                pcm = np.clip(np.round(spoken.audio * 32768), -32768, 32767).astype(np.int16)
                soundfile.write(temporary, pcm, spoken.rate, format="FLAC", subtype="PCM_16")
                temporary.replace(folder / name)
                table[name] = {
                    "kind": KIND,
                    "licence": LICENCE,
                    "author": str(tts.identity.get("name", "unknown")),
                    "source": f"voice {voice}: {line}",
                }
        temporary = credits.with_name(f".{CREDITS_FILE}.{os.getpid()}")
        temporary.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", "utf-8")
        temporary.replace(credits)
    return where
