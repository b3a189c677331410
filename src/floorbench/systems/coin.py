"""A fair coin between yielding and keeping the floor."""

from __future__ import annotations

import hashlib

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Level
from floorbench.errors import UsageError

LABELS = ("Yield", "Keep")


class Coin:
    """Toss for every observation.

    The toss depends on the seed and on what is shown, so the order of the samples changes nothing
    and the two members of a pair are tossed apart.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, *, seed: int = 0) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise UsageError("FB513", f"seed={seed!r} is not a whole number from 0 up")
        self._seed = seed
        self.spec = SystemSpec(
            name="coin",
            version="1",
            level=Level.MEASURED,
            labels=LABELS,
            modalities=(),
            parameters={"seed": seed},
            licence="Apache-2.0",
        )

    def load(self) -> None:
        """Do nothing."""

    def decide(self, observation: Observation) -> Decision:
        """Return one of the two labels."""
        seen = [str(self._seed), observation.language, observation.text or ""]
        seen += [turn.text or "" for turn in observation.turns]
        seen += [observation.spoken_prefix or ""]
        seen += [audio.digest() for _, audio in sorted(observation.channels.items())]
        bit = hashlib.sha256("\0".join(seen).encode()).digest()[0] & 1
        return Decision(label=LABELS[bit])
