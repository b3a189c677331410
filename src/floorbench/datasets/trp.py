"""Reader of within-turn TRP sets: every prefix of every stimulus turn is one sample.

The files are described in :mod:`floorbench.datasets.trp_files`.

Notes
-----
Sample ids are ``STIMULUS#SLOT``, slots counted from 1: slot i is the place after word i. Cluster:
the conversation where it is known, else the stimulus. A set without listeners can be run, not
scored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from floorbench import codec
from floorbench.core.sample import JsonValue, Observation, Sample, Word
from floorbench.core.time import Span, to_ticks
from floorbench.core.vocab import Role
from floorbench.core.words import counted
from floorbench.datasets.manifest import Manifest, read_manifest
from floorbench.datasets.trp_files import STIMULI, Panel, Stimulus, read_panels, read_stimuli
from floorbench.errors import DataError, Place

MARKS = frozenset(".?!,;:…。？！，；：")


class TrpSource:
    """A folder with stimuli and, if they were collected, responses.

    Parameters
    ----------
    path : str or Path
        The folder.
    split : str or None
        Only the stimuli of one split, for example to set a threshold on ``dev`` and read it on
        ``test``.
    name : str or None
    located : str or None
        What the locator is to say instead of the path.

    Raises
    ------
    DataError
        ``FB211`` without stimuli, or without any in the split; and what the files say.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        split: str | None = None,
        name: str | None = None,
        located: str | None = None,
    ) -> None:
        self.root = Path(path)
        if not (self.root / STIMULI).is_file():
            raise DataError("FB211", f"no {STIMULI} here", where=Place(str(path)))
        everything = read_stimuli(self.root / STIMULI)
        panels = read_panels(self.root, everything)
        self.panels: dict[str, Panel] | None = panels
        self.split = split
        self.stimuli: tuple[Stimulus, ...] = tuple(
            s for s in everything if split is None or s.split == split
        )
        if not self.stimuli:
            splits = sorted({s.split for s in everything if s.split is not None})
            known = f"splits: {', '.join(splits)}" if splits else "the stimuli name no split"
            raise DataError("FB211", f"no stimulus in split {split!r}", hint=known)
        self.manifest: Manifest | None = read_manifest(self.root)
        self.name = name or (self.manifest.name if self.manifest else self.root.resolve().name)
        self._lists = sorted({s.list for s in self.stimuli})
        panels_here = [self._panel(s).roster for s in self.stimuli]
        self._everyone = list(dict.fromkeys(p for roster in panels_here for p in roster))
        self._located = located if located is not None else str(self.root)

    @classmethod
    def detect(cls, path: Path) -> bool:
        """Tell whether ``path`` is such a folder."""
        return (path / STIMULI).is_file()

    def locator(self) -> Mapping[str, JsonValue]:
        """Return reader, path and split."""
        return {"reader": "trp", "path": self._located, "split": self.split, "name": self.name}

    def describe(self) -> Mapping[str, JsonValue]:
        """Return name, version, licence, notices and size."""
        manifest = self.manifest
        return {
            "name": self.name,
            "version": manifest.version if manifest else "unknown",
            "licence": manifest.licence if manifest else "unknown",
            "notices": [*(manifest.notices if manifest else ()), *self._seen_marks()],
            "ranks": manifest.ranks if manifest else True,
            "samples": sum(len(s.words) for s in self.stimuli),
            "stimuli": len(self.stimuli),
            "lists": list(self._lists),
            "listeners": len(self._everyone),
            "responses": sum(len(t) for s in self.stimuli for t in self._panel(s).onsets.values()),
        }

    def _seen_marks(self) -> list[str]:
        """Say so when words carry punctuation: whoever wrote it knew how the turn goes on."""
        texts = [w.text for s in self.stimuli for w in s.words]
        marked = sum(text[-1] in MARKS for text in texts)
        if not marked:
            return []
        return [
            f"{marked} of {counted(len(texts), 'word')} end "
            "in a punctuation mark that systems see and "
            'listeners did not; "mark" keeps it from them.'
        ]

    def digest(self) -> str:
        """Return the SHA-256 over stimuli, roster and responses, however they are written."""
        folded = hashlib.sha256()
        for stimulus in self.stimuli:
            folded.update(codec.digest(stimulus).encode())
            if self.panels is not None:
                folded.update(codec.digest(self.panels[stimulus.id]).encode())
        return folded.hexdigest()

    def samples(self) -> Iterator[Sample]:
        """Yield the prefixes of each stimulus, shortest first."""
        for stimulus in self.stimuli:
            yield from self._prefixes(stimulus)

    def _panel(self, stimulus: Stimulus) -> Panel:
        return self.panels[stimulus.id] if self.panels else Panel(roster=(), onsets={})

    def _prefixes(self, stimulus: Stimulus) -> Iterator[Sample]:
        words = tuple(
            Word(text=w.text, span=Span(w.start or 0.0, w.end or 0.0), role=Role.USER)
            for w in stimulus.words
        )
        texts = [w.text for w in words]
        turn = {  # one object for all slots of the turn
            "lists": self._lists,
            "everyone": self._everyone,
            "words": [[to_ticks(w.start or 0.0), to_ticks(w.end or 0.0)] for w in stimulus.words],
            "marks": [w.mark or "" for w in stimulus.words],
            "turn_end": to_ticks(stimulus.turn_end),
            "next_turn": None if stimulus.next_turn is None else to_ticks(stimulus.next_turn),
            "roster": None if self.panels is None else list(self._panel(stimulus).roster),
            "onsets": {p: list(t) for p, t in self._panel(stimulus).onsets.items()},
        }
        known = stimulus.conversation
        cluster = f"conversation:{known}" if known is not None else f"stimulus:{stimulus.id}"
        tags = {"list": stimulus.list, "language": stimulus.language}
        if stimulus.split is not None:
            tags["split"] = stimulus.split
        for slot in range(1, len(words) + 1):
            yield Sample(
                id=f"{stimulus.id}#{slot:03d}",
                cluster=cluster,
                observation=Observation(
                    language=stimulus.language,
                    text=" ".join(texts[:slot]),
                    words=words[:slot],
                    cutoff=stimulus.words[slot - 1].end,
                ),
                target={"slot": [stimulus.id, slot], "turn": turn},
                tags=tags,
            )
