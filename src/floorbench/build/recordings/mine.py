"""The mining stage and the gate that lets only reviewed candidates through."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from floorbench import codec
from floorbench.build.pipeline.stage import (
    Bench,
    Gathered,
    Item,
    Made,
    Outcome,
    Rejected,
)
from floorbench.build.recordings.candidates import Candidate, MiningRules, candidates
from floorbench.core.sample import JsonValue
from floorbench.core.time import Ticks, from_ticks
from floorbench.core.vocab import Role
from floorbench.datasets.layout import data_files
from floorbench.datasets.open import open_dataset
from floorbench.datasets.two_channel import TwoChannelSource
from floorbench.datasets.two_channel_session import TwoChannelSession
from floorbench.errors import DataError, Place, UsageError

ACCEPTED = "accept"
WHOLE, END = 1 << 20, 1 << 16


def sessions_of(path: Path, *, reader: str | None = None) -> TwoChannelSource:
    """Open a corpus of two-channel recordings in any format that has a reader.

    Raises
    ------
    UsageError
        FB886 when the dataset has no two-channel sessions.
    """
    source = open_dataset(path, reader=reader)
    if not isinstance(source, TwoChannelSource):
        raise UsageError("FB886", f"{path} is not a corpus of two-channel sessions")
    return source


def stamp(path: Path) -> str:
    """Return a digest of a corpus that changes with its files, wherever it lies.

    Names, sizes and contents count; of a file above 1 MiB only its two ends are read.
    """
    total = hashlib.sha256()
    for file in data_files(path) if path.is_dir() else [path]:
        try:
            with file.open("rb") as stream:
                size = stream.seek(0, 2)
                stream.seek(0)
                content = stream.read(WHOLE if size <= WHOLE else END)
                stream.seek(max(size - END, 0))
                content += stream.read(END)
        except OSError:  # a link to nowhere
            size, content = -1, b""
        name = file.relative_to(path).as_posix()
        total.update(codec.encode([name, size, hashlib.sha256(content).hexdigest()]))
    return total.hexdigest()


class Mine:
    """Turn a session (an item with the field ``session``) into candidates with audio.

    Each candidate is an item with the fields of a dialogue (``language``, ``state``, ``action``,
    ``scenario``, ``text``, ``history``), ``origin`` = ``real``, ``family`` = the session,
    ``speakers``, and ``mined``: session, channel, times and rule. A session without audio gives
    none: a label must be heard before it counts.

    Parameters
    ----------
    path : Path
    reader : str or None
    rules : MiningRules
    most : int
        Most candidates of one label per session, drawn with the item's seed.
    """

    name = "mine"
    version = 2
    deterministic = True

    def __init__(
        self, *, path: Path, reader: str | None, rules: MiningRules, most: int = 20
    ) -> None:
        self._path = path
        self._reader = reader
        self._rules = rules
        self._most = most
        self._source: TwoChannelSource | None = None

    def settings(self) -> Mapping[str, JsonValue]:
        """Return reader, rules, the number of candidates, and what the corpus holds."""
        return {
            "reader": self._reader,
            "rules": asdict(self._rules),
            "most": self._most,
            "corpus": stamp(self._path),
        }

    def start(self) -> None:
        """Find the sessions."""
        self._opened()

    def _opened(self) -> TwoChannelSource:
        if self._source is None:
            self._source = sessions_of(self._path, reader=self._reader)
        return self._source

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Mine one session."""
        source = self._opened()
        session = source.session(str(item.fields["session"]))
        if not session.audio:
            return Rejected(reason="no-audio", detail=f"session {session.id} has no audio here")
        rng = bench.rng
        of_label: dict[str, list[Candidate]] = {}
        for candidate in candidates(session, self._rules):
            if candidate.role in session.audio:
                of_label.setdefault(candidate.intent.label, []).append(candidate)
        chosen: list[Candidate] = []
        for label in sorted(of_label):
            pool = of_label[label]
            picks = rng.choice(len(pool), size=min(self._most, len(pool)), replace=False)
            chosen += [pool[i] for i in sorted(picks)]
        if not chosen:
            return Rejected(reason="no-candidate", detail=f"no rule fits in session {session.id}")
        faults = dict(session.counted)
        bench.note("recording", session=session.id, reader=source.reader, faults=faults)
        return Made(items=tuple(_item(session, c, bench) for c in chosen))


