"""VAP events and classes frame by frame, written from the definition alone."""


def solo(a, b):
    return 0 if a and not b else 1 if b and not a else None


def filled(x, y):
    tracks = [list(x), list(y)]
    n, t = len(x), 0
    while t < n:
        if x[t] or y[t]:
            t += 1
            continue
        end = t
        while end < n and not (x[end] or y[end]):
            end += 1
        if t > 0 and end < n:
            before, after = solo(x[t - 1], y[t - 1]), solo(x[end], y[end])
            if before is not None and before == after:
                for k in range(t, end):
                    tracks[before][k] = True
        t = end
    return tracks


def events(x, y, f):
    """``f``: frames by name. Returns a set of (kind, side, start, end)."""
    n = len(x)
    full = filled(x, y)
    out = set()
    t = 0
    while t < n:
        if x[t] or y[t]:
            t += 1
            continue
        end = t
        while end < n and not (x[end] or y[end]):
            end += 1
        start, t = t, end
        if start == 0 or end == n:
            continue
        before, after = solo(x[start - 1], y[start - 1]), solo(x[end], y[end])
        if before is None or after is None or start < f["context"] or end - start < f["silence"]:
            continue
        if start < f["pre"] or end + f["post"] > n:
            continue
        ok = all(
            full[before][k] and not full[1 - before][k] for k in range(start - f["pre"], start)
        ) and all(full[after][k] and not full[1 - after][k] for k in range(end, end + f["post"]))
        if not ok:
            continue
        name = "hold" if before == after else "shift"
        low = start + f["pad"]
        out.add((name, 1 - before, low, low + f["region"]))
        last = 0
        while start - last > 0 and solo(x[start - last - 1], y[start - last - 1]) == before:
            last += 1
        if last >= f["ahead"] and start - f["ahead"] >= f["context"]:
            name = "shift_prediction" + ("_negative" if before == after else "")
            out.add((name, 1 - before, start - f["ahead"], start))
    for side in range(2):
        own, other = full[side], full[1 - side]
        for start in range(n):
            if own[start] and start > 0 and not own[start - 1]:
                end = start
                while end < n and own[end]:
                    end += 1
                left = 0
                while start - left > 0 and not own[start - left - 1]:
                    left += 1
                right = 0
                while end + right < n and not own[end + right]:
                    right += 1
                if (
                    end - start <= f["bc"]
                    and left >= f["quiet"]
                    and right >= f["quiet"]
                    and start >= f["context"]
                ):
                    out.add(("backchannel", side, start, end))
                    if start - f["ahead"] >= f["context"]:
                        out.add(("backchannel_prediction", side, start - f["ahead"], start))
        for start in range(n):
            alone = other[start] and not own[start]
            if alone and (start == 0 or not other[start - 1] or own[start - 1]):
                end = start
                while end < n and other[end] and not own[end]:
                    end += 1
                low, high = max(start + f["left"], f["context"]), end - f["right"]
                if end - start >= f["left"] + f["right"] and high - low >= f["ahead"]:
                    out.add(("backchannel_prediction_negative", side, low, high))
    return out


def classes(x, y, bins):
    out = []
    for t in range(len(x) - sum(bins)):
        number, bit = 0, 1
        for track in (x, y):
            at = t + 1
            for b in bins:
                if sum(track[at : at + b]) * 2 >= b:
                    number += bit
                bit *= 2
                at += b
        out.append(number)
    return out
