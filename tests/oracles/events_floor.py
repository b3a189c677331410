"""The floor tick by tick on small integers, written from the definition alone."""

import itertools


def units(spans, min_gap, horizon):
    on = [False] * horizon
    for start, end in spans:
        for t in range(start, end):
            on[t] = True
    out = []
    for t in range(horizon):
        if on[t]:
            if out and (t == out[-1][1] or t - out[-1][1] < min_gap):
                out[-1][1] = t + 1
            else:
                out.append([t, t + 1])
    return [tuple(u) for u in out]


def speaking(u, t):
    return any(s <= t < e for s, e in u)


def backchannel(unit, own, other, longest, silence):
    start, end = unit
    if end - start > longest:
        return False
    for s, e in own:
        if (e <= start and start - e < silence) or (s >= end and s - end < silence):
            return False
    ended = [("own", e) for s, e in own if e <= start]
    ended += [("other", min(e, start)) for s, e in other if s < start]
    begin = [("own", s) for s, e in own if s >= end]
    begin += [("other", max(s, end)) for s, e in other if e > end]
    if not ended or not begin:
        return False
    latest = max(t for _, t in ended)
    earliest = min(t for _, t in begin)
    return {who for who, t in ended if t == latest} == {"other"} and {
        who for who, t in begin if t == earliest
    } == {"other"}


def states(u, horizon):
    """Return (state, start, end) with state a tuple of two booleans, for the spoken stretch."""
    out = []
    for t in range(horizon):
        state = (speaking(u[0], t), speaking(u[1], t))
        marks = {e for x in u for pair in x for e in pair}
        if out and out[-1][0] == state and t not in marks:
            out[-1][2] = t + 1
        else:
            out.append([state, t, t + 1])
    while out and out[-1][0] == (False, False):
        out.pop()
    while out and out[0][0] == (False, False):
        out.pop(0)
    return out


def analyse(spans, *, min_gap, longest, silence, least, exclude, horizon):
    u = [units(s, min_gap, horizon) for s in spans]
    bc = [[backchannel(x, u[i], u[1 - i], longest, silence) for x in u[i]] for i in range(2)]
    cut = []
    for i in range(2):
        for k, (start, end) in enumerate(u[i]):
            for j, (s, e) in enumerate(u[1 - i]):
                inside = s < start < e < end and e - start >= least
                if inside and not bc[i][k] and not bc[1 - i][j]:
                    cut.append((start, i))
    if exclude:
        u = [[x for x, b in zip(u[i], bc[i], strict=True) if not b] for i in range(2)]
    parts = states(u, horizon)
    solo = [k for k, (state, _, _) in enumerate(parts) if sum(state) == 1]
    silences, overlaps = [], []
    for k, (state, start, end) in enumerate(parts):
        if sum(state) == 1:
            continue
        left = [j for j in solo if j < k]
        right = [j for j in solo if j > k]
        if not left or not right:
            kind = "edge"
        else:
            same = parts[left[-1]][0] == parts[right[0]][0]
            kind = (
                ("pause" if same else "gap")
                if not any(state)
                else ("overlap_within" if same else "overlap_between")
            )
        (overlaps if any(state) else silences).append((start, end, kind))
    moves = []
    for a, b in itertools.pairwise(solo):
        ends = []
        for k in (a, b):
            who = parts[k][0].index(True)
            ends.append((who, next(x for x in u[who] if x[0] <= parts[k][1] < x[1])))
        if ends[0] != ends[1]:
            moves.append((ends[0][1][1], ends[1][1][0], ends[0][0], ends[1][0]))
    return {
        "bc": bc,
        "cut": sorted(cut),
        "silences": silences,
        "overlaps": overlaps,
        "moves": moves,
    }
