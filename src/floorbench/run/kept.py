"""Predictions in memory, packed: a million of them take a few hundred megabytes.

As objects they would take three times that. What goes in comes out equal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from floorbench.core.prediction import Prediction, PredictionKey


class Line(NamedTuple):
    """A prediction and the line of the file it stands on."""

    number: int
    prediction: Prediction


class KeptPredictions:
    """The predictions of a file by sample; each key once."""

    def __init__(self) -> None:
        self._rows: dict[str, bytes | dict[tuple[str, int], bytes]] = {}
        self._encode = msgspec.json.Encoder().encode
        self._decode = msgspec.json.Decoder(tuple[int, Prediction]).decode
        self.trials: set[int] = set()

    def add(self, number: int, prediction: Prediction) -> int | None:
        """Keep a prediction; when its key is there already, return the line of the first one."""
        name = prediction.sample_id
        earlier = self._rows.get(name)
        if earlier is None:
            self._rows[name] = self._encode((number, prediction))
        else:
            if isinstance(earlier, bytes):
                only = self._decode(earlier)[1]
                earlier = self._rows[name] = {(sys.intern(only.condition), only.trial): earlier}
            own = (sys.intern(prediction.condition), prediction.trial)
            if own in earlier:
                return self._decode(earlier[own])[0]
            earlier[own] = self._encode((number, prediction))
        self.trials.add(prediction.trial)
        return None

    def of(self, sample_id: str) -> list[Line]:
        """Return the predictions of a sample, in the order of their lines."""
        packed = self._rows.get(sample_id)
        if packed is None:
            return []
        if isinstance(packed, bytes):
            return [Line(*self._decode(packed))]
        return [Line(*self._decode(row)) for row in packed.values()]

    def get(self, key: PredictionKey) -> Prediction | None:
        """Return the prediction of a key."""
        packed = self._rows.get(key.sample_id)
        if isinstance(packed, bytes):
            only = self._decode(packed)[1]
            return only if (only.condition, only.trial) == key[1:] else None
        row = packed.get((key.condition, key.trial)) if packed is not None else None
        return self._decode(row)[1] if row is not None else None

    def samples(self) -> Iterator[str]:
        """Yield the ids of all samples that have a prediction, each once."""
        return iter(self._rows)
