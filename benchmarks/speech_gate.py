"""What the gate of built speech lets through and what it wrongly rejects, by threshold.

    PYTHONPATH=src python benchmarks/speech_gate.py --cache CACHE [--cache OTHER]
        [--sentences 240] [--faults 20] [--out FILE.json]

Takes the lines that builds with these caches have spoken (first attempt, not cut off, long enough
for a transcript to decide), each sentence once, those first that the builds have checked, and hears
them as the gate does. Then it plants
faults: another word in the text, a word cut out of the sound, the text of another sentence, the
sound broken off after two thirds of its words, white noise 10 dB above the speech. Equal caches
give equal figures. What is heard is kept in the first cache.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from floorbench.build import mixing
from floorbench.build.pipeline.store import Folder, SoundStore
from floorbench.build.speech import assets, gate, scoring
from floorbench.build.speech.making import make_asr
from floorbench.build.speech.providers import ASR
from floorbench.stats.rates import wilson
from floorbench.stats.streams import generator

LIMITS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
NOISE_DB = -10.0
CHECKED = ("target", "assistant")
"""Tracks that builds check; a history is spoken by the same voices."""
JOINT = {"en": " ", "zh": ""}


@dataclass(frozen=True)
class Line:
    """A spoken line: its text, its timed words, its sound."""

    text: str
    language: str
    words: tuple[dict[str, Any], ...]
    store: SoundStore
    digest: str
    checked: bool

    def sound(self) -> tuple[mixing.Audio, int]:
        audio, rate = self.store.load(self.digest)
        return audio.astype(np.float64), rate


def lines(caches: Sequence[Path]) -> dict[tuple[str, str], Line]:
    """Return what was spoken, by language and text."""
    found: dict[tuple[str, str], Line] = {}
    for cache in caches:
        store = SoundStore(Folder(cache))
        for path in sorted((cache / "results").glob("*/*.jsonl")):
            row = json.loads(path.read_bytes().splitlines()[1])
            if row["stage"] != "synthesise" or row["attempt"]:
                continue
            for item in row["items"] or ():
                for said in item["fields"].get("speech") or ():
                    if not usable(said):
                        continue
                    key = said["language"], said["text"]
                    digest = item["audio"][said["track"]]
                    checked = said["track"] in CHECKED
                    line = Line(said["text"], key[0], said["words"], store, digest, checked)
                    if key not in found or (checked and not found[key].checked):
                        found[key] = line
    return found


def usable(said: dict[str, Any]) -> bool:
    counted = gate.phonemes_of(said["text"], said["language"], said["phonemes"])
    return said["text"] == said["said"] and bool(said["words"]) and counted >= gate.SHORT


class Ear:
    """Hears as the gate does: quickly, and once more with care where that differs from the text."""

    def __init__(self, asr: ASR) -> None:
        self.asr = asr

    def hear(self, text: str, sound: tuple[mixing.Audio, int], language: str) -> list[str]:
        audio, rate = sound[0].astype(np.float32), sound[1]
        heard: list[str] = []
        for careful in (False, True):
            made = self.asr.transcribe(audio, rate, language=language, careful=careful)
            heard.append(made.text)
            if not errors(text, heard, language):
                break
        return heard


def errors(text: str, heard: Sequence[str], language: str) -> float:
    """Return the error rate that the gate looks at: the better of its hearings."""
    return min(scoring.errors_of(text, one, language).gated for one in heard)


def other_word(line: Line, pool: Sequence[Line], rng: np.random.Generator) -> str:
    """Return the text with one word replaced by a word of another sentence."""
    words = [w["text"] for w in line.words]
    at = int(rng.integers(len(words)))
    strangers = [w["text"] for o in pool for w in o.words if w["text"] not in words]
    words[at] = strangers[int(rng.integers(len(strangers)))]
    return JOINT[line.language].join(words)


def without_word(line: Line, rng: np.random.Generator) -> tuple[mixing.Audio, int]:
    """Return the sound without one of its inner words."""
    audio, rate = line.sound()
    at = int(rng.integers(1, max(2, len(line.words) - 1)))
    start, end = (round(line.words[at][name] * rate) for name in ("start", "end"))
    return np.concatenate([audio[:start], audio[end:]]), rate


def broken_off(line: Line) -> tuple[mixing.Audio, int]:
    audio, rate = line.sound()
    last = line.words[max(0, 2 * len(line.words) // 3 - 1)]
    return mixing.cut(audio, rate, at_s=float(last["end"])), rate


def noisy(line: Line, rng: np.random.Generator) -> tuple[mixing.Audio, int]:
    audio, rate = line.sound()
    noise = rng.standard_normal(len(audio)) * 0.1
    mixed = mixing.add_noise(audio, noise, rate, snr_db=NOISE_DB)
    return mixing.guard(mixed.audio)[0], rate


def heard_well(pool: Sequence[Line], ear: Ear) -> Iterator[tuple[str, float, str]]:
    """Yield the kind of a fault, the error rate and the text, for faults of the text alone.

    The sound is heard for its own text; a sentence that was heard rightly at once is not heard
    again for the wrong one.
    """
    for number, line in enumerate(pool):
        rng = generator(0, "speech-gate", line.language, line.text)
        heard = ear.hear(line.text, line.sound(), line.language)
        for kind, text in (
            ("none", line.text),
            ("wrong word", other_word(line, pool, rng)),
            ("other sentence", pool[(number + 1) % len(pool)].text),
        ):
            yield kind, errors(text, heard, line.language), text


def heard_badly(pool: Sequence[Line], ear: Ear) -> Iterator[tuple[str, float, str]]:
    """Yield the same for faults of the sound."""
    for line in pool:
        rng = generator(0, "speech-gate", "sound", line.language, line.text)
        for kind, faulty in (
            ("dropped word", without_word(line, rng)),
            ("broken off", broken_off(line)),
            ("noise", noisy(line, rng)),
        ):
            heard = ear.hear(line.text, faulty, line.language)
            yield kind, errors(line.text, heard, line.language), line.text


def rate_of(values: Sequence[float], limit: float, *, passed: bool) -> dict[str, float]:
    hits = sum((v <= limit) == passed for v in values)
    found = wilson(hits, len(values))
    assert found.low is not None
    assert found.high is not None
    return {"n": len(values), "rate": hits / len(values), "low": found.low, "high": found.high}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, action="append", required=True)
    parser.add_argument("--sentences", type=int, default=240)
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = lines(given.cache)
    ear = Ear(make_asr({"provider": "whisper"}, cache=given.cache[0]))
    print(f"recogniser: {ear.asr.identity['name']}; assets in {assets.folder()}")
    pools = {}
    for language in ("en", "zh"):
        pool = [line for key, line in sorted(found.items()) if key[0] == language]
        order = generator(0, "speech-gate", language).permutation(len(pool))
        pool = sorted((pool[i] for i in order), key=lambda line: not line.checked)
        pools[language] = pool[: given.sentences]
    report: dict[str, Any] = {}
    for name in ("text", "sound"):
        for language, pool in pools.items():
            made = (
                heard_well(pool, ear) if name == "text" else heard_badly(pool[: given.faults], ear)
            )
            report[f"{language} {name}"] = told(f"{language}, faults of the {name}", list(made))
            if given.out:
                given.out.write_text(json.dumps(report, indent=1, ensure_ascii=False))


def told(title: str, heard: list[tuple[str, float, str]]) -> dict[str, Any]:
    """Print rates by threshold, and return them with every hearing."""
    rows: dict[str, list[float]] = {}
    for kind, value, _ in heard:
        rows.setdefault(kind, []).append(value)
    table = {
        str(limit): {
            kind: rate_of(values, limit, passed=kind != "none") for kind, values in rows.items()
        }
        for limit in LIMITS
    }
    counts = ", ".join(f"{kind} {len(values)}" for kind, values in rows.items())
    print(f"\n{title} ({counts}); false rejects, else misses, in % (95 %)", flush=True)
    for limit, by_kind in table.items():
        cells = (
            f"{k} {100 * v['rate']:.1f} ({100 * v['low']:.1f}-{100 * v['high']:.1f})"
            for k, v in by_kind.items()
        )
        print(f"  {limit}: " + "; ".join(cells), flush=True)
    plain = [{"kind": k, "errors": round(e, 4), "text": t} for k, e, t in heard]
    return {"limits": table, "heard": plain}


if __name__ == "__main__":
    main()
