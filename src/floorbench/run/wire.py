"""Observations as JSON: for a worker process, and as the hash that says what was shown.

Audio crosses as a reference (its own ``to_wire``), never as samples and never as a pickled object.
In the hash it stands for its decoded content, so that a renamed or re-packed file changes nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from floorbench import codec
from floorbench.core.plain import observation_from_plain, observation_to_plain
from floorbench.core.sample import AudioRef, JsonValue, Observation
from floorbench.errors import UsageError


def observation_hash(observation: Observation) -> str:
    """Return the SHA-256 (hex) of everything an observation shows.

    Raises
    ------
    DataError
        ``FB3xx`` when its audio cannot be decoded.
    """
    return codec.digest(observation_to_plain(observation, _audio_identity))


def observation_to_wire(observation: Observation) -> dict[str, JsonValue]:
    """Return the JSON form of an observation for a worker process.

    Raises
    ------
    UsageError
        ``FB509`` when an audio reference cannot be sent (it has no ``to_wire``).
    """
    return observation_to_plain(observation, _audio_to_wire)


def observation_from_wire(wire: Mapping[str, Any]) -> Observation:
    """Rebuild an observation inside a worker."""
    return observation_from_plain(wire, _audio_from_wire)


def _audio_identity(_: str, ref: AudioRef) -> JsonValue:
    return {"digest": ref.digest(), "rate": ref.rate, "frames": ref.frames, "cutoff": ref.cutoff}


def _audio_to_wire(_: str, ref: AudioRef) -> JsonValue:
    kind = type(ref)
    to_wire = getattr(ref, "to_wire", None)
    if not callable(to_wire):
        raise UsageError(
            "FB509", f"audio of type {kind.__name__} cannot be sent to a worker process"
        )
    return {"type": f"{kind.__module__}:{kind.__name__}", "value": to_wire()}


def _audio_from_wire(wire: Mapping[str, Any]) -> AudioRef:
    """Rebuild audio with the ``from_wire`` of its own class."""
    module, _, name = wire["type"].partition(":")
    ref: AudioRef = getattr(importlib.import_module(module), name).from_wire(wire["value"])
    return ref
