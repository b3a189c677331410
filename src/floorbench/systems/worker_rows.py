"""Published systems that need an environment of their own: the catalogue's rows.

Each has a folder in ``workers/`` of the source distribution with the program, its requirements
and how to set it up. What is declared here is what the program must say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floorbench.audio.decode import RESAMPLER
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Level
from floorbench.systems.worker import CommandSystem
from floorbench.systems.worker_stream import CommandStream

_16K = FrontEnd(rate=16_000, resampler=RESAMPLER)

EASY_TURN = SystemSpec(
    name="easy-turn",
    version="2509.23938",
    level=Level.CONTRACT,
    labels=("complete", "incomplete", "backchannel", "wait"),
    languages=("zh",),
    context="current user turn",
    front_end=_16K,
    label_map="easy-turn",
    licence="Apache-2.0",
)
MINICPM = SystemSpec(
    name="minicpm-o-4.5",
    version="4.5",
    level=Level.CONTRACT,
    modalities=("audio", "question"),
    context="dialogue",
    front_end=_16K,
    licence="Apache-2.0",
)
MINICPM_DUPLEX = SystemSpec(
    name="minicpm-o-4.5-duplex",
    version="4.5",
    level=Level.CONTRACT,
    labels=("speak", "stop"),
    context="dialogue",
    streaming_step=1.0,
    front_end=_16K,
    parameters={"floor": "own"},
    licence="Apache-2.0",
)
SOULX = SystemSpec(
    name="soulx-duplug",
    version="0.6B",
    level=Level.CONTRACT,
    labels=("idle", "nonidle", "speak", "blank"),
    languages=("zh", "en"),
    streaming_step=0.16,
    front_end=_16K,
    label_map="soulx-duplug",
    parameters={"tail": 1.0},
    licence="Apache-2.0",
)
LYCHEE = SystemSpec(
    name="lychee-fd",
    version="2607.06540",
    level=Level.CONTRACT,
    labels=("K-L", "S-S", "K-S", "S-L", "BackChannel", "Detect", "Sleep"),
    context="dialogue",
    streaming_step=0.4,
    front_end=_16K,
    label_map="lychee-fd",
    parameters={"floor": "own"},
    licence="Apache-2.0",
)
DUALTURN = SystemSpec(
    name="dualturn",
    version="2603.08216",
    level=Level.CONTRACT,
    front_end=FrontEnd(rate=24_000, resampler=RESAMPLER),
    licence="see the model's own terms",
)
VAP = SystemSpec(
    name="vap-stereo",
    version="maai",
    level=Level.CONTRACT,
    front_end=_16K,
    licence="code MIT; models for academic use only",
)
SPECS = (EASY_TURN, MINICPM, MINICPM_DUPLEX, SOULX, LYCHEE, DUALTURN, VAP)


def folder_of(spec: SystemSpec) -> str:
    """Return the folder of a system's program below ``workers/``."""
    return spec.name.removesuffix("-duplex").removesuffix("-stereo")


def _row(spec: SystemSpec, *, note: str = "") -> Callable[..., Any]:
    kind = CommandSystem if spec.streaming_step is None else CommandStream
    folder = folder_of(spec)
    option = " --duplex" if spec.name.endswith("-duplex") else ""
    program = f"python workers/{folder}/predict.py --model DIR{option}"

    def build(
        *,
        command: str | list[str] | None = None,
        timeout: float = 60.0,
        load_timeout: float = 600.0,
    ) -> Any:
        return kind(
            command=command,
            timeout=timeout,
            load_timeout=load_timeout,
            declared=spec,
            how=f"set it up as workers/{folder}/README.md says, then --set command='{program}'",
        )

    build.__doc__ = f"""Return {spec.name}, which runs in an environment of its own.

    Parameters
    ----------
    command : str, list of str or None
        How its program is started, for example ``{program}``.
    timeout : float
        Seconds that one answer may take.
    load_timeout : float
        Seconds until the program can answer.

    Notes
    -----
    The folder ``workers/{folder}`` holds the program and how to set it up. {note}
    """
    return build


easy_turn = _row(EASY_TURN, note="Chinese only; asked with one of the model's own instructions.")
minicpm_o = _row(MINICPM, note="Half duplex: asked with the task's question.")
minicpm_o_duplex = _row(MINICPM_DUPLEX, note="One decision a second; it speaks for itself.")
soulx_duplug = _row(SOULX, note="It hears the user only.")
lychee_fd = _row(LYCHEE, note="Control tokens every 400 ms; it speaks for itself.")
dualturn = _row(DUALTURN, note="Scores in every frame of both channels, 12.5 Hz.")
vap_stereo = _row(VAP, note="Voice Activity Projection on both channels.")
