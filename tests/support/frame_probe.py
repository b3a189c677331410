"""A frame probe made by hand: it hears 'yes' of its own channel, and silence."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from floorbench import codec
from floorbench.events.readout import Readout
from floorbench.systems.frames_features import names
from floorbench.systems.frames_probe import MODELS, VERSION, ProbeArtefact

WORDS = ("so", "yes")


def artefact() -> ProbeArtefact:
    inputs = names(WORDS)
    weights = tuple(1.0 if n in ("own said yes", "nobody") else 0.0 for n in inputs)
    one = Readout(
        labels=("no", "yes"),
        features=inputs,
        mean=(0.0,) * len(inputs),
        scale=(1.0,) * len(inputs),
        weights=((0.0,) * len(inputs), weights),
        bias=(0.0, -1.0),
    )
    return ProbeArtefact(version=VERSION, words=WORDS, models=dict.fromkeys(MODELS, one))


@cache
def written() -> str:
    """Return a file that holds the probe, the same one for the whole test run."""
    path = Path(tempfile.mkdtemp(prefix="floorbench-probe-")) / "probe.json"
    path.write_text(codec.encode_pretty(artefact()))
    return str(path)
