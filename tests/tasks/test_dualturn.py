import json
from pathlib import Path

import numpy as np
import pytest

from floorbench import codec
from floorbench.core.prediction import Decision
from floorbench.core.vocab import Outcome
from floorbench.datasets.dualturn_labels import LabelRules, labelled, totals, training_phrases
from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.errors import DataError, UsageError
from floorbench.systems.frames import ConstantFrames, PersistenceFrames, SilenceFrames
from floorbench.tasks.dualturn import DualTurnTask, Phrases
from support import scoring
from support import two_channel_tiny as tiny

RULES = LabelRules(protocol="dualturn-4s", min_gap=0)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SwitchboardSource:
    folder = tiny.build(tmp_path_factory.mktemp("calls"))
    return SwitchboardSource(folder, splits=str(folder / "splits.json"))


@pytest.fixture(scope="module")
def phrases(source: SwitchboardSource, tmp_path_factory: pytest.TempPathFactory) -> str:
    found = training_phrases(source, RULES)
    path = tmp_path_factory.mktemp("phrases") / "phrases.json"
    made = Phrases(utterance_gap=0.5, phrases=found.phrases, counts=found.counts)
    path.write_text(codec.encode_pretty(made))
    return str(path)


def scored(source, phrases, system, **parameters):
    task = DualTurnTask(min_gap=0, phrases=phrases, **parameters)
    return scoring.score(
        task, source.samples(), system.spec, lambda s, c: system.decide(s.observation)
    )


def test_units_are_the_events_of_the_table(source, phrases) -> None:
    units, _ = scored(source, phrases, PersistenceFrames())
    found = list(labelled(source, RULES, training_phrases(source, RULES)))
    due = [x.counts for x in found if x.counts.split != "train"]
    sums = totals(due)
    assert len(units["action"]) == sum(sums["events"].values())
    assert len(units["word"]) == sum(sums["words"][c] for c in "CBT")
    assert len(units["end"]) == sums["sides"]["EOT"] + sums["sides"]["HOLD"]


def test_gold_is_right_and_silence_at_the_end_is_not(source, phrases) -> None:
    task = DualTurnTask(min_gap=0, phrases=phrases)
    _, oracle = scoring.score(task, source.samples(), SilenceFrames().spec,
                              lambda s, c: task.gold(s))  # fmt: skip
    _, silence = scored(source, phrases, SilenceFrames(timeout=0.24))
    where = {"events": "turn ends", "at": "+0 ms"}
    assert scoring.value(oracle, "balanced_accuracy", **where).value == 1.0
    assert scoring.value(oracle, "auc", **where).value == 1.0
    assert scoring.value(silence, "balanced_accuracy", **where).value == 0.5
    best, rule = (
        scoring.value(c, "weighted_f1", events="actions").value for c in (oracle, silence)
    )
    assert best > rule


def test_chance_and_always_are_functions_of_the_prevalence(source, phrases) -> None:
    _, cells = scored(source, phrases, PersistenceFrames())
    where = {"events": "actions", "class": "BC", "baseline": "from prevalence"}
    pi = scoring.value(cells, "chance_f1", **where).value
    assert pi is not None
    assert 0 < pi < 1
    assert scoring.value(cells, "always_f1", **where).value == pytest.approx(2 * pi / (1 + pi))


def test_a_constant_ranks_nothing(source, phrases) -> None:
    _, cells = scored(source, phrases, ConstantFrames(signal="hold"))
    assert scoring.value(cells, "auc", events="turn ends", at="-240 ms").value == 0.5
    assert scoring.value(cells, "auc_macro", events="words", reading="heuristic").value == 0.5


def test_look_ahead_costs_its_time(source, phrases) -> None:
    class Late(PersistenceFrames):
        def decide(self, observation):
            said = super().decide(observation)
            from dataclasses import replace

            return replace(said, trace=replace(said.trace, look_ahead=0.24))

    _, plain = scored(source, phrases, PersistenceFrames())
    _, late = scored(source, phrases, Late())
    for at, before in (("+480 ms", "+240 ms"), ("+0 ms", "-240 ms")):
        assert scoring.value(late, "auc", events="turn ends", at=at) == scoring.value(
            plain, "auc", events="turn ends", at=before
        )


