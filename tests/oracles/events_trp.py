"""Consensus labels slot by slot with fractions, written from the definition alone."""

from fractions import Fraction


def label(words, responses, roster, *, turn_end, next_turn, tail, tau, k, rule, final_slot, half):
    middles = [Fraction(s + e, 2) for s, e in words]
    stop = turn_end + tail if next_turn is None else min(turn_end + tail, next_turn)
    slots = [
        (m, middles[i + 1] if i + 1 < len(middles) else max(Fraction(stop), m))
        for i, m in enumerate(middles)
    ]
    people = [set() for _ in slots]
    lost = repeats = 0
    for name, onsets in responses.items():
        for t in onsets:
            holding = [i for i, (low, high) in enumerate(slots) if low <= t < high]
            if not holding:
                lost += 1
                continue
            (i,) = holding
            repeats += name in people[i]
            people[i].add(name)
    if final_slot == "drop":
        slots, people = slots[:-1], people[:-1]
    shares = [Fraction(len(p), len(roster)) for p in people]
    if rule == "fixed":
        positive = [share > tau for share in shares]
    else:
        heard = [share for share in shares if share > 0]
        if heard:
            mean = sum(heard) / len(heard)
            spread = sum((share - mean) ** 2 for share in heard) / len(heard)
            positive = [share > mean and (share - mean) ** 2 > k * k * spread for share in shares]
        else:
            positive = [False] * len(shares)
    if final_slot == "always":
        positive[-1] = True
    total, crowd = [], []
    for i in range(len(slots)):
        near = range(max(0, i - half), min(len(slots), i + half + 1))
        total.append(sum(shares[j] for j in near))
        crowd.append(Fraction(len(set().union(*(people[j] for j in near))), len(roster)))
    return {
        "slots": slots, "shares": shares, "positive": positive, "sum": total, "people": crowd,
        "lost": lost, "repeats": repeats,
    }  # fmt: skip
