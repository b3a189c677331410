from collections.abc import Callable
from itertools import pairwise

import pytest

from floorbench import codec
from floorbench.core.prediction import Decision
from floorbench.core.sample import Sample
from floorbench.core.vocab import Role
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.codett_labels import BY_LABEL, STATES
from floorbench.errors import DataError, UsageError
from floorbench.tasks.codett import CodettTask
from support import codett_tiny as tiny
from support.scoring import due_items, score, system, value


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    root = tiny.build(tmp_path_factory.mktemp("codett"), history=4, audio=False)
    return list(CodettSource(root).samples())


def gold(task: CodettTask) -> Callable[[Sample, str], Decision]:
    return lambda sample, condition: task.gold(sample)


def test_conditions_follow_the_context_of_the_system() -> None:
    task = CodettTask()
    assert task.conditions(system(context="none")) == ("h0",)
    assert task.conditions(system(context="current user turn")) == ("h0",)
    assert task.conditions(system(context="dialogue")) == ("h0", "h1", "h3", "h5")


def test_conditions_show_more_and_more_history(samples: list[Sample]) -> None:
    task = CodettTask()
    shown = [task.observe(samples[0], c).turns for c in task.spec.conditions]
    assert [len(t) for t in shown] == [0, 2, 6, 8]
    assert all(later[len(later) - len(t) :] == t for t, later in pairwise(shown))


def test_the_state_is_given_even_without_history(samples: list[Sample]) -> None:
    speaking = next(s for s in samples if s.observation.state == "SystemSpeaking")
    shown = CodettTask().observe(speaking, "h0")
    assert (shown.state, shown.turns) == ("SystemSpeaking", ())


def test_views(samples: list[Sample]) -> None:
    sample = samples[0]
    audio = CodettTask(view="audio").observe(sample, "h1")
    assert [(t.role, t.text is None, t.audio is None) for t in audio.turns] == [
        (Role.USER, True, False),
        (Role.SYSTEM, False, True),
    ]
    assert audio.text is None
    text = CodettTask(view="text").observe(sample, "h1")
    assert (text.channels, text.turns[0].audio) == ({}, None)
    auto = CodettTask()
    assert auto.observe(sample, "h1").text is not None
    assert auto.observe(sample, "h1", system=system(modalities=("audio",))) == audio
    assert auto.observe(sample, "h1", system=system(modalities=("text",))) == text


def test_the_question_depends_on_state_and_language_alone(samples: list[Sample]) -> None:
    task = CodettTask()
    questions: dict[tuple[str | None, str], set[object]] = {}
    for sample in samples:
        shown = task.observe(sample, "h5")
        questions.setdefault((shown.state, shown.language), set()).add(shown.question)
    assert len(questions) == 4
    assert all(len(found) == 1 for found in questions.values())
    english = CodettTask(prompt_language="en")
    assert len({english.observe(s, "h0").question for s in samples}) == len(STATES)


def test_unknown_conditions_languages_and_labels_are_errors(samples: list[Sample]) -> None:
    with pytest.raises(DataError, match="FB222"):
        CodettTask().observe(samples[0], "h2")
    with pytest.raises(DataError, match="FB215"):
        CodettTask(languages=["zh"]).due(samples[0], system())
    broken = Sample(id="x", cluster="x", observation=samples[0].observation, target={"label": "?"})
    with pytest.raises(DataError, match=r"FB213 x"):
        CodettTask().gold(broken)


@pytest.mark.parametrize(
    "options",
    [
        {"stage": "both"}, {"parser": "loose"}, {"missing": "ignore"}, {"view": "none"},
        {"prompt": "v0"}, {"prompt_language": "fr"}, {"languages": "zh"}, {"languages": []},
    ],
)  # fmt: skip
def test_bad_parameters_are_errors(options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="FB103"):
        CodettTask(**options)


def test_every_parameter_is_in_the_signature() -> None:
    base = codec.digest(CodettTask().spec.parameters)
    for options in (
        {"stage": "action"}, {"parser": "lenient"}, {"missing": "drop"}, {"threshold": 0.3},
        {"view": "audio"}, {"prompt_language": "zh"}, {"languages": ("zh",)},
    ):  # fmt: skip
        assert codec.digest(CodettTask(**options).spec.parameters) != base, options


def test_due_follows_the_declared_cells(samples: list[Sample]) -> None:
    task = CodettTask()
    endpoint = system(label_map="smart-turn", states=("SystemIdle",))
    assert {s.observation.state for s in samples if task.due(s, endpoint)} == {"SystemIdle"}
    easy = system(label_map="easy-turn", languages=("zh",))
    assert {s.tags["language"] for s in samples if task.due(s, easy)} == {"zh"}
    ten = system(label_map="ten")
    assert "Maintain" not in {s.tags["action"] for s in samples if task.due(s, ten)}


def test_units_carry_history_counts_and_codes(samples: list[Sample]) -> None:
    task = CodettTask()
    spec = system(context="dialogue")
    items = due_items(task, samples, spec, gold(task), trials=2)
    units = task.scored(items, system=spec)["sample"]
    assert len(units) == len(items) == 28 * 4 * 2
    assert set(units.weight.tolist()) == {0.5}
    h5 = units.where(units.column("condition") == units.code("condition", "h5"))
    assert h5.column("short").all()
    assert not units.where(units.column("condition") == 1).column("short").any()
    assert not units.column("absent").any()
    assert (units.column("gold_intent") == units.column("predicted_intent")).all()


def test_undeclared_samples_make_no_unit_even_when_predicted(samples: list[Sample]) -> None:
    task = CodettTask()
    everything = due_items(task, samples, system(), gold(task))
    units = task.scored(everything, system=system(label_map="smart-turn"))["sample"]
    assert len(units) == 14


def test_a_perfect_system_scores_one_everywhere(samples: list[Sample]) -> None:
    task = CodettTask()
    spec = system(context="dialogue")
    _, measures = score(task, samples, spec, gold(task))
    for condition in task.conditions(spec):
        for language in ("zh", "en"):
            where = {"language": language, "condition": condition}
            assert value(measures, "average_all4", **where).value == 1
            assert value(measures, "accuracy", **where, stage="intent").value == 1


def test_stage_one_alone_has_no_stage_two_cells(samples: list[Sample]) -> None:
    task = CodettTask(stage="action")
    assert task.gold(samples[0]).label == BY_LABEL[samples[0].target["label"]].action
    _, measures = score(task, samples, system(), gold(task))
    assert {m.metric.spec.name for m in measures} == {
        "class_accuracy", "macro_accuracy", "average_all4", "accuracy",
    }  # fmt: skip


def test_changing_the_parser_needs_no_new_run(samples: list[Sample]) -> None:
    def loose(sample: Sample, condition: str) -> Decision:
        return Decision(raw=sample.target["label"].replace("_", " - "))

    where = {"language": "zh", "condition": "h0"}
    for parser, expected in (("strict", 0.0), ("lenient", 1.0)):
        scored, measures = score(CodettTask(parser=parser), samples, system(), loose)
        assert value(measures, "average_all4", **where).value == expected
        assert scored["sample"].column("relaxed").mean() == expected
