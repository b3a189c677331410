"""Where a fault of the file system can be had: a private mount namespace, or what a user may do.

``unshare`` gives a process and its children mounts of their own: a small tmpfs that is really full,
a folder that is really read-only, gone when they end. Root may; a user may where the system lets
users have namespaces. Where it is not possible, a limit on the size of files stands in for the
full disk, and permissions for the read-only folder; the figures say which it was.
"""

from __future__ import annotations

import functools
import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path


@functools.cache
def private_mounts() -> tuple[str, ...] | None:
    """Return the words before a command that may mount for itself, ``None`` when it may not."""
    for words in (("unshare", "--mount"), ("unshare", "--mount", "--map-root-user")):
        tried = f"mount -t tmpfs -o size=64k tmpfs {shlex.quote(str(Path.cwd().anchor))}mnt"
        try:
            done = subprocess.run([*words, "sh", "-c", tried], capture_output=True, timeout=20)
        except OSError:
            return None
        if done.returncode == 0:
            return words
    return None


def in_namespace(script: str, words: Sequence[str]) -> list[str] | None:
    """Return the words that run a command after a shell script, in a mount namespace of its own."""
    before = private_mounts()
    if before is None:
        return None
    return [*before, "sh", "-ec", script + '\nexec "$@"', "sh", *words]


def read_only(folder: Path) -> list[str] | None:
    """Return the words before a command that sees a folder read-only; ``None`` where there are no
    namespaces and permissions must do (see :func:`permissions` and :func:`bound`)."""
    quoted = shlex.quote(str(folder))
    return in_namespace(f"mount --bind {quoted} {quoted}\nmount -o remount,ro,bind {quoted}", [])


def permissions(folder: Path, mode: int) -> None:
    """Give every folder below (and the folder) a mode; files follow without the search bits."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(mode if path.is_dir() else mode & 0o666)


def bound() -> list[str]:
    """Return the words before a command that must heed permissions, even as root."""
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if root() else []


def root() -> bool:
    """Whether permissions mean nothing to this process."""
    return os.geteuid() == 0
