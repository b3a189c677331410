"""Cuts stimulus turns out of recordings and their word times, as an unlabelled TRP set.

The set holds ``stimuli.jsonl`` (words on each turn's own clock), ``audio/ID.wav`` where there is
a recording, and ``manifest.json`` with the rules, the sources' hashes and what was left out. It
has no listeners yet. Remove lines from ``stimuli.jsonl`` that you do not want, then make lists.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from floorbench import codec, formats
from floorbench.audio.decode import Channel, decode, probe
from floorbench.audio.ref import FileAudio
from floorbench.build.stimuli_turns import (
    HESITATIONS,
    OPEN,
    Turn,
    TurnRules,
    completions,
    fault,
    floor_turns,
    marked_turns,
    tier_named,
    words_of,
)
from floorbench.core.time import to_samples
from floorbench.datasets.layout import files_below
from floorbench.datasets.manifest import MANIFEST
from floorbench.datasets.trp_files import STIMULI, SpokenWord, Stimulus
from floorbench.datasets.two_channel_naming import by_session
from floorbench.errors import DataError, Place, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AUDIO = "audio"
SOUNDS = (".wav", ".sph", ".flac", ".ogg", ".opus", ".mp3")
FADE = 0.005
"""Seconds of raised cosine at both ends of a cut."""
_SIDE = re.compile(r"(?P<call>sw\d+)(?P<side>[AB])-ms98-a-word\.text")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class Recording(NamedTuple):
    """One conversation side to cut from.

    Parameters
    ----------
    name : str
        The conversation.
    turns : list of Turn
    files : tuple of Path
        Annotation files, for the record.
    audio : Path or None
    channel : int, "mix" or None
    """

    name: str
    turns: list[Turn]
    files: tuple[Path, ...]
    audio: Path | None = None
    channel: Channel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CutReport:
    """What :func:`cut` found: turns taken, and turns left out by reason."""

    taken: int
    left_out: Mapping[str, int]
    with_audio: int


def marked(
    annotation: Path,
    *,
    words: str,
    turns: str | None,
    other: str | None,
    rules: TurnRules,
    audio: Path | None,
    channel: Channel | None,
    speaker: str | None = None,
) -> Recording:
    """Read one annotation file of any format.

    Parameters
    ----------
    annotation : Path
    words : str
        Tier with the speaker's words.
    turns : str or None
        Tier with one entry per turn; ``None`` derives turns by the floor rule.
    other : str or None
        Tier with the other side's words, for the floor rule.
    rules : TurnRules
    audio : Path or None
        The recording, or a folder with one named like the annotation.
    channel : int, "mix" or None
    speaker : str or None
        By default the tier's speaker, or its name.

    Raises
    ------
    UsageError
        ``FB271`` without a way to turns.
    DataError
        ``FB272`` to ``FB274``, and what reading the file raises.
    """
    if (turns is None) == (other is None):
        raise UsageError(
            "FB271", "name either the tier that marks turns or the tier of the other side's words"
        )
    document = formats.read(annotation)
    where = str(annotation)
    spoken = tier_named(document, words, where=where)
    found = words_of(spoken, where=where)
    who = speaker or spoken.speaker or spoken.name
    if turns is not None:
        marks = tier_named(document, turns, where=where)
        made = list(marked_turns(marks, found, speaker=who, where=where))
    else:
        beside = words_of(tier_named(document, other or "", where=where), where=where)
        made = list(floor_turns(found, beside, speaker=who, rules=rules))
    stem = annotation.name.partition(".")[0]
    return Recording(stem, made, (annotation,), _sound(audio, stem), channel)


def ms98(folder: Path, *, rules: TurnRules, audio: Path | None = None) -> Iterator[Recording]:
    """Yield both sides of every call of a folder of ISIP word files, turns by the floor rule.

    Parameters
    ----------
    folder : Path
        With ``swNNNNA-ms98-a-word.text`` and ``swNNNNB-...`` at any depth.
    rules : TurnRules
    audio : Path or None
        Folder with one two-channel file per call, named ``swNNNN`` or ``sw0NNNN``; side A is
        channel 0. A call without a recording gives turns without audio.

    Raises
    ------
    DataError
        ``FB211`` without a call of which both sides are there, ``FB258`` when one is there twice.
    """
    named = ((_SIDE.fullmatch(p.name), p) for p in files_below(folder, (".text",)))
    sides = by_session((found["call"], found["side"], path) for found, path in named if found)
    calls = {call: files for call, files in sides.items() if len(files) == 2}
    if not calls:
        raise DataError(
            "FB211", "no call with both sides as ISIP word files here", where=Place(str(folder))
        )
    for call, files in calls.items():
        words = {
            side: words_of(formats.read(path, format="ms98").tiers[0], where=str(path))
            for side, path in files.items()
        }
        sound = _sound(audio, call, call.replace("sw", "sw0"))
        for side, beside in (("A", "B"), ("B", "A")):
            yield Recording(
                call,
                list(floor_turns(words[side], words[beside], speaker=side, rules=rules)),
                (files[side], files[beside]),
                sound,
                "AB".index(side) if sound is not None else None,
            )


def cut(
    recordings: Sequence[Recording],
    out: Path,
    *,
    rules: TurnRules,
    lead: float,
    language: str,
    licence: str,
    sample: int | None = None,
    seed: int = 0,
) -> CutReport:
    """Write the turns that the rules let through as an unlabelled set.

    Parameters
    ----------
    recordings : sequence of Recording
    out : Path
        Folder of the set; must not hold one yet.
    rules : TurnRules
    lead : float
        Seconds of the recording kept before a turn; its clock starts there.
    language : str
    licence : str
        What the recordings may be used for; goes into the manifest.
    sample : int or None
        So many of the turns, drawn with ``seed``.

    Raises
    ------
    UsageError
        ``FB276`` when the folder holds a set; ``FB271`` when no turn passes the rules.
    """
    import numpy as np

    if (out / STIMULI).exists():
        raise UsageError("FB276", "there is a set already", where=Place(str(out / STIMULI)))
    if lead < 0:
        raise UsageError("FB271", f"lead is {lead} s; it is 0 or more")
    left_out: Counter[str] = Counter()
    taken: list[tuple[Recording, Turn]] = []
    for recording in recordings:
        for turn in recording.turns:
            why = fault(turn, rules)
            if why is not None:
                left_out[why] += 1
            else:
                taken.append((recording, turn))
    if not taken:
        reasons = "; ".join(f"{why}: {count}" for why, count in left_out.items()) or "no turns"
        raise UsageError("FB271", f"no turn passes the rules ({reasons})")
    if sample is not None and sample < len(taken):
        chosen = np.random.default_rng(seed).choice(len(taken), size=sample, replace=False)
        left_out["not drawn"] += len(taken) - sample
        taken = [taken[i] for i in sorted(chosen.tolist())]
    out.mkdir(parents=True, exist_ok=True)
    stimuli, pcm, candidates = [], {}, {}
    for recording, turn in taken:
        begin = max(Decimal(0), turn.start - Decimal(str(lead)))
        stimulus = _stimulus(recording, turn, begin, language)
        stimuli.append(stimulus)
        candidates[stimulus.id] = completions(turn, rules)
        if recording.audio is not None:
            file = f"{AUDIO}/{stimulus.id}.wav"
            _write_cut(recording.audio, recording.channel, begin, turn.end, out / file)
            pcm[file] = FileAudio(out / file).digest()
    (out / STIMULI).write_bytes(b"".join(codec.encode(s) + b"\n" for s in stimuli))
    manifest: dict[str, Any] = {
        "name": out.resolve().name,
        "version": "1",
        "licence": licence,
        "notices": ["Turns proposed by a rule, not chosen by experts; no listener has heard them."],
        "ranks": False,
        "pcm": pcm,
        "made_by": {
            "recipe": "floorbench.build.stimuli 1",
            "rules": asdict(rules),
            "lead": lead,
            "sample": sample,
            "seed": seed,
            "words_after_which_a_phrase_goes_on": codec.digest(sorted(OPEN | HESITATIONS)),
            "possible_completions": candidates,
            "left_out": dict(sorted(left_out.items())),
            "sources": _sources(recordings),
        },
    }
    (out / MANIFEST).write_text(codec.encode_pretty(manifest), encoding="utf-8")
    return CutReport(taken=len(taken), left_out=dict(left_out), with_audio=len(pcm))


def _stimulus(recording: Recording, turn: Turn, begin: Decimal, language: str) -> Stimulus:
    name = _UNSAFE.sub("-", f"{recording.name}-{turn.speaker}")
    return Stimulus(
        id=f"{name}-{int(turn.start * 1000):07d}",
        list="A",
        words=tuple(
            SpokenWord(
                text=w.text, start=float(w.start - begin), end=float(w.end - begin), mark=w.mark
            )
            for w in turn.words
        ),
        turn_end=float(turn.end - begin),
        conversation=recording.name,
        speaker=turn.speaker,
        offset=float(begin),
        language=language,
    )


def _write_cut(
    audio: Path, channel: Channel | None, begin: Decimal, end: Decimal, target: Path
) -> None:
    import soundfile

    info = probe(audio)
    first, last = to_samples(begin, info.rate), to_samples(end, info.rate)
    if last > info.frames:
        raise DataError(
            "FB274",
            f"a turn ends at {end} s, the recording at {info.frames / info.rate:.3f} s",
            where=Place(str(audio)),
            hint="Check that annotation and recording belong together.",
        )
    samples = faded(decode(audio, start=first, stop=last, channel=channel), rate=info.rate)
    target.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(target, samples, info.rate, subtype="PCM_16")


def faded(samples: NDArray[np.float32], *, rate: int) -> NDArray[np.float32]:
    """Return a copy whose first and last 5 ms rise and fall, so that a cut does not click."""
    import numpy as np

    out = samples.copy()
    size = min(to_samples(FADE, rate), len(out) // 2)
    if size:
        ramp = (0.5 - 0.5 * np.cos(np.pi * (np.arange(size) + 0.5) / size)).astype(np.float32)
        out[:size] *= ramp
        out[-size:] *= ramp[::-1]
    return out


def _sound(audio: Path | None, *stems: str) -> Path | None:
    if audio is None or not audio.is_dir():
        return audio
    wanted = [f"{stem}{suffix}" for stem in stems for suffix in SOUNDS]
    return next((audio / name for name in wanted if (audio / name).is_file()), None)


def _sources(recordings: Sequence[Recording]) -> dict[str, str]:
    """Return name -> SHA-256 of every file cut from; paths stay on this machine."""
    out: dict[str, str] = {}
    for recording in recordings:
        audio = () if recording.audio is None else (recording.audio,)
        for path in (*recording.files, *audio):
            if path.name not in out:
                with path.open("rb") as file:
                    out[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return dict(sorted(out.items()))
