"""The recipe's tables, and the set that it made: committed files against their manifest."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.audio.ref import FileAudio
from floorbench.build import echo
from floorbench.build.echo_render import RATE
from floorbench.build.echo_texts import read_texts, scenes
from floorbench.core.vocab import Role
from floorbench.datasets.echo import EchoSource
from floorbench.datasets.echo_audio import listening
from floorbench.datasets.open import STARTER
from support import echo_tiny

SET = STARTER / "echo"


@pytest.fixture(scope="module")
def source() -> EchoSource:
    return EchoSource(SET)


def test_the_set_is_what_the_texts_say(source: EchoSource) -> None:
    todo = [
        s for lang in echo.LANGUAGES for s in scenes(read_texts(SET / "texts" / f"{lang}.json"))
    ]
    assert [r.sample_id for r, _ in source.rows] == [s.id for s in todo]
    for (row, _), scene in zip(source.rows, todo, strict=True):
        assert (row.role, row.insertion, row.spoken_prefix) == (
            scene.role, scene.insertion, scene.before
        )  # fmt: skip
        assert [(t.role, t.text) for t in row.history] == [(r.value, t) for r, t in scene.history]


def test_every_file_has_the_content_of_the_manifest(source: EchoSource) -> None:
    pcm = json.loads((SET / "manifest.json").read_text("utf-8"))["pcm"]
    files = {p.relative_to(SET).as_posix() for p in SET.glob("audio/**/*.opus")}
    assert files == set(pcm)
    for name in sorted(files)[::17]:
        assert FileAudio(SET / name).digest() == pcm[name]
    assert sum(p.stat().st_size for p in SET.rglob("*") if p.is_file()) < 8_000_000


def test_both_versions_are_equal_up_to_the_event(source: EchoSource) -> None:
    for row, at in source.rows[::9]:
        first = round(row.events.insertion_start * RATE)
        for role in (Role.USER, Role.SYSTEM):
            audio = source.channel(row, role, place=at)
            assert audio is not None
            given = audio.read()
            heard = listening(
                given, rate=RATE, onset=row.events.insertion_start, role=role.value,
                how=row.listening,
            )  # fmt: skip
            assert np.array_equal(given[:first], heard[:first])
            assert np.array_equal(given, heard) == (row.role != "interruption")


def test_the_user_is_silent_before_the_onset_and_the_assistant_plays_to_its_end(
    source: EchoSource,
) -> None:
    for row, at in source.rows[::9]:
        user, system = (source.channel(row, r, place=at) for r in (Role.USER, Role.SYSTEM))
        assert user is not None
        assert system is not None
        before = user.read(end=row.events.insertion_start - 0.05)
        inside = user.read(start=row.events.insertion_start, end=row.events.insertion_end)
        assert np.sqrt(np.mean(before**2)) < 0.02 * np.sqrt(np.mean(inside**2))
        last = system.read(start=row.events.system_end - 0.5, end=row.events.system_end)
        assert np.max(np.abs(last)) > 0.01


def test_opus_is_encoded_once(tmp_path: Path) -> None:
    track = 0.1 * np.sin(2 * np.pi * 200 * np.arange(RATE) / RATE)
    digest = echo.encode(track, tmp_path / "a.opus")
    before = (tmp_path / "a.opus").read_bytes()
    assert echo.encode(track, tmp_path / "a.opus") == digest
    assert (tmp_path / "a.opus").read_bytes() == before
    assert FileAudio(tmp_path / "a.opus").frames == RATE


def test_the_listening_version_can_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = echo_tiny.build(tmp_path / "set", languages=("en",))
    echo.main(["--out", str(folder), "--listening", str(tmp_path / "heard")])
    assert capsys.readouterr().out.startswith("9 files")
    role = {s["sample_id"]: s["role"] for s in echo_tiny.rows(languages=("en",))}
    for path in sorted((tmp_path / "heard").glob("*.flac")):
        samples, rate = soundfile.read(path)
        assert (rate, samples.shape[1]) == (RATE, 2)
        ends_silent = not np.any(samples[2 * RATE :, 1])
        assert ends_silent == (role[path.stem] == "interruption")
