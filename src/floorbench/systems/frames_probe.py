"""The trained frame probe: linear read-outs of causal features, made by ``floorbench fit``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from floorbench import codec
from floorbench.core.prediction import Decision
from floorbench.core.sample import JsonValue, Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Level
from floorbench.errors import DataError, Place
from floorbench.events.dualturn import RATE
from floorbench.events.readout import Readout
from floorbench.events.spans import Floats
from floorbench.events.traces import FVAD, column
from floorbench.systems.frames import ROLES, answer, deaf, hear
from floorbench.systems.frames_features import features, names

VERSION = "1"
MODELS = ("eot", "bot", "bc", *FVAD)
"""Signals with a read-out of their own; ``hold`` is 1 - ``eot``, ``vad`` is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeArtefact:
    """All that a trained probe is.

    Parameters
    ----------
    version : str
        Of the features; a probe made with others is refused.
    words : tuple of str
        Words that have a feature of their own, from the training sessions.
    models : mapping of str to Readout
        One binary read-out per signal, labels ``no`` and ``yes``.
    trained_on : mapping
        Data digest, split, sessions, parameters and library of the training.
    """

    version: str
    words: tuple[str, ...]
    models: Mapping[str, Readout]
    trained_on: Mapping[str, JsonValue] = field(default_factory=dict)

    def digest(self) -> str:
        """Return the SHA-256 of its content."""
        return codec.digest(self)


def read_artefact(path: Path) -> ProbeArtefact:
    """Read a probe.

    Raises
    ------
    DataError
        ``FB402`` unreadable, ``FB201`` not such a file, ``FB535`` made with other features.
    """
    artefact = codec.read_json(path, ProbeArtefact)
    where = Place(str(path))
    if artefact.version != VERSION:
        raise DataError(
            "FB535", f"version {artefact.version} of the features, here is {VERSION}", where=where
        )
    wanted = names(artefact.words)
    for signal in MODELS:
        model = artefact.models.get(signal)
        if model is None or model.features != wanted or model.labels != ("no", "yes"):
            raise DataError("FB535", f"its read-out of '{signal}' does not fit", where=where)
    return artefact


class FrameProbe:
    """Scores every frame with linear read-outs of activity and words so far.

    Parameters
    ----------
    artefact : str
        File that ``floorbench fit dualturn-4s frame-probe`` has written.
    """

    def __init__(self, *, artefact: str) -> None:
        self._artefact = read_artefact(Path(artefact))
        self.spec = SystemSpec(
            name="frame-probe",
            version=VERSION,
            level=Level.MEASURED,
            modalities=("activity", "text"),
            context="both channels up to the frame",
            streaming_step=float(1 / RATE),
            front_end=FrontEnd(
                gate="activity given by the task", text="words that have ended, lower case"
            ),
            weights={"probe": self._artefact.digest()},
            parameters={"words": len(self._artefact.words)},
            licence="Apache-2.0",
        )

    def load(self) -> None:
        """Do nothing: the probe was read when it was named."""

    def decide(self, observation: Observation) -> Decision:
        """Return scores for every frame of the session."""
        heard = hear(observation)
        if heard is None or not heard.frames:
            return deaf()
        columns: dict[str, Floats] = {}
        for role in ROLES:
            inputs = features(heard, role, self._artefact.words)
            columns[column("vad", role)] = heard.vad[role].astype(np.float64)
            for signal in MODELS:
                said = self._artefact.models[signal].probabilities(inputs)[:, 1]
                columns[column(signal, role)] = said
            columns[column("hold", role)] = 1.0 - columns[column("eot", role)]
        return answer(columns)
