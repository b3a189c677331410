"""The best matching by trying all of them."""


def best(reference, predicted, allowed, distance):
    """Return the list of (prediction, reference) index pairs in order of prediction.

    ``allowed(p, r)`` and ``distance(p, r)`` take indices into the sorted lists.
    """
    found = []

    def walk(p, used, pairs):
        if p == len(predicted):
            found.append(tuple(pairs))
            return
        walk(p + 1, used, pairs)
        for r in range(len(reference)):
            if r not in used and allowed(p, r):
                walk(p + 1, used | {r}, [*pairs, (p, r)])

    walk(0, frozenset(), [])

    def key(pairs):
        return (-len(pairs), sum(distance(p, r) for p, r in pairs), pairs)

    return min(found, key=key)
