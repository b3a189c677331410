import pytest

from floorbench.datasets.dualturn_labels import LabelRules, labelled
from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.errors import UsageError
from floorbench.events.dualturn_words import PhraseList
from floorbench.systems.frames import ConstantFrames, PersistenceFrames
from floorbench.tasks.vap import QUESTIONS, VapTask
from support import scoring
from support import two_channel_tiny as tiny


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SwitchboardSource:
    folder = tiny.build(tmp_path_factory.mktemp("calls"))
    return SwitchboardSource(folder, splits=str(folder / "splits.json"))


def score(source, answer, **parameters):
    task = VapTask(**parameters)
    system = PersistenceFrames()
    said = (lambda s, c: task.gold(s)) if answer is None else answer
    return scoring.score(task, source.samples(), system.spec, said)


def test_gold_is_right_in_every_question(source) -> None:
    _, cells = score(source, None)
    for question in QUESTIONS:
        assert scoring.value(cells, "auc", question=question).value == 1.0
        assert scoring.value(cells, "balanced_accuracy", question=question).value == 1.0


def test_units_are_the_events_of_the_table(source) -> None:
    units, _ = score(source, None)
    rules = LabelRules(protocol="vap-1s", min_gap=0)
    empty = PhraseList(phrases=(), counts=())
    rows = [r for x in labelled(source, rules, empty) if x.counts.split != "train" for r in x.rows]
    for question, kinds in QUESTIONS.items():
        wanted = {k.value for k in kinds}
        assert len(units[question]) == sum(r.label in wanted for r in rows)
        gold = units[question].column("gold")
        assert (gold == 0).sum() == sum(r.label == kinds[0].value for r in rows)


def test_a_system_without_shares_is_at_chance(source) -> None:
    system = ConstantFrames(signal="hold")
    _, cells = score(source, lambda s, c: system.decide(s.observation))
    assert scoring.value(cells, "auc", question="shift_hold").value == 0.5


def test_holds_are_sampled_down_only_on_request(source) -> None:
    all_of, _ = score(source, None)
    equal, _ = score(source, None, equal_hold_shift=True)
    again, _ = score(source, None, equal_hold_shift=True)
    assert len(equal["shift_hold"]) < len(all_of["shift_hold"])
    gold = equal["shift_hold"].column("gold")
    assert (gold == 0).sum() >= (gold == 1).sum()
    assert gold.tolist() == again["shift_hold"].column("gold").tolist()


def test_parameters_are_checked_and_named() -> None:
    with pytest.raises(UsageError, match=r"FB103"):
        VapTask(seed=-1)
    assert VapTask().spec.parameters["pre"] == "1"
    assert VapTask().spec.name != "dualturn-4s"
