"""A CoDeTT unit stands in many cells; its columns must not stand in memory once for each."""

from pathlib import Path

from floorbench.core.sample import Observation, Sample
from floorbench.datasets.codett_labels import BY_LABEL, LABELS
from floorbench.run.scoring import open_predictions, score
from floorbench.tasks.codett import CodettTask
from support.memory import Silent, peak

FEW = 500
CONDITIONS = ("h0", "h1", "h3", "h5")
# As copies, the columns of the cells alone take 3,000 bytes a sample.
LIMIT = 2200


def dialogue(i: int) -> Sample:
    label = LABELS[i % len(LABELS)]
    return Sample(
        id=f"{i:09d}",
        cluster=f"dialogue {i // 2}",
        stratum="en",
        observation=Observation(language="en", state=BY_LABEL[label].state, text=f"dialogue {i}"),
        target={"label": label},
    )


def scoring(folder: Path, count: int) -> int:
    """Return the most bytes that scoring had allocated at once."""
    source = Silent("dialogues", count, dialogue)
    path = folder / f"{count}.jsonl"
    path.write_text(
        "".join(
            f'{{"sample_id": "{s.id}", "condition": "h0", '
            f'"decision": {{"label": "{s.target["label"]}"}}}}\n'
            for s in source.samples()
        )
    )
    opened = open_predictions(path, task=CodettTask(), source=source)
    assert opened.plan.conditions == CONDITIONS
    return peak(lambda: score(opened, draws=2))


def test_a_sample_takes_little_more_than_its_columns(tmp_path: Path) -> None:
    scoring(tmp_path, FEW)  # warms up
    grown = scoring(tmp_path, 2 * FEW) - scoring(tmp_path, FEW)
    assert grown / FEW < LIMIT
