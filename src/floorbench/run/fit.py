"""Training of probes: from sessions and their labels to a hashed artefact of plain numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.datasets.two_channel import TwoChannelSource
from floorbench.errors import DataError, Place, UsageError, missing_extra
from floorbench.events.dualturn import (
    SEGMENT_CLASSES,
    SegmentClass,
    SignalRules,
    dualturn_signals,
)
from floorbench.events.dualturn_actions import ACTIONS, ActionRules, agent_actions
from floorbench.events.readout import Readout
from floorbench.events.spans import Bools, Floats, Ints
from floorbench.events.traces import FVAD
from floorbench.systems.frames import ROLES, Heard, hear
from floorbench.systems.frames_features import features, frequent_words, names
from floorbench.systems.frames_probe import MODELS, VERSION, ProbeArtefact
from floorbench.tasks.dualturn import MIN_GAP_HINT
from floorbench.tasks.readout import fit_readout

BEFORE, AFTER = 2, 8
"""Frames around the end of a segment from which ``eot`` is learnt."""
SOON = 6
"""Frames ahead within which ``bot`` and ``bc`` are to begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRules:
    """How the frame probe is trained.

    Parameters
    ----------
    min_gap : int
        Own gaps of at most this many frames are closed in the labels, never in what is heard.
        It has no default, like that of the task.
    words : int
        How many of the most frequent words have a feature of their own.
    step : int
        Every how many frames a row is taken for the signals that are learnt from all frames.
    eot_strength, strength : float
        Inverse of the L2 penalty, for ``eot`` and for the other signals; the first is stronger
        because there are few ends of turns to learn from (chosen on validation).

    Raises
    ------
    UsageError
        ``FB103`` for a value out of range.
    """

    hints: ClassVar[Mapping[str, str]] = {"min_gap": MIN_GAP_HINT}

    min_gap: int
    words: int = 120
    step: int = 4
    eot_strength: float = 0.0003
    strength: float = 0.05

    def __post_init__(self) -> None:
        for name, least in (("min_gap", 0), ("words", 0), ("step", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise UsageError("FB103", f"{name}={value!r} is not a whole number from {least}")
        for name in ("eot_strength", "strength"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 < value < np.inf:
                raise UsageError("FB103", f"{name}={value!r} is not a number above 0")


class _Rows(NamedTuple):
    inputs: Floats
    target: Bools


def fit_frame_probe(
    source: TwoChannelSource,
    *,
    split: str,
    rules: FitRules,
    notify: Callable[[str], None] = lambda _: None,
) -> ProbeArtefact:
    """Train the frame probe on the sessions of one split.

    Parameters
    ----------
    source : TwoChannelSource
        Sessions, with splits.
    split : str
        Whose sessions are learnt from; no other session is read.
    rules : FitRules
    notify : callable
        Takes sentences for the person who waits.

    Returns
    -------
    ProbeArtefact
        The same numbers for the same data and library.

    Raises
    ------
    DataError
        ``FB536`` when the split has no session or a signal never occurs.
    EnvironmentProblem
        ``FB401`` without scikit-learn.

    Notes
    -----
    What is learnt, each as a binary question about one channel at the end of frame ``t``, both
    channels in turn: ``eot``: is the segment end nearest to ``t`` (2 frames before to 7 after
    it) an EOT rather than a HOLD; ``bot``, ``bc``: does a turn, or a backchannel event, begin in
    the next 6 frames; ``fvad1`` to ``fvad4``: is at least half of the window active.
    """
    try:
        import sklearn
    except ModuleNotFoundError:  # before minutes are spent on reading
        raise missing_extra("sklearn", "probe") from None
    started = time.monotonic()
    sessions = [s.id for s in source.sessions(split)]
    if not sessions:
        known = ", ".join(f"{k} {n}" for k, n in source.splits.counts(source.ids).items())
        raise DataError(
            "FB536",
            f"no session is in split '{split}' ({known or 'nothing is split'})",
            where=Place(str(source.path)),
            hint=None if known else "name a list of splits: --reader-set splits=FILE",
        )
    words = frequent_words(
        (s.observation().words for s in source.sessions(split)), most=rules.words
    )
    rows: dict[str, list[_Rows]] = {signal: [] for signal in MODELS}
    for session in source.sessions(split):
        heard = hear(session.observation())
        if heard is not None and heard.frames:
            for signal, found in _session_rows(heard, words, rules):
                rows[signal].append(found)
    notify(f"{counted(len(sessions), 'session')} read in {time.monotonic() - started:.1f} s")
    inputs = names(words)
    models: dict[str, Readout] = {}
    for signal in MODELS:
        x = np.concatenate([r.inputs for r in rows[signal]])
        y = np.concatenate([r.target for r in rows[signal]])
        if not y.any() or y.all():
            raise DataError("FB536", f"'{signal}' {'always' if y.any() else 'never'} occurs")
        models[signal] = fit_readout(
            x, y.astype(np.int64), labels=("no", "yes"), features=inputs,
            strength=rules.eot_strength if signal == "eot" else rules.strength,
            balanced=signal == "eot",
        )  # fmt: skip
        notify(f"{signal}: {counted(len(y), 'frame')}, {y.mean():.1%} yes")
    trained_on: Mapping[str, JsonValue] = {
        "data": source.digest(),
        "split": split,
        "sessions": len(sessions),
        "min_gap": rules.min_gap,
        "step": rules.step,
        "eot_strength": rules.eot_strength,
        "strength": rules.strength,
        "library": f"scikit-learn {sklearn.__version__}",
    }
    return ProbeArtefact(version=VERSION, words=words, models=models, trained_on=trained_on)


def _session_rows(
    heard: Heard, words: tuple[str, ...], rules: FitRules
) -> Iterator[tuple[str, _Rows]]:
    signals = dualturn_signals(heard.vad, SignalRules(min_gap=rules.min_gap))
    grid = np.arange(0, heard.frames, rules.step)
    for role in ROLES:
        inputs = features(heard, role, words)
        own = signals.channels[role]
        frames, target = _ends(own.segments.end, own.segment_class, heard.frames)
        yield "eot", _Rows(inputs[frames], target)
        actions = agent_actions(heard.vad, ActionRules(min_gap=rules.min_gap), agent=role)
        begins = actions.frame[actions.label == ACTIONS.index("BC")]
        for signal, marks in (("bot", np.flatnonzero(own.bot)), ("bc", begins)):
            yield signal, _Rows(inputs[grid], _soon(marks, heard.frames)[grid])
        for k, window in enumerate(FVAD):
            known = grid[own.fvad_known[grid, k]]
            yield window, _Rows(inputs[known], own.fvad[known, k] >= 0.5)


def _ends(end: Ints, kind: Ints, frames: int) -> tuple[Ints, Bools]:
    """Return frames around the ends of turns and pauses, and whether each end is an EOT."""
    eot, hold = (SEGMENT_CLASSES.index(c) for c in (SegmentClass.EOT, SegmentClass.HOLD))
    use = (kind == eot) | (kind == hold)
    offset = np.arange(-BEFORE, AFTER)
    grid = end[use][:, None] - 1 + offset[None, :]
    label = np.repeat(kind[use] == eot, len(offset))
    flat = grid.ravel()
    inside = (flat >= 0) & (flat < frames)
    return flat[inside].astype(np.int64), label[inside]


def _soon(marks: Ints, frames: int) -> Bools:
    out = np.zeros(frames, dtype=np.bool_)
    for ahead in range(1, SOON + 1):
        at = marks - ahead
        out[at[at >= 0]] = True
    return out
