"""Shortcut audits of a matched-contrast set: can the action be told without the context?

A small linear classifier is fitted on parts of a sample that should not tell: the insertion text
alone; loudness and duration of the insertion alone; statistics of the two channels alone. It is
cross-validated by group, on the members of all pairs whose target actions differ. Two numbers are
given, each 50 % by chance: how often the interruption of a *pair* gets the higher score (ties
count half), and the area under the ROC over *samples*. A shortcut is said to exist where an
interval lies wholly above chance.

Notes
-----
Classifier: ridge regression on standardised features, targets +1 and -1, ten folds of whole groups.
Interval: bootstrap over groups, percentile, with the classifier fitted anew in every draw; without
that a small set looks more certain than it is, on either side of chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorbench.core.time import to_samples
from floorbench.core.vocab import Role
from floorbench.datasets.echo import EchoSource
from floorbench.datasets.echo_audio import listening
from floorbench.datasets.echo_closure import bare
from floorbench.datasets.echo_integrity import WIDEST_TAIL, window_end
from floorbench.datasets.echo_tables import ACTION_OF, SampleRow
from floorbench.errors import DataError, Place, UsageError
from floorbench.stats.streams import generator

Floats = NDArray[np.float64]

VERSIONS = ("observable", "listening")
PROBES = ("text", "loudness and duration", "channels")
FOLDS = 10
PENALTY = 10.0
EMPHASIS = 0.4
CHANCE = 0.5
FEWEST_DRAWS = 40
"""A 95 % interval needs tails to be read from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one probe found in one language.

    Parameters
    ----------
    language, probe : str
    pair, sample : float
        Share of pairs in the right order; area under the ROC.
    pair_interval, sample_interval : tuple of float
        95 %, by group.
    pairs, groups : int
    """

    language: str
    probe: str
    pair: float
    pair_interval: tuple[float, float]
    sample: float
    sample_interval: tuple[float, float]
    pairs: int
    groups: int

    @property
    def shortcut(self) -> bool:
        """Tell whether an interval lies wholly above chance."""
        return self.pair_interval[0] > CHANCE or self.sample_interval[0] > CHANCE

    @property
    def sentence(self) -> str:
        """Say it."""
        what = f"{self.language}, {self.probe} alone"
        if self.shortcut:
            return f"{what}: a shortcut exists, the action can be told without the context"
        return f"{what}: no shortcut found"


def audit(
    source: EchoSource, *, version: str = "observable", seed: int = 0, draws: int = 500
) -> list[Finding]:
    """Run all probes per language.

    Parameters
    ----------
    source : EchoSource
        Opened with ``check=False`` when a broken set is to be audited.
    version : {'observable', 'listening'}
        What systems get, or what a listener hears (a positive control: it should be found out).
    seed, draws : int
        Of the bootstrap.

    Raises
    ------
    UsageError
        ``FB103`` for another version, or too few draws.
    DataError
        ``FB266`` when no pair has two target actions or a channel is missing.
    """
    if version not in VERSIONS:
        raise UsageError("FB103", f"version='{version}' is not one of {', '.join(VERSIONS)}")
    if draws < FEWEST_DRAWS:
        raise UsageError("FB103", f"draws={draws} is not a whole number from {FEWEST_DRAWS} up")
    out = []
    for language in dict.fromkeys(row.language for row, _ in source.rows):
        samples = [(row, at) for row, at in source.rows if row.language == language]
        known = {row.sample_id: i for i, (row, _) in enumerate(samples)}
        flips = [
            (known[p.sample_a], known[p.sample_b])
            for p, _ in source.pairs
            if p.sample_a in known
            and p.sample_b in known
            and _yields(samples[known[p.sample_a]][0]) != _yields(samples[known[p.sample_b]][0])
        ]
        if not flips:
            continue
        used = sorted({i for pair in flips for i in pair})
        rows = [samples[i][0] for i in used]
        place = {i: k for k, i in enumerate(used)}
        pairs = [(place[a], place[b]) for a, b in flips]
        heard = [_heard(source, row, at, version) for row, at in (samples[i] for i in used)]
        features: dict[str, Callable[[], Floats]] = {
            "text": lambda rows=rows: text_features([bare(r.insertion) for r in rows]),  # type: ignore[misc]
            "loudness and duration": lambda heard=heard: np.array([h.loudness for h in heard]),  # type: ignore[misc]
            "channels": lambda heard=heard: np.array([h.channels for h in heard]),  # type: ignore[misc]
        }
        for probe in PROBES:
            out.append(
                _probe(language, probe, features[probe](), rows, pairs, seed=seed, draws=draws)
            )
    if not out:
        raise DataError("FB266", "no pair has two target actions", where=Place(str(source.path)))
    return out


def _yields(row: SampleRow) -> bool:
    return ACTION_OF.get(row.role) == "yield"


def _probe(
    language: str,
    probe: str,
    features: Floats,
    rows: Sequence[SampleRow],
    pairs: Sequence[tuple[int, int]],
    *,
    seed: int,
    draws: int,
) -> Finding:
    names = list(dict.fromkeys(r.group_id for r in rows))
    group = np.array([names.index(r.group_id) for r in rows])
    target = np.array([_yields(r) for r in rows])
    linked = np.array([(a, b) if target[a] else (b, a) for a, b in pairs])
    fold = folds_of(names)[group]
    of_group = [np.flatnonzero(group == g) for g in range(len(names))]
    pairs_of = [linked[group[linked[:, 0]] == g] for g in range(len(names))]
    place = np.zeros(len(rows), dtype=np.int64)

    def once(drawn: Sequence[int]) -> tuple[float, float]:
        """Fit and score a set made of some groups, which may come several times."""
        taken, parts, size = [], [], 0
        for g in drawn:
            place[of_group[g]] = size + np.arange(len(of_group[g]))
            parts.append(place[pairs_of[g]])
            taken.append(of_group[g])
            size += len(of_group[g])
        used, links = np.concatenate(taken), np.concatenate(parts)
        score = cross_validated(features[used], target[used], fold[used])
        ahead = score[links[:, 0]] - score[links[:, 1]]
        return _won(ahead), area(score, target[used])

    value = once(range(len(names)))
    random = generator(seed, "shortcuts", language, probe)
    drawn = [once(random.integers(len(names), size=len(names)).tolist()) for _ in range(draws)]
    by_pair, by_sample = np.array(drawn).T
    return Finding(
        language=language,
        probe=probe,
        pair=value[0],
        pair_interval=_interval(by_pair),
        sample=value[1],
        sample_interval=_interval(by_sample),
        pairs=len(pairs),
        groups=len(names),
    )


def _interval(values: Floats) -> tuple[float, float]:
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def _won(ahead: Floats) -> float:
    """Return the share of differences above zero, ties counting half."""
    return float(np.mean(np.where(np.isclose(ahead, 0), 0.5, ahead > 0)))


def area(score: Floats, target: NDArray[np.bool_]) -> float:
    """Return the area under the ROC, ties counting half.

    Examples
    --------
    >>> area(np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False]))
    0.875
    """
    return _won((score[target][:, None] - score[~target][None, :]).ravel())


def folds_of(groups: Sequence[str]) -> NDArray[np.int64]:
    """Return the fold of each group, from a hash of its name."""
    ranked = sorted(range(len(groups)), key=lambda i: hashlib.sha256(groups[i].encode()).digest())
    out = np.empty(len(groups), dtype=np.int64)
    out[ranked] = np.arange(len(groups)) % FOLDS
    return out


def cross_validated(features: Floats, target: NDArray[np.bool_], fold: NDArray[np.int64]) -> Floats:
    """Return held-out scores of a ridge classifier, one per row."""
    signs = np.where(target, 1.0, -1.0)
    out = np.zeros(len(target))
    for number in np.unique(fold):
        test = fold == number
        train = features[~test]
        mean, spread = train.mean(axis=0), train.std(axis=0)
        spread = np.where(spread > 1e-9, spread, 1.0)
        known, asked = (train - mean) / spread, (features[test] - mean) / spread
        centre = signs[~test].mean()
        wanted = signs[~test] - centre
        if known.shape[1] <= known.shape[0]:
            square = known.T @ known + PENALTY * np.eye(known.shape[1])
            weights = np.linalg.solve(square, known.T @ wanted)
        else:
            square = known @ known.T + PENALTY * np.eye(known.shape[0])
            weights = known.T @ np.linalg.solve(square, wanted)
        out[test] = asked @ weights
    return out


def text_features(texts: Sequence[str]) -> Floats:
    """Return counts of single characters and of pairs, and the length."""
    grams = [[t[i : i + n] for n in (1, 2) for i in range(len(t) - n + 1)] for t in texts]
    names = sorted({g for text in grams for g in text})
    place = {g: i for i, g in enumerate(names)}
    out = np.zeros((len(texts), len(names) + 1))
    for row, (text, found) in enumerate(zip(texts, grams, strict=True)):
        out[row, -1] = len(text)
        for gram in found:
            out[row, place[gram]] += 1
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """Features of the sound of one sample."""

    loudness: list[float]
    channels: list[float]


def _heard(source: EchoSource, row: SampleRow, at: Place, version: str) -> _Heard:
    tracks: dict[Role, Floats] = {}
    rate = 0
    for role in (Role.USER, Role.SYSTEM):
        audio = source.channel(row, role, place=at)
        if audio is None:
            raise DataError("FB266", f"there is no {role} channel", where=at)
        rate = audio.rate
        samples = audio.read()
        if version == "listening":
            samples = listening(
                samples,
                rate=rate,
                onset=row.events.insertion_start,
                role=role.value,
                how=row.listening,
            )
        tracks[role] = samples.astype(np.float64)
    e = row.events
    end = window_end(e.insertion_end, e.system_end, WIDEST_TAIL)

    def part(role: Role, first: float, last: float) -> Floats:
        return tracks[role][to_samples(max(first, 0.0), rate) : to_samples(last, rate)]

    onset = e.insertion_start
    whole = part(Role.USER, onset, e.insertion_end)
    begin = part(Role.USER, onset, onset + EMPHASIS)
    rest = part(Role.USER, onset + EMPHASIS, e.insertion_end)
    loudness = [
        _db(whole),
        20 * np.log10(np.max(np.abs(whole), initial=1e-6)),
        e.insertion_end - onset,
        _db(begin) - _db(rest),
    ]
    before = part(Role.SYSTEM, onset - 0.5, onset)
    channels = [
        _db(before),
        *(_db(part(Role.SYSTEM, onset + t, min(onset + t + 0.25, end))) for t in (0.0, 0.25, 0.5)),
        _db(part(Role.SYSTEM, onset, end)) - _db(before),
        _db(part(Role.SYSTEM, e.system_start, onset)),
        _db(part(Role.USER, 0.0, onset)),
        _db(whole),
        _crossings(whole),
        _crossings(part(Role.SYSTEM, onset, end)),
    ]
    return _Heard(loudness=[float(v) for v in loudness], channels=[float(v) for v in channels])


def _db(samples: Floats) -> float:
    power = float(np.mean(samples**2)) if samples.size else 0.0
    return float(10 * np.log10(max(power, 1e-9)))


def _crossings(samples: Floats) -> float:
    return float(np.mean(np.diff(np.signbit(samples)))) if samples.size > 1 else 0.0
