import re

import pytest

from floorbench.core.prediction import Decision
from floorbench.core.spec import SystemSpec
from floorbench.datasets.clips import LABELS as CLIP_LABELS
from floorbench.datasets.codett_labels import ACTIONS
from floorbench.errors import UsageError
from floorbench.tasks.codett import CodettTask
from floorbench.tasks.labelmaps import TABLES, ReadsNative, label_map, native_label, unread


def action(table: str, said: str) -> str | None:
    native = label_map(table).native(said)
    return None if native is None else label_map(table).actions[native]


@pytest.mark.parametrize(
    ("table", "said", "expected"),
    [
        ("smart-turn", "complete", "Takeover"),
        ("smart-turn", "incomplete", "Dismiss"),
        ("firered", "complete", "Takeover"),
        ("namo", "INCOMPLETE", "Dismiss"),
        ("easy-turn", "<COMPLETE>", "Takeover"),
        ("easy-turn", "<INCOMPLETE>", "Dismiss"),
        ("easy-turn", "<BACKCHANNEL>", "Maintain"),
        ("easy-turn", "wait", "StopandListen"),
        ("ten", "finished", "Takeover"),
        ("ten", "unfinished", "Dismiss"),
        ("ten", "wait", "StopandListen"),
        ("ke-semanticvad", "<完成>", "Takeover"),
        ("ke-semanticvad", "<未完>", "Dismiss"),
        ("ke-semanticvad", "未完成", "Dismiss"),
        ("ke-semanticvad", "<打断>", "StopandListen"),
        ("ke-semanticvad", "附和", "Maintain"),
    ],
)
def test_native_labels_mean_actions(table: str, said: str, expected: str) -> None:
    assert action(table, said) == expected


def test_lookup_is_never_by_substring() -> None:
    assert action("ke-semanticvad", "已经完成了") is None
    assert action("easy-turn", "not complete") is None


def test_every_meaning_is_a_label_of_its_task() -> None:
    for table in TABLES.values():
        assert set(table.actions.values()) <= set(ACTIONS)
        assert set(table.clips.values()) <= set(CLIP_LABELS)
        assert {table.positive, table.negative} <= {None, *table.actions}


def test_ten_has_no_maintain() -> None:
    assert "Maintain" not in TABLES["ten"].actions.values()


def test_an_unknown_table_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"(?s)FB221.*did you mean 'smart-turn'"):
        label_map("smart_turn")


@pytest.mark.parametrize(
    ("score", "threshold", "expected"),
    [
        (0.7, None, "incomplete"),
        (0.7, 0.5, "complete"),
        (0.5, 0.5, "incomplete"),
        (0.2, 0.08, "complete"),
        (None, 0.5, "incomplete"),
    ],
)
def test_a_threshold_overrides_the_label(
    score: float | None, threshold: float | None, expected: str | None
) -> None:
    table = label_map("smart-turn")
    said = native_label(Decision(label="incomplete"), table, score=score, threshold=threshold)
    assert said == expected


def test_a_threshold_says_nothing_about_systems_without_a_positive_label() -> None:
    said = native_label(Decision(label="WAIT"), label_map("ten"), score=None, threshold=0.5)
    assert said == "wait"


@pytest.mark.parametrize(
    ("said", "table", "problem"),
    [
        (None, None, None),
        ("Takeover", None, None),
        ("anything", None, None),  # the task itself says what is wrong with it
        ("<COMPLETE>", None, "a system's own word.*known from smart-turn, firered, namo, easy"),
        ("<COMPLETE>", "smart-turn", None),
        ("finished", "smart-turn", "label 'finished' is not in the label map 'smart-turn'"),
        ("Takeover", "smart-turn", "label 'Takeover' is not in the label map 'smart-turn'"),
    ],
)
def test_a_word_without_a_meaning(said: str, table: str, problem: str | None) -> None:
    system = SystemSpec(name="mine", version="1", label_map=table)
    found = unread(said, ACTIONS, system)
    assert found is None if problem is None else re.search(problem, found)
    task = CodettTask()
    assert isinstance(task, ReadsNative)
    assert task.unread(Decision(label=said), system) == found


def test_the_own_words_of_a_task_need_no_map() -> None:
    assert unread("complete", CLIP_LABELS, SystemSpec(name="mine", version="1")) is None
