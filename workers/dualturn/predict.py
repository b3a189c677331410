"""DualTurn: scores of both channels in every frame of 80 ms.

No inference package of it is public. This program imports ``dualturn_inference.py`` from the
weights' folder: ``load(folder, device)`` returns a function that takes the two channels (float32,
24 kHz) and returns ``{"eot:user": [...], ...}``, one number per frame.
"""

import base64
import hashlib
import importlib.util
import math
from array import array
from pathlib import Path

import floorbench_worker as worker

RATE = 24000
FRAME = 1920
SIGNALS = ("vad", "eot", "hold", "bot", "bc", "fvad1", "fvad2", "fvad3", "fvad4")
COLUMNS = [f"{signal}:{role}" for role in ("user", "system") for signal in SIGNALS]
HELLO = {
    "name": "dualturn",
    "version": "2603.08216",
    "rate": RATE,
    "licence": "see the model's own terms",
}


class Model:
    """The user's own inference module beside the weights."""

    def __init__(self, options):
        file = Path(options.model) / "dualturn_inference.py"
        spec = importlib.util.spec_from_file_location("dualturn_inference", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.run = module.load(options.model, options.device)
        HELLO["parameters"] = {"module_sha256": hashlib.sha256(file.read_bytes()).hexdigest()}

    def __call__(self, user, system):
        return self.run(user, system)


class Stub:
    """No model: activity by loudness, everything else 0."""

    def __init__(self, options):
        pass

    def __call__(self, user, system):
        out = {}
        for role, samples in (("user", user), ("system", system)):
            frames = math.ceil(len(user) / FRAME)
            parts = (samples[n * FRAME : (n + 1) * FRAME] for n in range(frames))
            out[f"vad:{role}"] = [float(max(p, default=0.0) > 0.01) for p in parts]
        return out


def answer(model, item):
    """Score one recording; a missing channel is silence."""
    channels = item.get("channels", {})
    if "user" not in channels:
        return {"outcome": "unsupported", "reason": "no audio of the user"}
    user = worker.samples(channels["user"])
    system = worker.samples(channels["system"]) if "system" in channels else array("f")
    length = max(len(user), len(system))
    for samples in (user, system):
        samples.extend([0.0] * (length - len(samples)))
    scores = model(user, system)
    return {"trace": trace(scores, columns=COLUMNS, rate="25/2")}


def trace(scores, *, columns, rate):
    """Return scores per frame as they cross: little-endian float32, frame after frame."""
    given = [name for name in columns if name in scores]
    frames = min(len(scores[name]) for name in given)
    data = array("f", (scores[name][n] for n in range(frames) for name in given))
    return {
        "columns": given,
        "rate": rate,
        "frames": frames,
        "data": base64.b64encode(data.tobytes()).decode(),
    }


if __name__ == "__main__":
    options = worker.arguments("DualTurn for floorbench")
    worker.serve(
        HELLO,
        lambda: (Stub if options.stub else Model)(options),
        lambda model, items: [answer(model, item) for item in items],
    )
