"""Predictions in memory, packed: a million of them take a few hundred megabytes.

As objects they would take three times that. What goes in comes out equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from floorbench.core.prediction import Prediction, PredictionKey
from floorbench.run.keys import KeyTable, key_code


class Line(NamedTuple):
    """A prediction and the line of the file it stands on."""

    number: int
    prediction: Prediction


class KeptPredictions:
    """The predictions of a file by sample; each key once."""

    def __init__(self) -> None:
        self._rows: dict[str, bytes | list[bytes]] = {}
        self._keys = KeyTable()
        self._encode = msgspec.json.Encoder().encode
        self._decode = msgspec.json.Decoder(tuple[int, Prediction]).decode
        self.trials: set[int] = set()

    def add(self, number: int, prediction: Prediction) -> int | None:
        """Keep a prediction; when its key is there already, return the line of the first one."""
        if not self._keys.add(key_code(prediction.key)):
            for line in self.of(prediction.sample_id):
                if line.prediction.key == prediction.key:
                    return line.number
        self.trials.add(prediction.trial)
        packed = self._encode((number, prediction))
        earlier = self._rows.get(prediction.sample_id)
        if earlier is None:
            self._rows[prediction.sample_id] = packed
        elif isinstance(earlier, list):
            earlier.append(packed)
        else:
            self._rows[prediction.sample_id] = [earlier, packed]
        return None

    def of(self, sample_id: str) -> list[Line]:
        """Return the predictions of a sample, in the order of their lines."""
        packed = self._rows.get(sample_id)
        if packed is None:
            return []
        rows = packed if isinstance(packed, list) else [packed]
        return [Line(*self._decode(row)) for row in rows]

    def get(self, key: PredictionKey) -> Prediction | None:
        """Return the prediction of a key."""
        found = (x.prediction for x in self.of(key.sample_id) if x.prediction.key == key)
        return next(found, None)

    def samples(self) -> Iterator[str]:
        """Yield the ids of all samples that have a prediction, each once."""
        return iter(self._rows)
