"""What the data card of a built CoDeTT set says of its parts: their makers and licences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from floorbench.build.pipeline.stage import Item
from floorbench.core.words import counted

TERMS = "its terms decide what may be done with what it made"
CORPUS = "the licence of these recordings is their corpus's; keep to it before you pass them on"


def of(items: Sequence[Item], chosen: Mapping[str, Any]) -> dict[str, str]:
    """Return the parts of a set with their makers and licences.

    Parameters
    ----------
    items : sequence of Item
        The finished ones.
    chosen : mapping
        All settings of the recipe.
    """
    return {
        "texts": texts(chosen["writer"], chosen["judge"]),
        "speech": speech(chosen["tts"], _voices(items)),
        "recogniser": recogniser(chosen["asr"]),
        "bursts": _bursts(items),
        "noise under speech": _under(items, "noise"),
        "babble under speech": _under(items, "babble"),
        "recordings": real(items),
    }


def texts(writer: Mapping[str, Any], judge: Mapping[str, Any]) -> str:
    """Return who wrote and who judged."""
    if writer.get("service") == "grammar":
        written = "embedded sentences (Apache-2.0)"
    else:
        written = f"written by {_named(writer, 'service')}; {TERMS}"
    return written + (f"; judged by {_named(judge, 'service')}" if judge else "; judged by rules")


def speech(tts: Mapping[str, Any], voices: Sequence[str]) -> str:
    """Return which voice model spoke, and its voices."""
    if tts.get("provider") == "kokoro":
        who = "synthetic, Kokoro-82M v1.0 as int8 ONNX (Apache-2.0 weights)"
    else:
        who = f"synthetic, {_named(tts, 'provider')}; {TERMS}"
    return f"{who}; voices: {', '.join(voices) or 'none'}"


def recogniser(asr: Mapping[str, Any]) -> str:
    """Return who listened."""
    if dict(asr) == {"provider": "whisper"}:
        return "whisper-base through faster-whisper (MIT)"
    return _named(asr, "provider")


def real(items: Iterable[Item]) -> str:
    """Return the real recordings that are in the set."""
    names = sorted({str(i.fields["family"]) for i in items if i.fields.get("origin") == "real"})
    if not names:
        return "none"
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"{', '.join(names[:20])}{more}; {CORPUS}"


def _named(given: Mapping[str, Any], kind: str) -> str:
    return f"{given.get('model') or 'its default model'} through {given.get(kind)}"


def _voices(items: Iterable[Item]) -> list[str]:
    return sorted({str(row["voice"]) for i in items for row in i.fields.get("speech") or ()})


def _bursts(items: Iterable[Item]) -> str:
    """Return what is heard alone, as its credits call it, with licences."""
    bursts = [sound["burst"] for sound in _sounds(items) if "burst" in sound]
    return ", ".join(sorted({f"{b['kind']} ({b['licence']})" for b in bursts})) or "none"


def _under(items: Iterable[Item], use: str) -> str:
    """Return how many recordings were mixed in, and their licences."""
    mixed = [sound[use] for sound in _sounds(items) if use in sound]
    names = {name for one in mixed for name in one["names"]}
    licences = sorted({licence for one in mixed for licence in one["licences"]})
    return f"{counted(len(names), 'recording')} ({', '.join(licences)})" if names else "none"


def _sounds(items: Iterable[Item]) -> list[Mapping[str, Any]]:
    return [item.fields.get("sound") or {} for item in items]
