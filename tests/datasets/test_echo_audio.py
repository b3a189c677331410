"""The listening version equals what systems get up to the onset, sample by sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.audio.ref import FileAudio
from floorbench.datasets.echo_audio import SilencedAudio, listening
from floorbench.datasets.echo_tables import ListeningRow
from floorbench.errors import DataError

RATE = 16_000
HOW = ListeningRow(emphasis_db=6.0, emphasis_s=0.2, reaction_s=0.1, fade_s=0.2)


@pytest.fixture
def sound() -> np.ndarray:
    return (0.1 * np.random.default_rng(1).standard_normal(2 * RATE)).astype(np.float32)


def test_emphasis_starts_at_the_onset_and_ends(sound: np.ndarray) -> None:
    heard = listening(sound, rate=RATE, onset=1.0, role="user", how=HOW)
    assert np.array_equal(heard[:RATE], sound[:RATE])
    inside = slice(RATE, RATE + 3200)
    assert np.allclose(heard[inside], sound[inside] * 10**0.3)
    assert np.array_equal(heard[RATE + 3200 :], sound[RATE + 3200 :])


def test_the_assistant_fades_to_silence_after_the_reaction(sound: np.ndarray) -> None:
    heard = listening(sound, rate=RATE, onset=1.0, role="system", how=HOW)
    first = round(1.1 * RATE)
    assert np.array_equal(heard[:first], sound[:first])
    assert np.all(np.abs(heard[first : first + 3200]) <= np.abs(sound[first : first + 3200]))
    assert not np.any(heard[first + 3200 :])


@pytest.mark.parametrize("role", ["user", "system"])
def test_a_role_that_keeps_the_floor_changes_nothing(sound: np.ndarray, role: str) -> None:
    assert np.array_equal(listening(sound, rate=RATE, onset=1.0, role=role, how=None), sound)


def test_silenced_audio_is_silent_from_its_moment_on(tmp_path: Path, sound: np.ndarray) -> None:
    soundfile.write(tmp_path / "a.wav", sound, RATE, "FLOAT")
    whole = FileAudio(tmp_path / "a.wav")
    audio = SilencedAudio(whole, silent_from=1.0)
    assert (audio.rate, audio.frames) == (RATE, 2 * RATE)
    assert np.array_equal(audio.read(end=1.0), sound[:RATE])
    assert not np.any(audio.read(start=1.0))
    assert np.array_equal(audio.read(start=0.5, end=1.5)[: RATE // 2], sound[RATE // 2 : RATE])
    assert not np.any(audio.read(start=0.5, end=1.5)[RATE // 2 :])
    assert audio.read(rate=8000).size == RATE
    assert audio.digest() != whole.digest()
    assert audio.digest() != SilencedAudio(whole, silent_from=0.9).digest()
    short = audio.narrow(cutoff=1.2)
    assert short.cutoff == 1.2
    with pytest.raises(DataError, match="FB307"):
        short.read(end=1.5)
    again = SilencedAudio.from_wire(short.to_wire())
    assert np.array_equal(again.read(), short.read())
    assert ".wav" not in repr(audio)
