from pathlib import Path

import pytest

from floorbench.core.prediction import Compute, Decision, Event, Prediction, PredictionKey
from floorbench.core.sample import Observation, Sample
from floorbench.core.vocab import Outcome
from floorbench.datasets.clips import LABELS
from floorbench.datasets.open import open_dataset
from floorbench.datasets.shard_pack import pack
from floorbench.run.kept import KeptPredictions
from floorbench.run.scoring import open_predictions, score
from floorbench.tasks.clips import ClipsTask
from support.memory import Silent, peak


def made(name: str, condition: str = "", trial: int = 0, **decision: object) -> Prediction:
    return Prediction(
        sample_id=name,
        condition=condition,
        trial=trial,
        decision=Decision(**decision),  # type: ignore[arg-type]
        compute=Compute(wall=0.1 + 0.2),
        observed="a" * 64,
    )


def test_what_goes_in_comes_out() -> None:
    some = [
        made("a", "h0", label="x", scores={"p": 1 / 3}, raw='"\\ 是'),
        made("a", "h1", 10**30),
        made("b", outcome=Outcome.FAILED, reason="no"),
        made("c", events=(Event(kind="yield", time=1.0, commit=1.5),)),
    ]
    kept = KeptPredictions()
    assert [kept.add(n, p) for n, p in enumerate(some, start=3)] == [None] * 4
    assert [x.prediction for x in kept.of("a")] == some[:2]
    assert [x.number for x in kept.of("a")] == [3, 4]
    assert [kept.get(p.key) for p in some] == some
    assert kept.get(PredictionKey("a", "h2", 0)) is None
    assert kept.of("d") == []
    assert list(kept.samples()) == ["a", "b", "c"]
    assert kept.trials == {0, 10**30}


@pytest.mark.parametrize("others", [0, 1, 5])
def test_the_first_line_of_a_key_is_named(others: int) -> None:
    kept = KeptPredictions()
    for n in range(others):
        kept.add(n, made("a", f"h{n}"))
    assert kept.add(17, made("a", "same", label="x")) is None
    assert kept.add(20, made("a", "same", label="y")) == 17
    assert kept.get(PredictionKey("a", "same", 0)) == made("a", "same", label="x")
    assert len(kept.of("a")) == others + 1


def clip(i: int) -> Sample:
    return Sample(
        id=f"audio/{i:09d}.wav",
        cluster=f"given:speaker {i // 4}",
        stratum="complete x unknown",
        observation=Observation(language="en", text=f"what was said in clip {i}"),
        target={"label": LABELS[i % 4]},
        tags={"language": "en", "label": LABELS[i % 4]},
    )


def test_memory_grows_slowly_with_the_samples(tmp_path: Path) -> None:
    """Listing takes none; scoring so little that a million samples stay far below 2 GB."""
    few, many = 1000, 4000
    listed, scored = {}, {}
    for count in (few, few, many):  # the first time warms up
        folder = tmp_path / str(count)
        pack(Silent("clips", count, clip), folder, per_shard=500)
        source = open_dataset(folder)
        answers = tmp_path / f"{count}.jsonl"
        answers.write_text(
            "".join(
                f'{{"sample_id": "{s.id}", "decision": {{"label": "complete"}}}}\n'
                for s in source.samples()
            )
        )
        listed[count] = peak(lambda s=source: sum(1 for _ in s.samples()))  # type: ignore[misc]
        opened = open_predictions(answers, task=ClipsTask(), source=source)
        scored[count] = peak(lambda o=opened: score(o, draws=2))  # type: ignore[misc]
    assert listed[many] < 1.2 * listed[few]
    assert (scored[many] - scored[few]) / (many - few) < 1200