def test_without_phrases_words_are_not_available(source) -> None:
    task = DualTurnTask(min_gap=0)
    _, cells = scoring.score(
        task, source.samples(), SilenceFrames().spec, lambda s, c: task.gold(s)
    )
    found = scoring.cell(cells, "auc_macro", events="words", reading="probe")
    assert found.undeclared is not None
    assert "phrases" in found.undeclared


def test_without_validation_sessions_nothing_is_fitted(tmp_path: Path, phrases) -> None:
    folder = tiny.build(tmp_path, tiny.CALLS[:3])
    unsplit = SwitchboardSource(folder, splits="none")
    _, cells = scored(unsplit, phrases, PersistenceFrames())
    assert scoring.cell(cells, "weighted_f1", events="actions").undeclared is not None
    assert scoring.value(cells, "auc", events="turn ends", at="+0 ms").value is not None


def test_a_failed_session_is_wrong_and_leaves_auc_undefined(source, phrases) -> None:
    task = DualTurnTask(min_gap=0, phrases=phrases)
    system = PersistenceFrames()
    broken = tiny.SPLITS["test"][0]

    def answer(sample, condition):
        if sample.id == broken:
            return Decision(outcome=Outcome.FAILED)
        return system.decide(sample.observation)

    _, cells = scoring.score(task, source.samples(), system.spec, answer)
    assert scoring.value(cells, "auc", events="turn ends", at="+0 ms").value is None
    found = scoring.cell(cells, "weighted_f1", events="actions")
    assert found.coverage.failed > 0
    _, whole = scored(source, phrases, system)
    assert scoring.value(cells, "weighted_f1", events="actions").value < scoring.value(
        whole, "weighted_f1", events="actions"
    ).value  # fmt: skip


def test_one_agent_asks_for_its_own_actions_only(source, phrases) -> None:
    both, _ = scored(source, phrases, PersistenceFrames())
    one, _ = scored(source, phrases, PersistenceFrames(), agents="system")
    assert 0 < len(one["action"]) < len(both["action"])


def test_the_port_counts_more_events_and_repeats_them(source, phrases) -> None:
    ours, _ = scored(source, phrases, PersistenceFrames())
    port, _ = scored(source, phrases, PersistenceFrames(), port_compat=True)
    again, _ = scored(source, phrases, PersistenceFrames(), port_compat=True)
    other, _ = scored(source, phrases, PersistenceFrames(), port_compat=True, seed=1)
    assert len(port["action"]) > len(ours["action"])
    assert np.array_equal(port["action"].column("features"), again["action"].column("features"))
    assert not np.array_equal(port["action"].column("features"), other["action"].column("features"))


def test_parameters_are_checked(tmp_path: Path) -> None:
    for wrong in (
        {"min_gap": -1}, {"min_gap": 0.5}, {"min_gap": True}, {"agents": "user"},
        {"missing": "skip"},
    ):  # fmt: skip
        with pytest.raises(UsageError, match=r"FB103"):
            DualTurnTask(**{"min_gap": 0, **wrong})
    path = tmp_path / "phrases.json"
    path.write_text(json.dumps({"utterance_gap": 0.5, "phrases": ["yeah"], "counts": []}))
    with pytest.raises(DataError, match=r"FB236"):
        DualTurnTask(min_gap=0, phrases=str(path))
    path.write_text(json.dumps(["yeah"]))
    with pytest.raises(DataError, match=r"FB236"):
        DualTurnTask(min_gap=0, phrases=str(path))


def test_the_gap_has_no_default() -> None:
    with pytest.raises(TypeError, match="min_gap"):
        DualTurnTask()  # type: ignore[call-arg]


def test_the_signature_names_gap_phrases_and_look_ahead(phrases) -> None:
    parameters = DualTurnTask(phrases=phrases, min_gap=4).spec.parameters
    assert parameters["min_gap"] == 4
    assert len(str(parameters["phrases"])) == 64
    assert parameters["probe_look_ahead_frames"] == 5
