import numpy as np
import pytest

from floorbench.core.vocab import Role
from floorbench.events.traces import SIGNALS
from floorbench.tasks.dualturn_features import (
    ACTION_FEATURES,
    OFFSETS,
    WORD_FEATURES,
    action_features,
    end_scores,
    offset_column,
    shift_score,
    word_features,
    word_scores,
)

FRAMES = 40
RAMP = np.arange(FRAMES) / FRAMES


def test_action_features_by_hand() -> None:
    columns = {"eot:user": RAMP, "hold:user": 1 - RAMP, "vad:system": RAMP, "fvad3:system": RAMP}
    found = action_features(columns, agent=Role.SYSTEM, anchor=np.array([20, 2]), frames=FRAMES)
    value = dict(zip(ACTION_FEATURES, found[0].tolist(), strict=True))
    assert value["peak eot user"] == 25 / FRAMES
    assert value["peak hold user"] == 25 / FRAMES
    assert value["mean vad agent"] == pytest.approx(20 / FRAMES)
    assert value["max fvad far agent"] == 25 / FRAMES
    assert value["max fvad near agent"] == 0
    assert value["eot - hold user"] == 0
    assert found[1][ACTION_FEATURES.index("peak eot user")] == 7 / FRAMES


def test_a_system_without_future_activity_gives_its_shares() -> None:
    columns = {"p_now:user": RAMP, "p_future:user": 1 - RAMP, "p_now:system": 1 - RAMP,
               "p_future:system": RAMP}  # fmt: skip
    found = action_features(columns, agent=Role.USER, anchor=np.array([20]), frames=FRAMES)[0]
    assert found[ACTION_FEATURES.index("max fvad near agent")] == 25 / FRAMES
    assert found[ACTION_FEATURES.index("max fvad far agent")] == 25 / FRAMES


def test_word_features_of_speaker_and_other() -> None:
    columns = {"eot:user": RAMP, "bc:system": 1 - RAMP}
    found = word_features(
        columns, speakers=[Role.USER, Role.SYSTEM, Role.USER], frame=np.array([8, 8, -1]),
        frames=FRAMES,
    )  # fmt: skip
    assert found.shape == (3, 2 * len(SIGNALS))
    assert found[0, WORD_FEATURES.index("eot speaker")] == 8 / FRAMES
    assert found[0, WORD_FEATURES.index("bc other")] == 32 / FRAMES
    assert found[1, WORD_FEATURES.index("eot other")] == 8 / FRAMES
    assert not found[2].any()
    assert word_scores(found)[0].tolist() == pytest.approx([1 - 0.8, 0.8, 0.2])


def test_the_score_at_an_offset_is_what_was_known_then() -> None:
    found = end_scores({"eot:user": RAMP}, role=Role.USER, end=np.array([20]), frames=FRAMES)
    assert list(found) == [offset_column(d) for d in OFFSETS]
    assert found["at+0ms"][0] == 19 / FRAMES
    assert found["at-960ms"][0] == 7 / FRAMES
    assert found["at+480ms"][0] == 25 / FRAMES


def test_without_eot_and_hold_the_other_ones_share_is_read() -> None:
    shares = {"p_now:user": RAMP, "p_now:system": 1 - RAMP}
    assert shift_score(shares, Role.USER, FRAMES).tolist() == (1 - RAMP).tolist()
    assert shift_score({}, Role.USER, FRAMES).tolist() == [0.0] * FRAMES
    assert shift_score({"hold:user": RAMP}, Role.USER, FRAMES).tolist() == (-RAMP).tolist()
