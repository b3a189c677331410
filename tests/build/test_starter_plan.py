from pathlib import Path

import pytest

import floorbench
from floorbench.build.kokoro_voices import VOICES
from floorbench.build.starter_plan import clips_of
from floorbench.build.starter_texts import read_texts

ROOT = Path(floorbench.__file__).parent / "datasets" / "starter" / "codett"
DIALOGUES = {name: read_texts(ROOT / "texts" / f"{name}.json") for name in ("en", "zh")}


@pytest.fixture(params=DIALOGUES)
def plan(request):
    dialogues = DIALOGUES[request.param]
    return request.param, dialogues, clips_of(dialogues)


def test_each_dialogue_has_one_user_voice_at_one_speed(plan):
    _, dialogues, clips = plan
    for dialogue in dialogues:
        mine = [c for c in clips if c.dialogue == dialogue.id and c.role == "user"]
        assert len({(c.voice, c.speed) for c in mine}) == 1
        assert mine[0].voice in VOICES[dialogue.language]["user"]


def test_other_speakers_are_others(plan):
    language, _, clips = plan
    for role in ("third_party", "background"):
        used = {c.voice for c in clips if c.role == role}
        assert used == set(VOICES[language][role])


def test_each_history_turn_is_one_file_shared_by_the_items(plan):
    _, dialogues, clips = plan
    assert len(clips) == sum(5 + len(d.items) for d in dialogues)
    assert len({c.audio for c in clips}) == len(clips)


def test_file_names_are_neutral_and_stable(plan):
    language, _, clips = plan
    for clip in clips:
        folder, name = clip.audio.rsplit("/", 1)
        assert folder == f"audios/{language.upper()}/syn"
        stem = name.removesuffix(".opus")
        assert len(stem) == 12
        assert int(stem, 16) >= 0


def test_one_dialogue_does_not_depend_on_the_rest_for_its_scene(plan):
    _, dialogues, clips = plan
    alone = {c.id: c for c in clips_of(dialogues[7:8])}
    for clip in clips:
        if clip.id in alone:
            other = alone[clip.id]
            assert (clip.room, clip.speed, clip.audio) == (other.room, other.speed, other.audio)


def test_noise_has_no_voice_and_no_noise_file_is_used_twice_in_a_language(plan):
    _, _, clips = plan
    noises = [c.noise for c in clips if c.noise]
    assert len(noises) == 12
    assert len(set(noises)) == 12
    assert all(c.voice is None and c.text == "" for c in clips if c.noise)


def test_distraction_is_lower_than_the_user_and_comes_from_a_room(plan):
    _, dialogues, clips = plan
    scenario = {i.id: i.scenario for d in dialogues for i in d.items}
    for clip in clips:
        if scenario.get(clip.id) == "Distraction":
            assert clip.level_db <= -36
            assert clip.room is not None
            assert clip.babble_db is not None
