from collections import Counter

from floorbench.datasets import codett_labels as labels


def test_fourteen_labels_seven_per_state() -> None:
    assert len(set(labels.LABELS)) == 14
    assert Counter(i.state for i in labels.INTENTS) == {"SystemSpeaking": 7, "SystemIdle": 7}


def test_scenarios_per_action_follow_the_table() -> None:
    assert [len(labels.labels_of(a)) for a in labels.ACTIONS] == [4, 3, 2, 5]
    assert labels.actions_of("SystemIdle") == ("Takeover", "Dismiss")


def test_three_scenario_names_occur_in_both_states() -> None:
    states: dict[str, set[str]] = {}
    for intent in labels.INTENTS:
        states.setdefault(intent.scenario, set()).add(intent.state)
    both = {name for name, found in states.items() if len(found) == 2}
    assert both == {"Invalidation", "Dismissal", "SideTalk"}


def test_every_action_belongs_to_one_state() -> None:
    assert labels.STATE_OF == {
        "Maintain": "SystemSpeaking",
        "StopandListen": "SystemSpeaking",
        "Takeover": "SystemIdle",
        "Dismiss": "SystemIdle",
    }


def test_names_are_found_in_any_spelling() -> None:
    assert labels.find_state("System_Idle") == "SystemIdle"
    assert {labels.find_action(n) for n in ("Stop_Listen", "Stop & Listen", "STOPANDLISTEN")} == {
        "StopandListen"
    }
    assert labels.find_scenario("side-talk") == "SideTalk"
    assert labels.find_action("Dismissal") is None
    assert labels.find_scenario("Dismiss") is None


def test_spellings_of_a_label() -> None:
    intent = labels.BY_LABEL["SystemSpeaking_StopandListen_Dismissal"]
    assert intent.tags == "<|StopandListen|><|Dismissal|>"
