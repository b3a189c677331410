"""Voice Activity Projection on two channels, through the package ``maai``.

Written to the package's published interface; not run on the weights by the project. The weights
are for academic use only.
"""

import base64
from array import array

import floorbench_worker as worker

RATE = 16000
HELLO = {
    "name": "vap-stereo",
    "version": "maai",
    "rate": RATE,
    "licence": "code MIT; models for academic use only",
}


class Model:
    """The package's model, fed frame by frame."""

    def __init__(self, options):
        from importlib.metadata import version

        self.hz = int(options.hz or 10)
        self.options = options
        HELLO["parameters"] = {"maai": version("maai"), "hz": self.hz, "lang": options.lang}

    def __call__(self, user, system):
        import numpy as np
        from maai import Maai, MaaiInput

        maai = Maai(
            mode="vap", lang=self.options.lang or "en", frame_rate=self.hz,
            audio_ch1=MaaiInput.Chunk(), audio_ch2=MaaiInput.Chunk(), device=self.options.device,
        )  # fmt: skip
        size = RATE // self.hz
        out = {f"{s}:{r}": [] for s in ("p_now", "p_future", "vad") for r in ("user", "system")}
        for first in range(0, len(user) - size + 1, size):
            parts = [np.array(s[first : first + size], dtype=np.float32) for s in (user, system)]
            maai.process(*parts)
            result = maai.result_dict_queue.get()
            for signal in ("p_now", "p_future", "vad"):
                for role, value in zip(("user", "system"), result[signal]):
                    out[f"{signal}:{role}"].append(float(value))
        return out


class Stub:
    """No model: whoever is louder will go on."""

    def __init__(self, options):
        self.hz = 10

    def __call__(self, user, system):
        size = RATE // self.hz
        starts = range(0, len(user), size)
        loud = [
            [max(map(abs, s[n : n + size]), default=0.0) for n in starts] for s in (user, system)
        ]
        share = [0.5 if a == b else float(a > b) for a, b in zip(*loud)]
        other = [1 - x for x in share]
        return {
            "p_now:user": share, "p_now:system": other,
            "p_future:user": share, "p_future:system": other,
        }  # fmt: skip


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
    scores = {name: column for name, column in model(user, system).items() if column}
    if not scores:
        return {"outcome": "abstained", "reason": "shorter than a frame"}
    frames = min(map(len, scores.values()))
    data = array("f", (column[n] for n in range(frames) for column in scores.values()))
    return {
        "trace": {
            "columns": list(scores),
            "rate": str(model.hz),
            "frames": frames,
            "data": base64.b64encode(data.tobytes()).decode(),
        }
    }


if __name__ == "__main__":
    options = worker.arguments(
        "VAP for floorbench",
        needs="lang",
        lang="language of the model: en, jp, ch or tri",
        hz="frames a second: 5, 10 or 20",
    )
    worker.serve(
        HELLO,
        lambda: (Stub if options.stub else Model)(options),
        lambda model, items: [answer(model, item) for item in items],
    )
