"""What a run was made with: packages, code revision, hardware; and keeping secrets out of it."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

import floorbench
from floorbench.core.sample import JsonValue

REDACTED = "<redacted>"
_SECRET_WORDS = frozenset(
    ("key", "apikey", "token", "secret", "password", "passwd", "credential", "authorization")
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_SHAPES = re.compile(r"\b(?:sk-|hf_|ghp_|AIza|xox[abp]-)[\w-]{12,}")


class Redaction(NamedTuple):
    """Parameters without secrets, and the secrets, so that reasons can be cleaned of them."""

    parameters: dict[str, JsonValue]
    secrets: tuple[str, ...]


def redact(parameters: Mapping[str, JsonValue]) -> Redaction:
    """Replace the text of parameters named like a key, token, secret or password.

    A name counts by its words (``api_key``, ``hfToken``), so ``max_tokens`` stays. Text in the
    well-known shape of an access token goes whatever its name.
    """
    secrets: list[str] = []
    return Redaction(_redact_mapping(parameters, secrets), tuple(secrets))


def scrub(text: str, secrets: tuple[str, ...]) -> str:
    """Remove known secrets and token-shaped text from a message."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return _SECRET_SHAPES.sub(REDACTED, text)


def _redact_mapping(mapping: Mapping[str, JsonValue], secrets: list[str]) -> dict[str, JsonValue]:
    return {
        name: _redact(value, _SECRET_WORDS & {w.lower() for w in _WORDS.findall(name)}, secrets)
        for name, value in mapping.items()
    }


def _redact(value: Any, secret: frozenset[str], secrets: list[str]) -> Any:
    if isinstance(value, Mapping):
        return _redact_mapping(value, secrets)
    if isinstance(value, list | tuple):
        return [_redact(item, secret, secrets) for item in value]
    if isinstance(value, str) and value and (secret or _SECRET_SHAPES.search(value)):
        secrets.append(value)
        return REDACTED
    return value


@cache
def packages() -> dict[str, str]:
    """Return name and version of every installed distribution, sorted."""
    described = [d.metadata for d in distributions()]
    found = {m["Name"]: m["Version"] for m in described}
    return {name: found[name] for name in sorted(found, key=lambda n: (str(n).lower(), str(n)))}


def code() -> dict[str, JsonValue]:
    """Return floorbench's version and, in a git checkout, its revision and whether it is dirty."""
    root = Path(floorbench.__file__).resolve().parents[2]
    info: dict[str, JsonValue] = {"version": floorbench.__version__, "revision": None}
    if (root / ".git").exists() and shutil.which("git"):
        revision = _output("git", "-C", str(root), "rev-parse", "HEAD")
        if revision:
            info["revision"] = revision
            info["dirty"] = bool(_output("git", "-C", str(root), "status", "--porcelain", "src"))
    return info


def hardware() -> dict[str, JsonValue]:
    """Return what decides speed: processor, cores, memory, accelerator; no host or user name."""
    info: dict[str, JsonValue] = {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        info["memory_gib"] = round(
            os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1
        )
    if shutil.which("nvidia-smi"):
        names = _output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
        info["accelerators"] = names.splitlines() if names else []
    return info


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return platform.processor()
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else platform.processor()


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
