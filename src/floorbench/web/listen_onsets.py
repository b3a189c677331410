"""Where spoken responses begin: found by a voice activity detector, corrected by hand, read back.

Each recorded turn gets a TextGrid beside it with two tiers on the recording's clock: ``responses``
(what the detector found, to be corrected) and ``words`` (what the participant heard, moved by the
latency, for orientation). A response counts by the start of its interval, unless its label is
empty or names something that is no response.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from floorbench.audio.decode import decode, probe
from floorbench.audio.vad import Vad, VadParameters, speech_spans
from floorbench.core.time import Seconds, Span
from floorbench.core.words import counted
from floorbench.datasets.trp_files import Stimulus
from floorbench.errors import DataError, Place
from floorbench.formats import Document, Entry, Tier, read, write
from floorbench.web.listen import sound_part
from floorbench.web.listen_latency import FRAME
from floorbench.web.listen_person import ItemDone
from floorbench.web.listen_store import Session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESPONSES, WORDS, LABEL = "responses", "words", "response"
NO_RESPONSE = ("breath", "laughter", "cough", "noise")
"""Labels that take an interval out."""
PARAMETERS = VadParameters(threshold=0.5, release=0.35, min_speech=0.1, min_silence=0.2, pad=0.0)
"""Shorter than usual: a "mm" lasts a tenth of a second."""
REACH = 0.15
"""Seconds around a detected start in which the sound's own start is looked for."""


class Recorded(NamedTuple):
    """A turn that a participant answered by voice."""

    person: str
    done: ItemDone
    wav: Path
    grid: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How many recordings were looked at, how many were left as they are, and responses found."""

    written: int
    kept: int
    responses: int


def recorded(session: Session) -> Iterator[Recorded]:
    """Yield every turn that was answered by voice to its end."""
    for name, person in session.people().items():
        if person.joined.mode != "voice":
            continue
        for number, done in sorted(person.items.items()):
            part = sound_part(number, done.visit)
            grid = session.home(name) / "onsets" / f"{part}.TextGrid"
            yield Recorded(name, done, session.wav(name, part), grid)


def find(
    session: Session, stimuli: Sequence[Stimulus], *, detector: Vad, again: bool = False
) -> Found:
    """Write a TextGrid with responses for every recorded turn that has none.

    Parameters
    ----------
    session : Session
    stimuli : sequence of Stimulus
        Those that were heard.
    detector : Vad
    again : bool
        Replace TextGrids that are there, corrections included.

    Raises
    ------
    DataError
        ``FB301`` to ``FB304`` for a recording that cannot be read.
    """
    known = {s.id: s for s in stimuli}
    written = kept = responses = 0
    for one in recorded(session):
        if one.grid.is_file() and not again:
            kept += 1
            continue
        info = probe(one.wav)
        samples = decode(one.wav, start=0, stop=info.frames, channel=None)
        spans = voice_spans(samples, rate=info.rate, detector=detector)
        responses += len(spans)
        one.grid.parent.mkdir(exist_ok=True)
        document = _document(known[one.done.stimulus], one.done, spans, info.frames / info.rate)
        write(document, one.grid)
        written += 1
    return Found(written=written, kept=kept, responses=responses)


def voice_spans(samples: NDArray[np.float32], *, rate: int, detector: Vad) -> list[Span]:
    """Return the responses in a recording.

    The detector says where speech is; its frames are coarse, so a start is moved to where the
    sound itself begins, at most 0.15 s away: the first 5 ms that are four times louder than the
    median of the recording and a tenth as loud as the loudest of the response.
    """
    import numpy as np

    spans = speech_spans(detector, samples, rate=rate, parameters=PARAMETERS)
    width = max(1, round(FRAME * rate))
    count = len(samples) // width
    frames = samples[: count * width].reshape(count, width).astype(np.float64)
    loudness = np.sqrt((frames**2).mean(axis=1))
    floor = 4 * float(np.median(loudness)) if count else 0.0
    step = width / rate
    out: list[Span] = []
    for span in spans:
        inside = loudness[
            int(span.start / step) : max(int(span.start / step) + 1, int(span.end / step))
        ]
        enough = max(floor, 0.1 * float(inside.max(initial=0.0)))
        first = max(0, int((span.start - REACH) / step), int(out[-1].end / step) if out else 0)
        near = loudness[first : int((span.start + REACH) / step) + 1]
        loud = np.flatnonzero(near >= enough)
        start = (first + int(loud[0])) * step if loud.size and enough > 0 else span.start
        out.append(Span(min(start, span.end), span.end))
    return out


def corrected(path: Path, *, exclude: Sequence[str]) -> tuple[list[Seconds], int]:
    """Return the starts of the responses of a TextGrid, and how many intervals were taken out.

    Raises
    ------
    DataError
        ``FB847`` when there is no tier ``responses`` or there are two; ``FB7xx`` for the file.
    """
    document = read(path)
    tiers = [t for t in document.tiers if t.name == RESPONSES]
    if len(tiers) != 1:
        raise DataError(
            "FB847",
            f"{counted(len(tiers), 'tier')} are named '{RESPONSES}'",
            where=Place(str(path)),
        )
    unwanted = {label.lower() for label in exclude}
    starts, out = [], 0
    for entry in tiers[0].entries:
        label = entry.text.strip().lower()
        if not label:
            continue
        if label in unwanted:
            out += 1
        else:
            starts.append(float(entry.edges[0]))
    return starts, out


def _document(
    stimulus: Stimulus, done: ItemDone, spans: Sequence[Span], seconds: float
) -> Document:
    end = _milliseconds(seconds)
    moved = done.latency or 0.0
    words = [
        (_milliseconds(w.start + moved), _milliseconds(w.end + moved), w.text)
        for w in stimulus.words
        if w.start is not None and w.end is not None
    ]
    responses = [(_milliseconds(s.start), _milliseconds(s.end), LABEL) for s in spans]
    return Document(
        tiers=(
            Tier(name=RESPONSES, entries=_entries(responses, end)),
            Tier(name=WORDS, entries=_entries(words, end)),
        ),
        duration=end,
    )


def _entries(intervals: Sequence[tuple[Decimal, Decimal, str]], end: Decimal) -> tuple[Entry, ...]:
    """Return intervals cut to [0, end), none overlapping the one before."""
    out: list[Entry] = []
    before = Decimal(0)
    for start, stop, text in intervals:
        start, stop = max(start, before), min(stop, end)
        if stop > start:
            out.append(Entry(start=start, end=stop, text=text))
            before = stop
    return tuple(out)


def _milliseconds(seconds: float) -> Decimal:
    return Decimal(round(seconds * 1000)).scaleb(-3)
