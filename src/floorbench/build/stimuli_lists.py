"""Puts the turns of a set into lists: random order, a beep before each, and a reversed twin.

Turns are dealt longest first, each to the list that is shortest so far; the order inside a list
is random by seed. Every turn stands in one list only.

Source
------
Within-turn TRP prediction (2024), section 4.1 and appendix A: mutually exclusive lists of about
equal length in random order, an audible beep before every turn, and each list again in reverse.

Deviations
----------
Beep (150 ms at 1 kHz) and silences are not given in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from floorbench import codec
from floorbench.audio.decode import decode, probe, resample
from floorbench.audio.ref import FileAudio
from floorbench.build.stimuli import AUDIO
from floorbench.core.time import to_samples
from floorbench.core.words import counted
from floorbench.datasets.trp_files import STIMULI, Stimulus, read_stimuli
from floorbench.datasets.trp_lists import LISTS, ListItem, Lists, StimulusList
from floorbench.errors import DataError, Place, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = "lists"
TAIL = 1.0
"""Seconds after a turn that still belong to its last slot; no beep may fall into them."""
BEEP, HERTZ, LEVEL, EDGE = 0.15, 1000.0, 0.25, 0.01


def make_lists(root: Path, *, count: int, seed: int, gap: float, after_beep: float = 0.5) -> Lists:
    """Write ``lists/*.wav`` and ``lists.json``, and each turn's list into ``stimuli.jsonl``.

    Parameters
    ----------
    root : Path
        Folder of a set with audio.
    count : int
        Number of lists, from 1 to the number of turns.
    seed : int
    gap : float
        Seconds of silence between a turn and the next beep, at least 1.
    after_beep : float
        Seconds of silence between a beep and its turn.

    Raises
    ------
    UsageError
        ``FB271`` for values outside these.
    DataError
        ``FB275`` for a turn without audio, or shorter audio than its words.
    """
    import numpy as np

    stimuli = read_stimuli(root / STIMULI)
    if not 1 <= count <= len(stimuli):
        raise UsageError("FB271", f"{counted(count, 'list')} of {counted(len(stimuli), 'turn')}")
    if gap < TAIL or after_beep < 0:
        raise UsageError(
            "FB271", f"gap is {gap} s, after_beep {after_beep} s", hint="gap >= 1, after_beep >= 0"
        )
    random = np.random.default_rng(seed)
    orders = _deal(stimuli, count, random)
    rate = max(probe(_audio_of(root, s)).rate for s in stimuli)
    (root / FOLDER).mkdir(exist_ok=True)
    made = []
    for name, order in orders.items():
        for backwards in (False, True):
            heard = order[::-1] if backwards else order
            made.append(_assemble(root, name, heard, backwards, rate, gap, after_beep))
    lists = Lists(
        seed=seed,
        rules={
            "beep": BEEP,
            "hertz": HERTZ,
            "level": LEVEL,
            "after_beep": after_beep,
            "gap": gap,
            "count": count,
        },
        lists=tuple(made),
    )
    (root / LISTS).write_text(codec.encode_pretty(lists), encoding="utf-8")
    listed = {s.id: name for name, order in orders.items() for s in order}
    lines = (codec.encode(replace(s, list=listed[s.id])) + b"\n" for s in stimuli)
    (root / STIMULI).write_bytes(b"".join(lines))
    return lists


def beep(rate: int) -> NDArray[np.float32]:
    """Return the beep: a sine with 10 ms raised-cosine edges."""
    import numpy as np

    time = np.arange(to_samples(BEEP, rate)) / rate
    edge = np.clip(np.minimum(time, BEEP - time) / EDGE, 0.0, 1.0)
    tone = LEVEL * np.sin(2 * np.pi * HERTZ * time) * (0.5 - 0.5 * np.cos(np.pi * edge))
    out: NDArray[np.float32] = tone.astype(np.float32)
    return out


def _deal(
    stimuli: Sequence[Stimulus], count: int, random: np.random.Generator
) -> Mapping[str, list[Stimulus]]:
    names = [_name(i) for i in range(count)]
    piles: dict[str, list[Stimulus]] = {name: [] for name in names}
    length = dict.fromkeys(names, 0.0)
    for stimulus in sorted(stimuli, key=lambda s: (-s.turn_end, s.id)):
        shortest = min(names, key=lambda n: (length[n], n))
        piles[shortest].append(stimulus)
        length[shortest] += stimulus.turn_end
    return {
        name: [pile[i] for i in random.permutation(len(pile)).tolist()]
        for name, pile in piles.items()
    }


def _name(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"L{number + 1}"


def _assemble(
    root: Path,
    name: str,
    order: Sequence[Stimulus],
    backwards: bool,
    rate: int,
    gap: float,
    after_beep: float,
) -> StimulusList:
    import numpy as np
    import soundfile

    tone = beep(rate)
    pause = np.zeros(to_samples(after_beep, rate), dtype=np.float32)
    silence = np.zeros(to_samples(gap, rate), dtype=np.float32)
    parts: list[NDArray[np.float32]] = []
    items, at = [], 0
    for stimulus in order:
        turn = _turn_audio(root, stimulus, rate)
        start = at + len(tone) + len(pause)
        end = start + len(turn)
        parts += [tone, pause, turn, silence]
        items.append(
            ListItem(stimulus=stimulus.id, beep=at, start=start, end=end, stop=end + len(silence))
        )
        at = end + len(silence)
    file = f"{FOLDER}/{name}{'-reversed' if backwards else ''}.wav"
    soundfile.write(root / file, np.concatenate(parts), rate, subtype="PCM_16")
    return StimulusList(
        name=name,
        reversed=backwards,
        audio=file,
        rate=rate,
        frames=at,
        pcm=FileAudio(root / file).digest(),
        items=tuple(items),
    )


def _turn_audio(root: Path, stimulus: Stimulus, rate: int) -> NDArray[np.float32]:
    path = _audio_of(root, stimulus)
    info = probe(path)
    if info.frames < to_samples(stimulus.turn_end, info.rate) - 1:
        raise DataError(
            "FB275",
            f"the audio is {info.frames / info.rate:.3f} s, the turn {stimulus.turn_end} s long",
            where=Place(str(path), item=stimulus.id),
        )
    samples = decode(path, start=0, stop=info.frames, channel=None)
    return resample(samples, source=info.rate, target=rate)


def _audio_of(root: Path, stimulus: Stimulus) -> Path:
    for suffix in (".wav", ".flac", ".opus", ".ogg"):
        path = root / AUDIO / f"{stimulus.id}{suffix}"
        if path.is_file():
            return path
    raise DataError(
        "FB275",
        f"there is no {AUDIO}/{stimulus.id}.wav",
        where=Place(str(root), item=stimulus.id),
        hint="Lists are heard: cut the turns again with --audio, or put the files there.",
    )
