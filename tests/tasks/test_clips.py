import pytest

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation, Sample
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError, UsageError
from floorbench.tasks.clips import ClipsTask
from support.scoring import cell, score, system, value

ZH = {"language": "zh"}
ENDPOINT = system(label_map="smart-turn", score="complete", threshold=0.5)


def clips(*labels: str, language: str = "zh") -> list[Sample]:
    return [
        Sample(
            id=f"{i}",
            cluster=f"{i}",
            observation=Observation(language=language, text=None),
            target={"label": label},
        )
        for i, label in enumerate(labels)
    ]


def run(samples, said, *, spec=ENDPOINT, **parameters):
    answers = dict(zip([s.id for s in samples], said, strict=True))
    return score(ClipsTask(**parameters), samples, spec, lambda s, c: answers[s.id])[1]


def heard(p: float) -> Decision:
    return Decision(label="complete" if p > 0.5 else "incomplete", scores={"complete": p})


REAL = ("complete", "incomplete", "backchannel", "wait")


def test_an_endpoint_detector_by_hand() -> None:
    m = run(clips(*REAL), [heard(p) for p in (0.931, 0.038, 0.962, 0.985)])
    assert value(m, "accuracy", **ZH, clips="complete+incomplete").value == 1
    assert value(m, "accuracy", **ZH, clips="all").value == 2 / 4
    assert value(m, "auc", **ZH, clips="complete+incomplete").value == 1
    assert value(m, "auc", **ZH, clips="all").value == 1 / 3
    assert value(m, "class_accuracy", **ZH, label="complete").value == 1
    assert cell(m, "class_accuracy", **ZH, label="wait").undeclared == "toy does not declare wait"
    assert value(m, "macro_accuracy", **ZH, labels="complete+incomplete").value == 1


def test_a_threshold_is_applied_when_scoring() -> None:
    m = run(clips(*REAL[:2]), [heard(0.6), heard(0.1)], threshold=0.7)
    assert value(m, "accuracy", **ZH, clips="complete+incomplete").value == 1 / 2


def test_four_labels_by_hand() -> None:
    said = [Decision(label=x) for x in ("COMPLETE", "<INCOMPLETE>", "wait", "wait")]
    m = run(clips(*REAL), said, spec=system(label_map="easy-turn"))
    assert value(m, "class_accuracy", **ZH, label="backchannel").value == 0
    assert value(m, "macro_accuracy", **ZH, labels="+".join(REAL)).value == 3 / 4
    assert value(m, "accuracy", **ZH, clips="all").value == 1
    assert not [x for x in m if x.metric.spec.name == "auc"]


def test_missing_answers_count_as_wrong_and_show_in_the_coverage() -> None:
    said = [heard(0.9), Decision(outcome=Outcome.FAILED), Decision(label="complete")]
    m = run(clips("complete", "complete", "incomplete"), said)
    end = cell(m, "accuracy", **ZH, clips="all")
    assert value(m, "accuracy", **ZH, clips="all").value == 1 / 3
    assert (end.coverage.ok, end.coverage.failed) == (2, 1)
    assert value(m, "auc", **ZH, clips="all").value is None
    assert cell(m, "auc_answered", **ZH, clips="all", items="answered").note is not None


def test_labels_of_the_task_need_no_map() -> None:
    m = run(clips(*REAL[:2]), [Decision(label="complete"), Decision(label="no")], spec=system())
    assert value(m, "accuracy", **ZH, clips="all").value == 1 / 2
    assert cell(m, "accuracy", **ZH, clips="all").coverage.invalid == 1


def test_due_and_gold_and_problem() -> None:
    task = ClipsTask()
    (clip,) = clips("wait")
    assert task.gold(clip).label == "wait"
    assert task.observe(clip, "") == clip.observation
    assert not task.due(clip, system(languages=("en",)))
    assert task.due(clips("wait", language="und")[0], system(languages=("en",)))
    assert task.problem(clip, Decision(label="finished")) is None
    assert task.problem(clip, Decision(scores={"complete": 1.0})) is None
    assert task.problem(clip, Decision(label="complet")) == (
        "unknown label 'complet'; did you mean 'complete'?"
    )
    assert task.problem(clip, Decision()) == "neither a label nor a score"


def test_faults_are_errors() -> None:
    task = ClipsTask()
    with pytest.raises(DataError, match="FB222"):
        task.observe(clips("wait")[0], "h0")
    with pytest.raises(DataError, match="FB215"):
        task.due(clips("wait", language="fr")[0], ENDPOINT)
    with pytest.raises(DataError, match="FB213"):
        task.gold(clips("done")[0])
    with pytest.raises(UsageError, match="FB103"):
        ClipsTask(missing="no")
    with pytest.raises(UsageError, match="FB103"):
        ClipsTask(languages="zh")


def test_a_stream_is_refused_before_it_hears_anything() -> None:
    stream = SystemSpec(name="s", version="1", streaming_step=0.1)
    with pytest.raises(UsageError, match=r"FB223 .*'s' streams"):
        ClipsTask().conditions(stream)


@pytest.mark.parametrize(("labels", "printed"), [(REAL[:2], False), (REAL[:3], True)])
def test_all_clips_are_printed_apart_only_where_there_are_others(
    labels: tuple[str, ...], printed: bool
) -> None:
    m = run(clips(*labels), [heard(0.9)] * len(labels))
    for metric in ("accuracy", "auc"):
        assert cell(m, metric, **ZH, clips="all").headline is printed
        assert cell(m, metric, **ZH, clips="complete+incomplete").headline is True
