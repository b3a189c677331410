from floorbench.core.prediction import Decision, Event
from floorbench.web.gold import gold_events


def test_events_of_the_gold_decision_come_first() -> None:
    gold = Decision(events=(Event(kind="yield", time=2.0, end=3.0, label="gives way"),))
    assert gold_events({"slots": [{"time": 1, "kind": "slot"}, {"no": "time"}]}, gold) == [
        {"kind": "gives way", "start": 2.0, "end": 3.0},
        {"kind": "slot", "start": 1.0, "end": None},
    ]


def test_what_has_no_time_is_no_event() -> None:
    assert gold_events({"a": True, "b": {"x": "y"}, "c": [True], "d": {}}, Decision()) == []
