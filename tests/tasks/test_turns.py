from collections.abc import Sequence

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.prediction import Decision, Event, Prediction
from floorbench.core.sample import Observation, Sample
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import FAILED, INVALID, OK, point
from floorbench.metrics.latency import ANSWERED, CENSORED, MISSED
from floorbench.tasks.turns import TurnsTask

RATE = 8000
SYSTEM = SystemSpec(name="s", version="1", streaming_step=0.1)


def turn(name: str = "t", *, end: float | None = 2.0, seconds: float = 5.0) -> Sample:
    audio = ArrayAudio(np.zeros(round(seconds * RATE), dtype=np.float32), rate=RATE)
    return Sample(
        id=name,
        cluster=name,
        stratum="",
        observation=Observation(language="en", channels={Role.USER: audio}),
        target={"label": "complete"} | ({} if end is None else {"end": end}),
        tags={},
    )


def said(*takes: float, heard: float = 5.0, label: str = "take", name: str = "t") -> Prediction:
    events = [Event(kind="action", time=t - 0.5, label=label, commit=t) for t in takes]
    events.append(Event(kind="observed", time=heard, commit=heard))
    return Prediction(
        sample_id=name, condition="", trial=0, decision=Decision(events=tuple(events))
    )


def unit(prediction: Prediction | None, *, task: TurnsTask | None = None, **of: float):  # type: ignore[no-untyped-def]
    item = (turn(**of), "", 0, prediction)
    scored = (task or TurnsTask()).scored([item], system=SYSTEM)["sample"]
    return (
        round(float(scored.column("latency")[0]), 6),
        int(scored.column("status")[0]),
        int(scored.column("outcome")[0]),
    )


@pytest.mark.parametrize(
    ("takes", "latency", "status"),
    [
        ([2.4], 0.4, ANSWERED),  # by the commit time, not by what the event says of itself
        ([1.5], -0.5, ANSWERED),  # a false cut-in
        ([1.5, 2.4], -0.5, ANSWERED),  # what follows a cut-in does not mend it
        ([3.99], 1.99, ANSWERED),
        ([4.0], 0.0, MISSED),  # the window is half-open
        ([], 0.0, MISSED),
    ],
)
def test_the_first_take_decides(takes: Sequence[float], latency: float, status: int) -> None:
    assert unit(said(*takes))[:2] == (latency, status)


@pytest.mark.parametrize("end", [0.3, 0.9, 1.3, 2.3])
def test_edges_do_not_depend_on_the_noise_of_floats(end: float) -> None:
    late, noisy = end + 2.0, sum([0.1] * round(10 * end))  # as a stream may add its steps up
    for take, latency, status in ((noisy, 0.0, ANSWERED), (late, 0.0, MISSED)):
        assert unit(said(take), end=end)[:2] == (latency, status)
    item = (turn(end=end), "", 0, said(noisy))
    scored = TurnsTask().scored([item], system=SYSTEM)["sample"]
    assert list(scored.column("latency") < 0) == [False]  # no cut-in


def test_a_turn_not_heard_to_the_end_of_the_window_is_censored() -> None:
    assert unit(said(heard=3.5))[:2] == (1.5, CENSORED)
    assert unit(said(heard=3.6), seconds=3.5)[:2] == (1.5, CENSORED)
    assert unit(said(heard=1.0))[:2] == (0.0, CENSORED)


def test_a_stream_that_keeps_silent_says_up_to_where_it_heard() -> None:
    def of(*labels: str) -> Prediction:
        events = tuple(Event(kind="action", time=4.5, label=label, commit=4.5) for label in labels)
        return Prediction(sample_id="t", condition="", trial=0, decision=Decision(events=events))

    assert unit(of("keep"))[1:] == (MISSED, FAILED)
    assert unit(of("take"))[1:] == (MISSED, OK)  # too late: what came before was heard


def test_only_labels_that_take_the_floor_count() -> None:
    assert unit(said(2.4, label="keep"))[1] == MISSED
    assert unit(said(2.4, label="Yield"))[1] == ANSWERED
    assert unit(said(2.4, label="yield"), task=TurnsTask(takes=["go"]))[1] == MISSED
    assert unit(said(2.4, label="GO"), task=TurnsTask(takes=["go"]))[1] == ANSWERED


def test_an_answer_without_events_is_invalid_and_says_what_to_do() -> None:
    bare = Prediction(sample_id="t", condition="", trial=0, decision=Decision(label="complete"))
    assert unit(bare)[1:] == (MISSED, INVALID)
    assert "vad-detector" in (TurnsTask().problem(turn(), bare.decision) or "")
    failed = Decision(outcome=Outcome.FAILED, reason="it fell")
    assert TurnsTask().problem(turn(), failed) is None
    assert unit(None)[1] == MISSED


def test_cells_by_hand() -> None:
    takes = {"a": [1.0], "b": [2.2], "c": [2.6], "d": []}
    items = [(turn(n), "", 0, said(*t, name=n)) for n, t in takes.items()]
    task = TurnsTask()
    cells = task.measures(task.scored(items, system=SYSTEM), system=SYSTEM)
    found = {}
    for m in cells:
        key = m.slice.get("percentile") or m.metric.spec.name
        found[key, m.slice["turns"]] = point(m.metric, m.scored).value
    assert found["early_share", "all"] == 0.25
    assert found["answered_share", "all"] == 0.75
    assert found["accuracy", "all"] == 0.5
    assert found["50%", "not cut into"] == pytest.approx(0.6)  # of 0.2, 0.6, infinity
    assert found["90%", "not cut into"] is None
    assert found["50%", "all"] == pytest.approx(0.2)  # of -1, 0.2, 0.6 and infinity


def test_every_turn_says_in_words_what_happened() -> None:
    takes = {"a": [1.0], "b": [2.2], "c": []}
    items = [(turn(n), "", 0, said(*t, name=n)) for n, t in takes.items()]
    scored = TurnsTask().scored([*items, (turn("d"), "", 0, None)], system=SYSTEM)["sample"]
    words = (*scored.vocab["predicted"], "")  # no answer is -1
    assert [words[code] for code in scored.column("predicted")] == [
        "cut in",
        "taken",
        "not taken",
        "",
    ]
    assert {words[code] for code in scored.column("gold")} == {"taken"}


def test_gold_takes_the_floor_at_the_last_word() -> None:
    (event,) = TurnsTask().gold(turn()).events
    assert (event.label, event.commit) == ("take", 2.0)


def test_a_turn_without_an_end_is_refused() -> None:
    with pytest.raises(DataError, match=r"FB217 .*no end"):
        TurnsTask().gold(turn(end=None))


@pytest.mark.parametrize("bad", [{"window": 0}, {"window": None}, {"takes": []}, {"missing": "x"}])
def test_parameters_out_of_range_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="FB103"):
        TurnsTask(**bad)  # type: ignore[arg-type]


def test_a_last_word_behind_the_end_of_the_sound_is_refused() -> None:
    """Times in milliseconds would otherwise be turns that nobody ever took."""
    late = turn(end=2000.0)
    with pytest.raises(DataError, match=r"FB217 .*ends at 2000 s, the sound at 5\.000 s"):
        TurnsTask().observe(late, "")
    with pytest.raises(DataError, match=r"FB217"):
        unit(said(), end=5.2)
    assert TurnsTask().observe(turn(end=5.05), "")
    assert unit(said(), end=5.05)[:2] == (0.0, CENSORED)
