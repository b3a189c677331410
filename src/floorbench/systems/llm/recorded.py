"""Replies of a service on disk: asked once, then read; recorded ones replay without a key.

A reply is filed under the SHA-256 of everything that was sent, sound included, and of how often
the same was asked before. Keys are no part of a request's body and are never written.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Outcome
from floorbench.errors import EnvironmentProblem, Place, UsageError
from floorbench.systems.llm.protocol import ModelFault
from floorbench.systems.llm.snapshots import moment, now


class Reply(NamedTuple):
    """An answer as the service wrote it, and when (UTC; ``None`` in a recording without a time)."""

    answer: Any
    at: str | None


class Replies:
    """A folder of recorded replies, or none.

    Parameters
    ----------
    folder : Path or str or None
        Where replies are kept; ``None`` keeps nothing.
    replay : bool
        Read only: what is not recorded is a ``failed`` answer and nothing is sent.

    Raises
    ------
    UsageError
        ``FB513`` for a replay without a folder.
    """

    def __init__(self, folder: Path | str | None = None, *, replay: bool = False) -> None:
        if replay and folder is None:
            raise UsageError("FB513", "replay=true needs the folder of the replies in cache")
        self._folder = Path(folder) if folder is not None else None
        self.replay = replay

    def through(self, request: JsonValue, call: Callable[[], Any]) -> Reply:
        """Return the recorded answer to a request, or make the call and record what it gives.

        Raises
        ------
        ModelFault
            ``failed`` in a replay without this reply; what the call raises.
        EnvironmentProblem
            ``FB557`` when the folder cannot be written or a reply in it is damaged.
        """
        if self._folder is None:
            return Reply(call(), now())
        text = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        file = self._folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
        if file.exists():
            return _read(file)
        if self.replay:
            raise ModelFault(Outcome.FAILED, f"no recorded reply {file.stem[:12]}")
        reply = Reply(call(), now())
        _write(file, reply)
        return reply


def _write(file: Path, reply: Reply) -> None:
    folder = file.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(reply._asdict(), out, ensure_ascii=False)
        Path(name).replace(file)
    except OSError as error:
        raise EnvironmentProblem(
            "FB557", f"cannot be written: {error.strerror}", where=Place(str(folder))
        ) from None


def _read(file: Path) -> Reply:
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        return Reply(kept["answer"], moment(kept.get("at")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise EnvironmentProblem(
            "FB557", "is not a recorded reply", where=Place(str(file))
        ) from None
