"""The digest of the starter set: what was written and what is heard, not how it is stored."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from floorbench.errors import missing_extra


def pcm_sha256(path: Path) -> str:
    """Return the SHA-256 of the decoded samples as little-endian 16-bit integers."""
    try:
        import soundfile
    except ImportError:
        raise missing_extra("soundfile", "demo") from None
    samples, _ = soundfile.read(path, dtype="int16", always_2d=True)
    return hashlib.sha256(samples.astype("<i2").tobytes()).hexdigest()


def starter_digest(folder: Path) -> str:
    """Return the digest of a starter set.

    It covers the source texts, the JSONL files, the parameters in the manifest and the decoded
    samples of every audio file under ``audios``; container bytes (which hold a random stream
    number) are left out.

    Parameters
    ----------
    folder : Path
        Root of the set, with ``manifest.json``, ``texts``, ``jsonls`` and ``audios``.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    total = hashlib.sha256()
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    parameters = json.dumps(manifest["parameters"], sort_keys=True, ensure_ascii=False)
    total.update(f"parameters {parameters}\n".encode())
    for path in sorted([*folder.glob("texts/*.json"), *folder.glob("jsonls/**/*.jsonl")]):
        text = path.read_bytes().replace(b"\r\n", b"\n")
        name = path.relative_to(folder).as_posix()
        total.update(f"{name} {hashlib.sha256(text).hexdigest()}\n".encode())
    for path in sorted(folder.glob("audios/**/*.opus")):
        name = path.relative_to(folder).as_posix()
        total.update(f"{name} {pcm_sha256(path)}\n".encode())
    return total.hexdigest()
