from dataclasses import replace

import numpy as np

from floorbench.core.sample import Word
from floorbench.core.time import Span
from floorbench.core.vocab import Role
from floorbench.systems.frames import hear
from floorbench.systems.frames_features import PARTIAL, features, frequent_words, names
from support.frame_talk import TALK_WITH_WORDS, cut

KNOWN = ("so", "yes")


def table(observation, role=Role.USER):
    heard = hear(observation)
    assert heard is not None
    found = features(heard, role, KNOWN)
    return {n: found[:, k] for k, n in enumerate(names(KNOWN))}


def test_every_column_has_a_name_once() -> None:
    assert len(set(names(KNOWN))) == len(names(KNOWN))
    assert len(table(TALK_WITH_WORDS)) == len(names(KNOWN))


def test_the_future_changes_no_row() -> None:
    heard = hear(TALK_WITH_WORDS)
    assert heard is not None
    whole = features(heard, Role.USER, KNOWN)
    for frames in (8, 20, 29, 30, 31, 50, 75):
        part = hear(cut(TALK_WITH_WORDS, frames * 0.08))
        assert part is not None
        assert (features(part, Role.USER, KNOWN) == whole[:frames]).all(), frames


def test_a_word_counts_from_the_frame_in_which_it_has_ended() -> None:
    said = table(TALK_WITH_WORDS)
    # 'so' ends at 1.6 s, the end of frame 19; 'yes' at 2.4 s, the end of frame 29.
    assert said["own said so"][18:20].tolist() == [0, 1]
    assert said["own said yes"][28:30].tolist() == [0, 1]
    assert said["own said so"][29] == 0
    other = table(TALK_WITH_WORDS, Role.SYSTEM)
    assert other["other said so"].tolist() == said["own said so"].tolist()


def test_classes_of_silence_and_speech_exclude_each_other() -> None:
    said = table(TALK_WITH_WORDS)
    silence = sum(v for k, v in said.items() if k.startswith("own silence ") and "," not in k)
    speech = sum(v for k, v in said.items() if k.startswith("own speech "))
    assert silence.tolist() == [1] * len(silence)
    assert (speech == said["own active"]).all()
    crossed = sum(v for k, v in said.items() if ", other speech" in k)
    assert crossed.tolist() == [1] * len(crossed)


def test_frequent_words_leave_out_noise_and_partial_words() -> None:
    spoken = [("so", 2), ("yes", 1), ("[noise]", 5), ("th-", 4), ("[laughter-yes]", 1)]
    words = [Word(text=t, span=Span(0, 1)) for t, n in spoken for _ in range(n)]
    assert frequent_words([words], most=9) == ("so", "yes")
    assert PARTIAL not in frequent_words([words], most=9)


def test_words_without_a_time_are_no_feature() -> None:
    bare = replace(TALK_WITH_WORDS, words=(Word(text="so"),))
    assert not table(bare)["own said so"].any()
    assert np.isfinite(np.stack(list(table(bare).values()))).all()
