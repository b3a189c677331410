"""Cuts two-channel calls at the pauses of one side, as labelled clips for turn detectors.

A clip is what a detector hears when it is asked: one channel, from where the turn begins to so
many seconds of silence after its last word. The folder is a set of labelled clips like any other
(``labels.tsv`` beside ``audio/``), with the call as cluster, so that intervals resample calls.

Whole turns are cut in the same way: a clip then goes on for some seconds after the last word, with
its pauses inside, and the table says where that word ends. A stream is asked about these.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from floorbench import codec
from floorbench.audio.ref import FileAudio
from floorbench.core.time import Ticks, from_ticks, to_ticks
from floorbench.core.vocab import Role
from floorbench.datasets.manifest import MANIFEST
from floorbench.datasets.new_folder import new_folder, taken
from floorbench.datasets.two_channel import TwoChannelSource
from floorbench.datasets.two_channel_check import check_channels
from floorbench.datasets.two_channel_session import FAULTS, UNTIMED, TwoChannelSession
from floorbench.errors import DataError, EnvironmentProblem, Place, UsageError
from floorbench.events.pauses import Pause, PauseRules, pauses
from floorbench.events.tokens import is_speech
from floorbench.stats.streams import generator

TABLE = "labels.tsv"
AUDIO = "audio"
NO_SOUND = "the recording ends before"
COLUMNS = ("path", "label", "language", "cluster", "text", "end", "side", "turn", "pause", "next")
AGAIN = "make room or another folder, and cut again"
NOTICE = "Labels are what happened next in the calls; nobody has judged the pauses by ear."
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST_NAME = 100
_UNSPACED = ("zh", "ja", "th")


@dataclass(frozen=True, slots=True, kw_only=True)
class CutReport:
    """One folder of clips: where it is, how many clips of each label, and what was left out.

    ``faults`` counts lines of the annotations that could not be read and words without times, by
    these names: a word that is not there can make a pause, or move one.
    """

    folder: Path
    calls: int
    labels: dict[str, int]
    left_out: dict[str, int]
    faults: dict[str, int]


def cut_calls(
    source: TwoChannelSource,
    out: Path,
    *,
    rules: PauseRules,
    sides: Sequence[Role] = (Role.USER,),
    context: float = 30.0,
    lead: float = 0.2,
    turns: bool = False,
    tail: float = 3.0,
    dev: float | None = None,
    seed: int = 0,
    licence: str = "unknown",
) -> list[CutReport]:
    """Write the pauses or the whole turns of calls as clips.

    Parameters
    ----------
    source : TwoChannelSource
        Calls with sound.
    out : Path
        New folder.
    rules : PauseRules
    sides : sequence of Role
        Whose pauses.
    context : float
        The clip of a pause is at most this long in seconds; it is shortened at its beginning.
    lead : float
        Seconds of sound kept before the turn begins.
    turns : bool
        Whole turns instead of pauses: those that the other side answered.
    tail : float
        Seconds that the clip of a turn goes on after its last word, at most until the same side
        speaks again. Above 0.
    dev : float or None
        Share of the calls, above 0 and below 1, that goes to the folder ``dev``; the others go
        to ``test``. ``None`` makes one folder.
    seed : int
        Draws which calls.
    licence : str
        What the calls may be used for; goes into the manifest.

    Returns
    -------
    list of CutReport
        One a folder.

    Raises
    ------
    UsageError
        ``FB103`` for values outside these, ``FB278`` when the folder is not new;
        ``FB503`` when another process writes it.
    DataError
        ``FB278`` for a call without sound, and when a folder would get no clip; ``FB279`` for a
        call whose channels are swapped, by their levels.
    EnvironmentProblem
        ``FB504`` when the folder cannot be written; nothing of it is left then.
    """
    if not 0 <= lead < context < math.inf:
        raise UsageError("FB103", f"lead={lead} is not from 0 to below context={context}, in s")
    if not 0 < tail <= 60:
        raise UsageError("FB103", f"tail={tail} is not above 0 and at most 60 s")
    folders = _folders(source.ids, dev, seed)
    _refuse(out, source.path)
    ways = _Ways(rules, tuple(sides), context, lead, tail if turns else None)
    try:
        with new_folder(out, suffix=".cut") as partial:
            return [
                _cut(source, ids, ways, partial / name, name, out / name, licence)
                for name, ids in folders.items()
            ]
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        raise EnvironmentProblem("FB504", what, where=Place(str(out)), hint=AGAIN) from None


class _Ways(NamedTuple):
    """How calls are cut; ``tail`` of whole turns only."""

    rules: PauseRules
    sides: tuple[Role, ...]
    context: float
    lead: float
    tail: float | None


def _refuse(out: Path, calls: Path) -> None:
    where = Place(str(out))
    if (out / TABLE).exists():
        raise UsageError("FB278", "there are clips already", where=Place(str(out / TABLE)))
    if taken(out):
        raise UsageError("FB278", "something is there already", where=where)
    if out.resolve() == Path.cwd() or os.path.ismount(out):
        what = "is the current folder or a mounted disk, and no new one"
        raise UsageError("FB278", what, where=where, hint="name a folder in it that is not there")
    if calls.resolve() in out.resolve().parents:
        what = f"lies inside the calls '{calls}', which would be others with it"
        raise UsageError("FB278", what, where=where)


def _cut(
    source: TwoChannelSource,
    ids: Sequence[str],
    ways: _Ways,
    folder: Path,
    part: str,
    final: Path,
    licence: str,
) -> CutReport:
    rows: list[dict[str, str]] = []
    left_out, faults = Counter[str](), Counter[str]()
    for session in (source.session(i) for i in ids):
        if check_channels(session).verdict == "swapped":
            what = f"the channels of '{session.id}' are swapped, by their levels"
            raise DataError("FB279", what, where=Place(str(source.path), item=session.id))
        faults.update({k: n for k, n in session.counted.items() if k in (FAULTS, UNTIMED)})
        for role in ways.sides:
            found, none = pauses(
                session.speech[role], session.speech[_other(role)], rules=ways.rules
            )
            left_out += none
            for pause in found:
                if ways.tail is not None and pause.label == "incomplete":
                    continue
                row = _write(session, role, pause, folder, *_edges(session, role, pause, ways))
                if row is None:
                    left_out[NO_SOUND] += 1
                else:
                    rows.append(row)
    if not rows:
        reasons = "; ".join(f"{why}: {n}" for why, n in sorted(left_out.items()))
        raise DataError(
            "FB278",
            f"no pause of {' and '.join(ways.sides)} has a label ({reasons or 'no speech'})",
            where=Place(str(source.path)),
        )
    _finish(folder, part, rows, source, ways, licence)
    return CutReport(
        folder=final,
        calls=len(ids),
        labels=dict(Counter(row["label"] for row in rows)),
        left_out=dict(left_out),
        faults=dict(faults),
    )


def _folders(ids: Sequence[str], dev: float | None, seed: int) -> dict[str, list[str]]:
    if dev is None:
        return {"": list(ids)}
    if not 0 < dev < 1:
        raise UsageError("FB103", f"dev={dev} is not above 0 and below 1")
    if len(ids) < 2:
        raise UsageError("FB103", f"{len(ids)} call cannot be divided into dev and test")
    order = generator(seed, "call-clips", "dev").permutation(len(ids)).tolist()
    size = min(max(round(dev * len(ids)), 1), len(ids) - 1)
    return {
        "dev": sorted(ids[i] for i in order[:size]),
        "test": sorted(ids[i] for i in order[size:]),
    }


def _other(role: Role) -> Role:
    return Role.SYSTEM if role is Role.USER else Role.USER


def _edges(
    session: TwoChannelSession, role: Role, pause: Pause, ways: _Ways
) -> tuple[Ticks, Ticks]:
    start = max(0, pause.turn - to_ticks(ways.lead))
    if ways.tail is None:
        end = pause.end + to_ticks(ways.rules.silence)
        return max(start, end - to_ticks(ways.context)), end
    starts = session.speech[role][:, 0]
    again = starts[starts > pause.end]
    return start, min([pause.end + to_ticks(ways.tail), *again[:1].tolist()])


def _write(
    session: TwoChannelSession,
    role: Role,
    pause: Pause,
    folder: Path,
    start: Ticks,
    end: Ticks,
) -> dict[str, str] | None:
    import soundfile

    if role not in session.audio:
        raise DataError(
            "FB278", "the call has no sound", where=Place(item=session.id),
            hint="a stereo file of the call's name beside its annotation",
        )  # fmt: skip
    audio = session.audio[role]
    if end > to_ticks(audio.frames / audio.rate):
        return None
    samples = audio.read(start=from_ticks(start), end=from_ticks(end))
    name = f"{_safe(session.id)}-{role}-{pause.end // 1000:07d}.wav"
    target = folder / AUDIO / name
    target.parent.mkdir(parents=True, exist_ok=True)
    written = io.BytesIO()  # a full disk is an error of the operating system, not of the format
    soundfile.write(written, samples, audio.rate, format="WAV", subtype="PCM_16")
    target.write_bytes(written.getvalue())
    return {
        "path": f"{AUDIO}/{name}",
        "label": pause.label,
        "language": session.language,
        "cluster": session.id,
        "text": _text(session, role, pause),
        "end": f"{from_ticks(pause.end - start):.3f}",
        "side": str(role),
        "turn": f"{from_ticks(pause.turn):.3f}",
        "pause": f"{from_ticks(pause.end):.3f}",
        "next": f"{from_ticks(pause.next):.3f}",
    }


def _safe(call: str) -> str:
    """Return a name for files that no other call has; one that is changed tells by its hash."""
    name = _UNSAFE.sub("-", call)[:LONGEST_NAME]
    return name if name == call else f"{name}-{hashlib.sha256(call.encode()).hexdigest()[:8]}"


def _text(session: TwoChannelSession, role: Role, pause: Pause) -> str:
    said = [w.text for w in session.words.get(role, ()) if _within(w.start, pause)]
    blank = "" if session.language in _UNSPACED else " "
    return blank.join(" ".join(text.split()) for text in said if is_speech(text))


def _within(start: Ticks, pause: Pause) -> bool:
    return pause.turn <= start < pause.end


def _finish(
    folder: Path,
    part: str,
    rows: Sequence[dict[str, str]],
    source: TwoChannelSource,
    ways: _Ways,
    licence: str,
) -> None:
    rules = {**asdict(ways.rules), "lead": ways.lead}
    rules |= {"context": ways.context} if ways.tail is None else {"turns": True, "tail": ways.tail}
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, COLUMNS, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    (folder / TABLE).write_text(table.getvalue(), encoding="utf-8")
    manifest = {
        "name": f"{source.name}-{'turns' if 'turns' in rules else 'pauses'}{part and f'-{part}'}",
        "version": "1",
        "licence": licence,
        "notices": [NOTICE],
        "pcm": {row["path"]: FileAudio(folder / row["path"]).digest() for row in rows},
        "made_by": {"recipe": "floorbench.build.call_clips 1", "rules": rules},
    }
    (folder / MANIFEST).write_text(codec.encode_pretty(manifest), encoding="utf-8")
