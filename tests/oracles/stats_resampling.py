"""Resampling written out as loops over clusters and units, one draw after the other."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np


def stream(seed, *path):
    """The raw words of a named stream, as Python integers."""
    digest = hashlib.sha256("\0".join(path).encode()).digest()[:16]
    key = tuple(int(x) for x in np.frombuffer(digest, dtype="<u4"))
    bits = np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=key))
    while True:
        yield int(bits.random_raw())


def drawn_clusters(strata, present, draws, seed, name):
    """For each draw the list of clusters taken, with repetitions."""
    out = [[] for _ in range(draws)]
    for code in sorted({int(s) for s, p in zip(strata, present, strict=True) if p}):
        members = [i for i, s in enumerate(strata) if s == code and present[i]]
        words = stream(seed, name, "stratum", str(code))
        for draw in out:
            for _ in members:
                draw.append(members[((next(words) >> 32) * len(members)) >> 32])
    return out


def replicates(plain, units, draws):
    """Value of a metric on the units of the drawn clusters, laid end to end."""
    values = []
    for clusters in draws:
        value = plain([u for c in clusters for u in units[c]])
        values.append(np.nan if value is None else value)
    return np.array(values)


def swap_differences(plain, units_a, units_b):
    """A - B for every way to swap whole clusters, the identity first."""
    out = []
    for swaps in itertools.product((False, True), repeat=len(units_a)):
        first, second = [], []
        for swap, a, b in zip(swaps, units_a, units_b, strict=True):
            first += b if swap else a
            second += a if swap else b
        out.append(plain(first) - plain(second))
    return np.array(out)


def twoway_labels(responses, slot_list, participant_list, people, tau):
    """Labels of every slot from the participants drawn, as exact fractions of whole numbers."""
    labels = []
    for slot, listed in enumerate(slot_list):
        heard = hits = 0
        for person in people:
            if participant_list[person] == listed:
                heard += 1
                hits += int(responses[person][slot])
        labels.append(hits * tau[1] > tau[0] * heard)
    return labels


def swap_sums(value, a, b):
    """Return the statistic of swaps ``(draws, clusters)`` from two systems' sums per cluster."""

    def statistic(swaps):
        return value(~swaps @ a + swaps @ b) - value(swaps @ a + ~swaps @ b)

    return statistic
