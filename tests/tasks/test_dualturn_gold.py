import numpy as np

from floorbench.core.vocab import Outcome, Role
from floorbench.events.dualturn import RATE, SignalRules, dualturn_signals
from floorbench.events.traces import trace_values
from floorbench.tasks.dualturn_gold import gold_trace
from floorbench.tasks.frame_units import activity
from support.frame_talk import TALK

RULES = SignalRules(min_gap=0)


def test_gold_says_the_labels_where_they_stand() -> None:
    vad = activity(TALK, rate=RATE)
    made = gold_trace(vad, RULES).trace
    assert made is not None
    values = dict(zip(made.columns, trace_values(made).T, strict=True))
    found = dualturn_signals(vad, RULES)
    for role in (Role.USER, Role.SYSTEM):
        own = found.channels[role]
        for name in ("eot", "hold"):
            at = np.flatnonzero(getattr(own, name))
            assert (values[f"{name}:{role}"][at] == 1).all()
        assert (values[f"vad:{role}"] == own.vad).all()
        known = own.fvad_known[:, 0]
        assert np.allclose(values[f"fvad1:{role}"][known], own.fvad[known, 0])
        assert not (values[f"eot:{role}"] * values[f"hold:{role}"]).any()


def test_a_session_without_a_frame_has_no_gold() -> None:
    empty = {role: np.zeros(0, dtype=bool) for role in (Role.USER, Role.SYSTEM)}
    assert gold_trace(empty, RULES).outcome is Outcome.ABSTAINED
