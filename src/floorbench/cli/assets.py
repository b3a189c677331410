"""``floorbench assets list|get|doctor`` and ``floorbench doctor``."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import shutil

from floorbench import __version__
from floorbench.audio import assets as store
from floorbench.build.speech import assets as speech
from floorbench.cli import console
from floorbench.errors import FloorbenchError

# Named sets of assets for set-up steps.
_DEMO = ("smart-turn-v3.2", "smart-turn-v3.1", "smart-turn-v3.0", "silero-vad")
SETS = {"demo": _DEMO, "test": (*_DEMO, "smollm2-135m")}

# What `doctor` looks for: import name, extra, what it is for.
OPTIONAL = (
    ("onnxruntime", "onnx", "Smart-Turn, Silero VAD and other ONNX models"),
    ("webrtcvad", "webrtc", "the WebRTC VAD baseline"),
    ("xllamacpp", "llama", "the embedded language model"),
    ("openai", "openai", "models behind OpenAI-compatible servers"),
    ("starlette", "web", "the viewer and the listening page"),
    ("altair", "report", "figures and report pages"),
    ("websockets", "stream", "streaming systems over a WebSocket"),
    ("sklearn", "probe", "trained probes and shortcut audits"),
    ("tokenizers", "text", "turn detectors that read text"),
    ("google.genai", "gemini", "Gemini's service"),
    ("transformers", "hf", "models of the transformers library"),
    ("ray", "ray", "runs and builds on several machines"),
    ("misaki", "build", "voices for construction"),
    ("faster_whisper", "build", "the recogniser that checks built speech"),
    ("jiwer", "build", "error rates of built speech"),
)


def list_assets(*, json: bool = False) -> int:
    """List assets, their licences and where each was found.

    Parameters
    ----------
    json
        Print JSON.
    """
    found = [*store.status(), *speech.status()]
    if json:
        console.data_json([_plain(a) for a in found])
        return 0
    rows = [
        (a.name, a.state, f"{a.bytes / 1e6:.1f} MB", a.publisher, a.licence, str(a.path or ""))
        for a in found
    ]
    console.data(console.columns(rows, ("asset", "state", "size", "publisher", "licence", "path")))
    return 0


def get(*names: str, quiet: bool = False) -> int:
    """Fetch assets into the cache; what is there already is only checked.

    Parameters
    ----------
    names
        Assets or sets of them (``demo``, ``test``, ``all``); ``demo`` by default. ``speech``
        prepares voices, noise and recogniser for construction.
    quiet
        Say nothing about what is already there.
    """
    wanted: dict[str, None] = {}
    for name in names or ("demo",):
        members = (
            tuple(a.name for a in store.status()) if name == "all" else SETS.get(name, (name,))
        )
        wanted.update(dict.fromkeys(members))
    code = 0
    if "speech" in wanted:
        del wanted["speech"]
        wanted["silero-vad"] = None
        try:
            speech.prepare(say=(lambda _: None) if quiet else console.say)
        except FloorbenchError as error:
            code = console.fail(error)
    states = {a.name: a.state for a in store.status()}
    for name in wanted:
        there = states.get(name) in ("cached", "installed", "explicit")
        try:
            if not there:
                console.say(f"fetching {name} ...")
            path = store.get(name)
        except FloorbenchError as error:
            code = console.fail(error)
            continue
        if not (quiet and there):
            console.say(f"{name}: {path}")
    return code


def doctor_assets(*, json: bool = False) -> int:
    """Check every asset by hash and say the way out for those missing or broken.

    Exits 1 when one is broken; a missing one is no fault.

    Parameters
    ----------
    json
        Print JSON.
    """
    found = [*store.status(), *speech.status()]
    if json:
        console.data_json([_plain(a) for a in found])
    else:
        console.lines(
            f"{a.name}: {a.state}" + (f" - {a.detail}" if a.detail else "") for a in found
        )
    return 1 if any(a.state == "broken" for a in found) else 0


def doctor(*, json: bool = False) -> int:
    """Say what is installed, what is missing and what to do about it.

    Parameters
    ----------
    json
        Print JSON.
    """
    extras = [
        {
            "package": module,
            "installed": _installed(module),
            "extra": extra,
            "for": purpose,
        }
        for module, extra, purpose in OPTIONAL
    ]
    cache = store.cache_dir()
    nearest = next(p for p in (cache, *cache.parents) if p.exists())
    free = shutil.disk_usage(nearest).free
    facts = {
        "floorbench": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "numpy": importlib.metadata.version("numpy"),
        "soundfile": importlib.metadata.version("soundfile"),
        "cache": str(cache),
        "free_gb": round(free / 1e9, 1),
    }
    if json:
        assets = [_plain(a) for a in (*store.status(), *speech.status())]
        console.data_json({"facts": facts, "extras": extras, "assets": assets})
        return 0
    console.data(console.columns([(k, str(v)) for k, v in facts.items()], ("what", "value")))
    rows = [
        (
            str(e["package"]),
            "installed" if e["installed"] else f'pip install "floorbench[{e["extra"]}]"',
            str(e["for"]),
        )
        for e in extras
    ]
    console.data(console.columns(rows, ("optional package", "state", "needed for")))
    return doctor_assets()


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package above it is missing
        return False


def _plain(status: store.AssetStatus) -> dict[str, object]:
    return {
        "name": status.name,
        "state": status.state,
        "path": str(status.path) if status.path else None,
        "bytes": status.bytes,
        "licence": status.licence,
        "publisher": status.publisher,
        "detail": status.detail,
    }
