"""Word labels C / B / T by plain search, written from the definition alone."""


def label(sides, phrases, *, gap, reach, max_words=2):
    """``sides``: two lists of (text, start, end), speech only. Returns rows and counts."""
    pieces = []
    for side, words in enumerate(sides):
        current = []
        for word in words:
            if current and word[1] - max(w[2] for w in current) >= gap:
                pieces.append((current[0][1], side, current))
                current = []
            current.append(word)
        if current:
            pieces.append((current[0][1], side, current))
    rows, marks, previous = [], [], None
    for start, side, words in sorted(pieces, key=lambda p: (p[0], p[1])):
        if len(words) <= max_words and " ".join(w[0] for w in words) in phrases:
            marks.append((side, start))
            continue
        if previous is not None and previous != side:
            rows[-1][-1] = "T"
        previous = side
        rows += [[side, *word, "C"] for word in words]
    unplaced = 0
    for side, time in marks:
        others = [row for row in rows if row[0] != side]
        holding = [row for row in others if row[2] <= time < row[3]]
        ended = [row for row in others if row[3] <= time and time - row[3] <= reach]
        if holding:
            holding[-1][-1] = "B"
        elif ended:
            latest = max(row[3] for row in ended)
            [row for row in ended if row[3] == latest][-1][-1] = "B"
        else:
            unplaced += 1
    return [tuple(row) for row in rows], len(marks), unplaced
