from pathlib import Path

import pytest

from floorbench.core.vocab import Level, Outcome
from floorbench.errors import UsageError
from floorbench.run.engine import run
from floorbench.run.predictions import read_predictions
from floorbench.run.references import make_reference
from floorbench.run.scoring import open_predictions, score
from support.engine_toys import Source, Task, choice, quiet


def labels(folder: Path) -> dict[tuple[str, str, int], str | None]:
    return {tuple(p.key): p.decision.label for p in read_predictions(folder)}


def test_the_oracle_is_perfect(tmp_path: Path) -> None:
    task, source = Task(), Source(40)
    oracle = make_reference("oracle", task=task, source=source)
    folder = run(task=task, system=oracle, source=source, out=tmp_path, notify=quiet)
    result = score(open_predictions(folder.path, task=task, source=source))
    assert [e.value for e in result.estimates] == [1.0] * 4
    assert result.system.level is Level.REFERENCE
    assert folder.record().sittings[0].executor == "reference"


class Skewed(Source):
    """One in four is ``yes``."""

    def sample(self, i):  # type: ignore[no-untyped-def]
        from dataclasses import replace

        sample = super().sample(i)
        return replace(sample, target={"gold": "yes" if i % 4 == 0 else "no"})


def test_the_prior_draws_at_prevalence_whatever_the_order(tmp_path: Path) -> None:
    task, source = Task(), Skewed(2000)
    prior = make_reference("prior", task=task, source=source, seed=3)
    samples = list(source.samples())
    forward = [prior.decide(s, "h0", 0).label for s in samples]
    backward = [prior.decide(s, "h0", 0).label for s in reversed(samples)]
    assert forward == backward[::-1]
    assert abs(forward.count("yes") / 2000 - 0.25) < 0.03
    assert prior.decide(samples[0], "h0", 0).scores == {"no": 0.75, "yes": 0.25}
    assert prior.spec.parameters["prevalence"] == {"": {"no": 0.75, "yes": 0.25}}


def test_the_prior_depends_on_seed_and_key() -> None:
    task, source = Task(), Source(200)
    samples = list(source.samples())

    def draws(seed: int, condition: str, trial: int) -> list[str | None]:
        prior = make_reference("prior", task=task, source=source, seed=seed)
        return [prior.decide(s, condition, trial).label for s in samples]

    base = draws(1, "h0", 0)
    assert base == draws(1, "h0", 0)
    for other in ((2, "h0", 0), (1, "h1", 0), (1, "h0", 1)):
        assert draws(*other) != base


def test_the_prior_is_resumed_to_the_same_run(tmp_path: Path) -> None:
    task, source = Task(), Source(40)

    def prior() -> object:
        return make_reference("prior", task=task, source=source, seed=3)

    whole = run(task=task, system=prior(), source=source, out=tmp_path, notify=quiet)  # type: ignore[arg-type]
    cut = run(task=task, system=prior(), source=source, out=tmp_path, notify=quiet)  # type: ignore[arg-type]
    cut.journal.write_bytes(cut.journal.read_bytes()[:5000])
    run(task=task, system=prior(), source=source, resume=cut.path, notify=quiet)  # type: ignore[arg-type]
    assert cut.journal.read_bytes() == whole.journal.read_bytes()


def test_replay_gives_the_file_back(tmp_path: Path) -> None:
    task, source = Task(), Source(20)
    first = run(task=task, system=choice(), source=source, out=tmp_path, notify=quiet)
    replay = make_reference("replay", task=task, source=source, predictions=first.path)
    second = run(task=task, system=replay, source=source, out=tmp_path, notify=quiet)
    assert labels(second.path) == labels(first.path)
    assert len(replay.spec.weights["predictions"]) == 64


def test_replay_of_a_short_file_fails_what_is_missing(tmp_path: Path) -> None:
    task, source = Task(), Source(2)
    path = tmp_path / "p.csv"
    path.write_text("sample_id,condition,label\ns0,h0,no\n")
    replay = make_reference("replay", task=task, source=source, predictions=path)
    folder = run(task=task, system=replay, source=source, out=tmp_path, notify=quiet)
    outcomes = [p.decision.outcome for p in folder.predictions()]
    assert outcomes == [Outcome.OK, Outcome.FAILED, Outcome.FAILED, Outcome.FAILED]


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"FB101 .*'oracel'\nhint: did you mean 'oracle'"):
        make_reference("oracel", task=Task(), source=Source(1))
    with pytest.raises(UsageError, match="FB103 replay needs"):
        make_reference("replay", task=Task(), source=Source(1))
