"""DualTurn labels frame by frame in plain Python, written from the definition alone."""


def framed(spans, frames, rate):
    """Active = at least half of the frame is covered by the union, counted in exact fractions."""
    from fractions import Fraction

    out = []
    for t in range(frames):
        low, high = Fraction(t) * 10**6 / rate, Fraction(t + 1) * 10**6 / rate
        covered, at = Fraction(0), low
        for start, end in sorted(spans):
            left, right = max(Fraction(start), at), min(Fraction(end), high)
            if right > left:
                covered += right - left
                at = right
        out.append(2 * covered >= high - low)
    return out


def closed(track, min_gap):
    out = list(track)
    t = 0
    while t < len(track):
        if track[t]:
            t += 1
            continue
        end = t
        while end < len(track) and not track[end]:
            end += 1
        if t > 0 and end < len(track) and end - t <= min_gap:
            for k in range(t, end):
                out[k] = True
        t = end
    return out


def segments(track):
    out = []
    for t, on in enumerate(track):
        if on and (t == 0 or not track[t - 1]):
            end = t
            while end < len(track) and track[end]:
                end += 1
            out.append((t, end))
    return out


def whole_run(track, t):
    low = high = t
    while low > 0 and track[low - 1]:
        low -= 1
    while high + 1 < len(track) and track[high + 1]:
        high += 1
    return high - low + 1


def labels(own, other, *, min_turn=12, max_bc=12, min_bc_silence=12, max_gap=50):
    """Return one dict of frame lists and counts for the channel ``own``."""
    frames = len(own)
    out = {k: [False] * frames for k in ("bc", "eot", "hold", "bot")}
    truncated = 0
    for start, end in segments(own):
        before = 0
        while start - before > 0 and not own[start - before - 1]:
            before += 1
        after = 0
        while end + after < frames and not own[end + after]:
            after += 1
        other_turn = False
        for t in range(max(0, start - max_gap), min(frames, end + max_gap)):
            if other[t] and whole_run(other, t) >= min_turn:
                other_turn = True
        if (
            end - start <= max_bc
            and before >= min_bc_silence
            and after >= min_bc_silence
            and other_turn
        ):
            for t in range(start, end):
                out["bc"][t] = True
            continue
        if end < frames:
            hands_over = False
            quiet = True
            for t in range(end, min(frames, end + max_gap)):
                if own[t]:
                    quiet = False
                    break
                if other[t]:
                    quiet = False
                    hands_over = whole_run(other, t) >= min_turn
                    break
            out["eot" if hands_over else "hold"][end - 1] = True
            if not hands_over and quiet and frames - end < max_gap:
                truncated += 1
        if end - start >= min_turn:
            last_own = last_other = -1
            for t in range(max(0, start - max_gap), start):
                if own[t]:
                    last_own = t
                if other[t]:
                    last_other = t
            if last_other > last_own:
                length = 0
                while last_other - length >= 0 and other[last_other - length]:
                    length += 1
                out["bot"][start] = length >= min_turn
    out["truncated"] = truncated
    return out


def future(track, windows=((1, 3), (4, 6), (7, 12), (13, 25))):
    out = []
    for t in range(len(track)):
        row = []
        for first, last in windows:
            if t + last < len(track):
                row.append(sum(track[t + first : t + last + 1]) / (last - first + 1))
            else:
                row.append(None)
        out.append(row)
    return out


def actions(agent, user):
    """Return sorted (frame, label, rule, by_agent) of the default rules, sessions of any length."""
    frames = len(agent)
    out = []
    for start, end in segments(user):
        if end - start < 4 or end >= frames - 5:
            continue
        for dt in range(1, 51):
            t = end + dt
            if t >= frames:
                break
            if agent[t]:
                first = t
                while first > 0 and agent[first - 1]:
                    first -= 1
                out.append((end, "ST", "ST_overlapping" if first < end else "ST_started", True))
                break
            if user[t] and dt <= 25:
                out.append((end, "CL", "CL_resumed", True))
                break
    bc = set()
    for start, end in segments(agent):
        window = range(max(0, start - 3), min(frames, end + 3))
        heard = sum(user[t] for t in window)
        middle = (start + end) // 2
        if 2 <= end - start <= 11 and heard > len(window) / 2 and 5 <= middle < frames - 5:
            bc.add(start)
            out.append((start, "BC", "vocalisation", True))
    both_start = 0
    for t in range(frames):
        if not (agent[t] and user[t]) or (t > 0 and agent[t - 1] and user[t - 1]):
            continue
        agent_new = t == 0 or not agent[t - 1]
        user_new = t == 0 or not user[t - 1]
        if agent_new and user_new:
            both_start += 1
            continue
        if agent_new and t in bc:
            continue
        incoming = agent if agent_new else user
        length = 0
        while t + length < frames and incoming[t + length] and length < 60:
            length += 1
        if length >= 12:
            out.append((t, "SL", "incoming_long", user_new))
        elif length >= 2:
            out.append((t, "CT", "incoming_short", user_new))
    return sorted(out), both_start
