"""A CoDeTT unit stands in many cells; its columns must not stand in memory once for each."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

from floorbench.core.sample import Observation, Sample
from floorbench.datasets.codett_labels import BY_LABEL, LABELS
from floorbench.run.scoring import open_predictions, score
from floorbench.tasks.codett import CodettTask

FEW = 500
CONDITIONS = ("h0", "h1", "h3", "h5")
# As copies, the columns of the cells alone take 3,000 bytes a sample.
LIMIT = 2200


class Dialogues:
    """Samples of all labels without sound, two of a dialogue."""

    name = "dialogues"

    def __init__(self, count: int) -> None:
        self._count = count

    def locator(self) -> dict[str, object]:
        return {}

    def describe(self) -> dict[str, object]:
        return {"name": self.name}

    def digest(self) -> str:
        return "0" * 64

    def samples(self) -> Iterator[Sample]:
        for i in range(self._count):
            label = LABELS[i % len(LABELS)]
            yield Sample(
                id=f"{i:09d}",
                cluster=f"dialogue {i // 2}",
                stratum="en",
                observation=Observation(
                    language="en", state=BY_LABEL[label].state, text=f"dialogue {i}"
                ),
                target={"label": label},
            )


def peak(folder: Path, count: int) -> int:
    """Return the most bytes that scoring had allocated at once."""
    path = folder / f"{count}.jsonl"
    path.write_text(
        "".join(
            f'{{"sample_id": "{s.id}", "condition": "h0", '
            f'"decision": {{"label": "{s.target["label"]}"}}}}\n'
            for s in Dialogues(count).samples()
        )
    )
    opened = open_predictions(path, task=CodettTask(), source=Dialogues(count))
    assert opened.plan.conditions == CONDITIONS
    tracemalloc.start()
    try:
        score(opened, draws=2)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_sample_takes_little_more_than_its_columns(tmp_path: Path) -> None:
    peak(tmp_path, FEW)  # warms up
    grown = peak(tmp_path, 2 * FEW) - peak(tmp_path, FEW)
    assert grown / FEW < LIMIT