class Reviewed:
    """Let real candidates through that reviewers accepted under their label; synthetic ones pass.

    Parameters
    ----------
    verdicts : Path or None
        What ``floorbench review --export`` wrote: JSONL with ``id``, ``verdict`` (``accept`` or
        ``reject``).
    """

    name = "reviewed"
    version = 1
    deterministic = True

    def __init__(self, *, verdicts: Path | None) -> None:
        self._verdicts = {} if verdicts is None else read_verdicts(verdicts)

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the verdicts."""
        return {"verdicts": dict(sorted(self._verdicts.items()))}

    def gather(self, items: Sequence[Item]) -> Gathered:
        """Keep what was accepted."""
        kept, rejected = [], {}
        for item in items:
            verdict = self._verdicts.get(item.id)
            if verdict == ACCEPTED or (
                verdict is None and item.fields.get("origin", "syn") != "real"
            ):
                kept.append(item)
            elif verdict is None:
                rejected[item.id] = Rejected(
                    reason="unreviewed", detail="nobody has heard this candidate yet"
                )
            else:
                rejected[item.id] = Rejected(reason="review", detail=f"the reviewers say {verdict}")
        return Gathered(items=tuple(kept), rejected=rejected)


def read_verdicts(path: Path) -> dict[str, str]:
    """Return item id to verdict.

    Raises
    ------
    DataError
        FB887 for a missing file, a broken line, an unknown verdict or an item with two of them.
    """
    verdicts: dict[str, str] = {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError("FB887", f"cannot read: {error}", where=Place(str(path))) from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = Place(str(path), number)
        try:
            row = codec.parse(line)
            name, verdict = row["id"], row["verdict"]
        except DataError as error:
            raise DataError("FB887", error.what, where=place) from None
        except (KeyError, TypeError):
            raise DataError("FB887", "no object with 'id' and 'verdict'", where=place) from None
        if not isinstance(name, str):
            raise DataError("FB887", f"the id {str(name)[:40]!r} is no text", where=place)
        if verdict not in (ACCEPTED, "reject"):
            raise DataError("FB887", f"{verdict!r} is not accept or reject", where=place)
        if verdicts.setdefault(str(name), verdict) != verdict:
            raise DataError("FB887", f"item {name!r} has two verdicts", where=place)
    return verdicts


def _item(session: TwoChannelSession, found: Candidate, bench: Bench) -> Item:
    # One span may be proposed for a label of either state; the state tells no label.
    state = found.intent.state.removeprefix("System").lower()
    span = f"{found.start // 1000:07d}-{found.end // 1000:07d}"
    name = f"{session.id}-{found.role}-{state}-{span}"
    audio = {"target": _kept(session, found.role, found.start, found.end, bench)}
    history: list[JsonValue] = []
    for number, (own, answer) in enumerate(found.history, start=1):
        audio[f"history-{number}-user"] = _kept(session, found.role, own.start, own.end, bench)
        history.append({"user": own.text, "assistant": answer.text})
    speaker = session.speakers.get(found.role) or f"{session.id}-{found.role}"
    return Item(
        id="".join(c if c.isalnum() or c in "-_." else "_" for c in name),
        fields={
            "language": session.language,
            "state": found.intent.state,
            "action": found.intent.action,
            "scenario": found.intent.scenario,
            "text": found.text,
            "history": history,
            "origin": "real",
            "family": session.id,
            "speakers": [speaker],
            "mined": {
                "session": session.id,
                "channel": str(found.role),
                "start_s": from_ticks(found.start),
                "end_s": from_ticks(found.end),
                "rule": found.rule,
            },
        },
        audio=audio,
    )


def _kept(session: TwoChannelSession, role: Role, start: Ticks, end: Ticks, bench: Bench) -> str:
    audio = session.audio[role]
    last = min(from_ticks(end), audio.frames / audio.rate)
    return bench.keep(audio.read(start=from_ticks(start), end=last), audio.rate)
