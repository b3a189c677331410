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
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.audio.ref import FileAudio
from floorbench.core.time import Ticks, from_ticks, to_ticks
from floorbench.core.vocab import Role
from floorbench.datasets.manifest import MANIFEST
from floorbench.datasets.two_channel import TwoChannelSource
from floorbench.datasets.two_channel_check import check_channels
from floorbench.datasets.two_channel_session import TwoChannelSession
from floorbench.errors import DataError, Place, UsageError
from floorbench.events.pauses import Pause, PauseRules, pauses
from floorbench.events.tokens import is_speech
from floorbench.stats.streams import generator

TABLE = "labels.tsv"
AUDIO = "audio"
NO_SOUND = "the recording ends before"
COLUMNS = ("path", "label", "language", "cluster", "text", "end", "side", "turn", "pause", "next")
NOTICE = "Labels are what happened next in the calls; nobody has judged the pauses by ear."
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_UNSPACED = ("zh", "ja", "th")


@dataclass(frozen=True, slots=True, kw_only=True)
class CutReport:
    """One folder of clips: where it is, how many clips of each label, and what was left out."""

    folder: Path
    calls: int
    labels: dict[str, int]
    left_out: dict[str, int]


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
        ``FB103`` for values outside these, ``FB278`` when the folder holds clips already.
    DataError
        ``FB278`` for a call without sound, and when a folder would get no clip; ``FB279`` for a
        call whose channels are swapped, by their levels.
    """
    if not 0 <= lead < context:
        raise UsageError("FB103", f"lead={lead} is not from 0 to below context={context}")
    if not 0 < tail <= 60:
        raise UsageError("FB103", f"tail={tail} is not above 0 and at most 60 s")
    folders = _folders(source.ids, dev, seed)
    made = []
    cut: dict[str, list[dict[str, str]]] = {}
    for name in folders:
        if (out / name / TABLE).exists():
            where = Place(str(out / name / TABLE))
            raise UsageError("FB278", "there are clips already", where=where)
    for name, ids in folders.items():
        folder, left_out = out / name, Counter[str]()
        rows: list[dict[str, str]] = []
        stems = _stems(ids)
        for session in (source.session(i) for i in ids):
            if check_channels(session).verdict == "swapped":
                what = f"the channels of '{session.id}' are swapped, by their levels"
                raise DataError("FB279", what, where=Place(str(source.path), item=session.id))
            for role in sides:
                found, none = pauses(
                    session.speech[role], session.speech[_other(role)], rules=rules
                )
                left_out += none
                for pause in found:
                    if turns and pause.label == "incomplete":
                        continue
                    start, end = _edges(pause, rules, context, lead)
                    if turns:
                        start, end = _turn_edges(session, role, pause, lead, tail)
                    row = _write(session, role, pause, folder, stems[session.id], start, end)
                    if row is None:
                        left_out[NO_SOUND] += 1
                    else:
                        rows.append(row)
        if not rows:
            reasons = "; ".join(f"{why}: {n}" for why, n in sorted(left_out.items()))
            raise DataError(
                "FB278",
                f"no pause of {' and '.join(sides)} has a label ({reasons or 'no speech'})",
                where=Place(str(source.path)),
            )
        cut[name] = rows
        labels = Counter(row["label"] for row in rows)
        made.append(
            CutReport(folder=folder, calls=len(ids), labels=dict(labels), left_out=dict(left_out))
        )
    made_by = {**asdict(rules), "lead": lead}
    made_by |= {"turns": True, "tail": tail} if turns else {"context": context}
    for name, table in cut.items():  # all or none: a call may have been refused
        _finish(out / name, table, source, made_by, licence)
    return made


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


def _stems(ids: Sequence[str]) -> dict[str, str]:
    """Return what the files of each call begin with: plain letters, another for every call."""
    stems = {i: _UNSAFE.sub("-", i) for i in ids}
    often = Counter(stems.values())
    return {
        i: stem if often[stem] == 1 else f"{stem}-{hashlib.sha256(i.encode()).hexdigest()[:8]}"
        for i, stem in stems.items()
    }


def _other(role: Role) -> Role:
    return Role.SYSTEM if role is Role.USER else Role.USER


def _edges(pause: Pause, rules: PauseRules, context: float, lead: float) -> tuple[Ticks, Ticks]:
    end = pause.end + to_ticks(rules.silence)
    return max(0, pause.turn - to_ticks(lead), end - to_ticks(context)), end


def _turn_edges(
    session: TwoChannelSession, role: Role, pause: Pause, lead: float, tail: float
) -> tuple[Ticks, Ticks]:
    starts = session.speech[role][:, 0]
    again = starts[starts > pause.end]
    end = pause.end + to_ticks(tail)
    return max(0, pause.turn - to_ticks(lead)), min([end, *again[:1].tolist()])


def _write(
    session: TwoChannelSession,
    role: Role,
    pause: Pause,
    folder: Path,
    stem: str,
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
    name = f"{stem}-{role}-{pause.end // 1000:07d}.wav"
    target = folder / AUDIO / name
    target.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(target, samples, audio.rate, subtype="PCM_16")
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


def _text(session: TwoChannelSession, role: Role, pause: Pause) -> str:
    said = [w.text for w in session.words.get(role, ()) if _within(w.start, pause)]
    blank = "" if session.language in _UNSPACED else " "
    return blank.join(" ".join(text.split()) for text in said if is_speech(text))


def _within(start: Ticks, pause: Pause) -> bool:
    return pause.turn <= start < pause.end


def _finish(
    folder: Path,
    rows: Sequence[dict[str, str]],
    source: TwoChannelSource,
    rules: dict[str, Any],
    licence: str,
) -> None:
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, COLUMNS, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    (folder / TABLE).write_text(table.getvalue(), encoding="utf-8")
    part = f"-{folder.name}" if folder.name in ("dev", "test") else ""
    manifest = {
        "name": f"{source.name}-{'turns' if 'turns' in rules else 'pauses'}{part}",
        "version": "1",
        "licence": licence,
        "notices": [NOTICE],
        "pcm": {row["path"]: FileAudio(folder / row["path"]).digest() for row in rows},
        "made_by": {"recipe": "floorbench.build.call_clips 1", "rules": rules},
    }
    (folder / MANIFEST).write_text(codec.encode_pretty(manifest), encoding="utf-8")
