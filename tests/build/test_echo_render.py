"""Where the insertion is placed, and that nothing on the tracks depends on the role."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from floorbench.build.echo_render import (
    LEAD_S,
    LEVEL_DB,
    RATE,
    Said,
    render,
)
from floorbench.build.echo_texts import Scene
from floorbench.build.mixing import active_level_db
from floorbench.core.vocab import Role
from floorbench.errors import DataError

SCENE = Scene(
    id="en-x-i",
    group="en-x",
    language="en",
    role="interruption",
    insertion="wait a bit",
    history=((Role.USER, "go on"),),
    before="one two",
    after=" three four five six seven eight",
)


class Speaker:
    """Says each word in half a second, with 0.2 s of silence around the utterance."""

    def __init__(self, *, seconds: float = 0.5) -> None:
        self._seconds = seconds
        self.asked: list[tuple[str, str, float]] = []

    def say(self, *, text: str, voice: str, speed: float, prefix: str | None = None) -> Said:
        self.asked.append((text, voice, speed))
        words = len(text.split())
        each = round(self._seconds * RATE)
        time = np.arange(words * each) / RATE
        pad = np.zeros(round(0.2 * RATE))
        audio = np.concatenate([pad, 0.4 * np.sin(2 * np.pi * 200 * time), pad])
        symbols = " ".join("ab" for _ in range(words))
        frames = [11]  # 0.275 s: the lead and the model's lateness
        frames += [*([9, 9, 2] * words)[:-1], 8]
        cut = None if prefix is None else 0.2 + len(prefix.split()) * self._seconds
        return Said(audio, symbols, np.array(frames), cut)

    def cuts(self, pieces: tuple[str, ...], voice: str) -> list[int | None]:
        return [None, *range(2, len(pieces))]


def test_the_insertion_starts_where_the_words_before_it_have_been_said() -> None:
    made = render(SCENE, Speaker(), seed=1)
    assert made.onset == pytest.approx(LEAD_S + 1.0, abs=0.011)
    assert made.end == pytest.approx(made.onset + 1.5, abs=0.021)
    assert made.system_end == pytest.approx(LEAD_S + 4.0, abs=0.021)
    first = round(made.onset * RATE)
    assert not np.any(made.user[:first])
    assert np.any(made.user[first : first + 400])
    assert made.user.size == made.system.size
    for track in (made.user, made.system):
        assert active_level_db(track, RATE) == pytest.approx(LEVEL_DB, abs=0.2)


def test_words_have_times_inside_the_insertion_and_unsure_ones_are_joined() -> None:
    made = render(SCENE, Speaker(), seed=1)
    assert [w.text for w in made.words] == ["wait a", "bit"]
    assert made.words[0].start == made.onset
    assert made.words[-1].end == made.end
    assert made.words[0].end == made.words[1].start


def test_the_role_changes_neither_track() -> None:
    speakers = [Speaker(), Speaker()]
    made = [
        render(dataclasses.replace(SCENE, role=role), speaker, seed=1)
        for role, speaker in zip(("interruption", "off_talk"), speakers, strict=True)
    ]
    assert np.array_equal(made[0].user, made[1].user)
    assert np.array_equal(made[0].system, made[1].system)
    assert speakers[0].asked == speakers[1].asked


def test_members_of_a_group_share_the_voice_and_are_spoken_apart() -> None:
    made = [render(dataclasses.replace(SCENE, id=f"en-x-{i}"), Speaker(), seed=1) for i in range(8)]
    assert len({m.voice for m in made}) == 1
    assert len({m.speed for m in made}) > 1


def test_an_insertion_that_outlasts_the_utterance_is_refused() -> None:
    long = dataclasses.replace(SCENE, after=" three four")
    with pytest.raises(DataError, match="FB904"):
        render(long, Speaker(), seed=1)
