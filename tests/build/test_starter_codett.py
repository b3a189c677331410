import json

import numpy as np
import pytest
import soundfile

from floorbench.build import starter_codett, starter_render
from floorbench.build.kokoro_voices import VOICES
from floorbench.build.mixing import Room
from floorbench.build.starter_plan import Clip
from floorbench.build.starter_render import Line, Renderer, Task
from floorbench.build.starter_texts import Dialogue, Item

ITEM = Item(
    id="en-001-b",
    state="SystemSpeaking",
    action="Maintain",
    scenario="SideTalk",
    text="Mum, it's at 10:30 today.",
    source="Mum, it's at 10:30 today.",
    noise=None,
)
DIALOGUE = Dialogue(
    id="en-001",
    language="en",
    topic="t",
    history=tuple((f"question {n}", f"answer {n}") for n in range(5)),
    items=(ITEM,),
)


def clip(**changes):
    base = {
        "id": "en-001-b",
        "dialogue": "en-001",
        "language": "en",
        "role": "user",
        "level_db": -26.0,
        "text": "hello there",
    }
    return Clip(**(base | changes))


def test_a_line_has_the_released_layout():
    line = starter_codett.example(DIALOGUE, ITEM)
    messages = line["messages"]
    assert [m["role"] for m in messages] == ["system", *["user", "assistant"] * 6]
    assert messages[-1]["content"] == "<|Maintain|><|SideTalk|>"
    target = messages[-2]
    assert (
        target["content"] == "系统当前状态: <|SystemSpeaking|> 输入内容：Mum, it's at 10:30 today."
    )
    assert messages[1]["content"] == "系统当前状态: <|SystemIdle|> 输入内容：question 0"
    assert all("audio" in m for m in messages if m["role"] == "user")
    assert not any("audio" in m for m in messages if m["role"] != "user")
    assert len({m["audio"] for m in messages if m["role"] == "user"}) == 6
    assert line["dialogue"] == "en-001"


def test_jsonl_files_lie_under_state_action_and_scenario(tmp_path):
    starter_codett.write_jsonl(tmp_path, [DIALOGUE])
    path = tmp_path / "jsonls/EN/syn/SystemSpeaking/Maintain/SideTalk.jsonl"
    assert json.loads(path.read_text("utf-8"))["id"] == "en-001-b"


def test_opus_file_is_small_and_left_alone_when_it_sounds_the_same(tmp_path):
    t = np.arange(32_000) / 16_000
    samples = (3000 * np.sin(2 * np.pi * 440 * t)).astype(np.int16)
    master = tmp_path / "m.flac"
    soundfile.write(master, samples, 16_000)
    target = tmp_path / "a" / "x.opus"
    first = starter_codett.encode(master, target)
    before = target.read_bytes()
    assert starter_codett.encode(master, target) == first
    assert target.read_bytes() == before
    info = soundfile.info(target)
    assert (info.samplerate, info.channels, info.subtype) == (16_000, 1, "OPUS")
    assert info.frames == 32_000
    assert len(before) < 12_000
    soundfile.write(master, samples[::-1] // 2, 16_000)
    assert starter_codett.encode(master, target) != first


@pytest.fixture
def renderer(tmp_path, monkeypatch):
    """A renderer whose voice says half a second of 200 Hz per word, with spaces of 0.1 s."""
    assets = tmp_path / "assets"
    (assets / "noise").mkdir(parents=True)
    rng = np.random.default_rng(1)
    soundfile.write(assets / "noise" / "hum.flac", rng.uniform(-0.3, 0.3, (4 * 44_100, 2)), 44_100)
    made = []

    class Voice:
        def __init__(self, folder):
            assert folder == assets

        def say(self, *, phonemes, voice, speed):
            made.append((phonemes, voice, speed))
            frames = [4, *(4 if p == " " else 20 for p in phonemes), 4]
            loud = [0, *(p != " " for p in phonemes), 0]
            envelope = np.repeat(np.repeat(loud, frames), 600)
            t = np.arange(len(envelope)) / 24_000
            hertz = 200.0 + 40 * len(voice)
            samples = (0.1 * envelope * np.sin(2 * np.pi * hertz * t)).astype(np.float32)
            return starter_render.kokoro.Speech(
                samples=samples, phonemes=phonemes, frames=np.array(frames)
            )

    monkeypatch.setattr(starter_render.kokoro, "Kokoro", Voice)
    return Renderer(assets=assets, cache=tmp_path / "cache"), tmp_path / "cache", made


def read(cache, record):
    return soundfile.read(cache / "masters" / f"{record['master']}.flac")


def test_a_plain_line_has_fixed_silence_around_it(renderer):
    render, cache, _ = renderer
    line = Line(phonemes="a b", voice="v", speed=1.0)
    record = render.render(Task(clip=clip(voice="v", source="x"), line=line))
    audio, rate = read(cache, record)
    assert rate == 16_000
    assert np.all(audio[:1600] == 0)
    assert np.all(audio[-3200:] == 0)
    assert record["duration_s"] == pytest.approx(0.3 + 0.5 + 0.1 + 0.5, abs=0.03)
    assert record["level_achieved_db"] == pytest.approx(-26.0, abs=0.05)


def test_a_cut_line_keeps_its_first_words_only(renderer):
    render, cache, _ = renderer
    line = Line(phonemes="a b c", voice="v", speed=1.0, keep_words=2)
    record = render.render(Task(clip=clip(voice="v", source="x", cut_after="x"), line=line))
    at = (4 + 20 + 4 + 20 + 2) * 0.025 - 0.075
    assert record["cut_s"] == pytest.approx(at)
    # 0.1 s of start mark is trimmed, then the lead and the tail are added.
    assert record["duration_s"] == pytest.approx(at - 0.1 + 0.3, abs=0.02)
    audio, _ = read(cache, record)
    assert np.all(audio[-3200:] == 0)


def test_babble_reaches_the_requested_ratio_and_fills_the_tail(renderer):
    render, cache, _ = renderer
    line = Line(phonemes="a b", voice="v", speed=1.0)
    babble = tuple(Line(phonemes="c d", voice=v * n, speed=1.0) for n, v in enumerate("xyz", 2))
    record = render.render(
        Task(clip=clip(voice="v", source="x", babble_db=10.0), line=line, babble=babble)
    )
    assert record["snr_requested_db"] == 10.0
    assert record["snr_achieved_db"] == pytest.approx(10.0, abs=0.001)
    audio, _ = read(cache, record)
    assert np.any(audio[:1600] != 0)


def test_noise_is_mono_shortened_and_faded(renderer):
    render, cache, _ = renderer
    record = render.render(Task(clip=clip(text="", noise="hum", level_db=-30.0), line=None))
    audio, _ = read(cache, record)
    assert audio.ndim == 1
    assert record["duration_s"] == pytest.approx(2.8)
    assert record["level_achieved_db"] == pytest.approx(-30.0, abs=0.05)
    assert np.all(audio[-3200:] == 0)


def test_a_finished_master_is_used_again_and_a_changed_clip_is_not(renderer):
    render, cache, made = renderer
    task = Task(clip=clip(voice="v", source="x"), line=Line(phonemes="a", voice="v", speed=1.0))
    first = render.render(task)
    again = Renderer(assets=cache, cache=cache).render(task)
    assert again == first
    assert len(made) == 1
    room = Room(size=(5, 4, 3), source=(1, 1, 1), microphone=(2, 2, 1), rt60_s=0.3)
    other = Task(clip=clip(voice="v", source="x", room=room), line=task.line)
    louder = Task(clip=clip(voice="v", source="x", level_db=-20.0), line=task.line)
    assert len({task.key, other.key, louder.key}) == 3
    assert render.render(louder)["master_sha256"] != first["master_sha256"]
    assert len(made) == 1
    assert not list(cache.glob("**/.*"))


class _HerePool:
    """Stands in for the process pool: the same calls, in this process."""

    def __init__(self, *, max_workers, mp_context):
        assert 1 <= max_workers <= 2

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def map(self, work, tasks, chunksize):
        return map(work, tasks)


@pytest.fixture
def small_world(renderer, tmp_path, monkeypatch):
    render, cache, made = renderer
    assets = tmp_path / "assets"
    credit = {"author": "2010 Ann <a@b>", "source": "http://x.example", "sha256": "0" * 64}
    (assets / "noise" / "credits.json").write_text(json.dumps({"hum.flac": credit}))
    (assets / "voices").mkdir()
    for roles in VOICES.values():
        for name in (v for pool in roles.values() for blend in pool for v in blend.split("+")):
            (assets / "voices" / f"{name}.bin").write_bytes(name.encode())
    noise = Item(
        id="en-001-a",
        state="SystemIdle",
        action="Dismiss",
        scenario="Invalidation",
        text="",
        source="",
        noise="hum",
    )
    dialogue = Dialogue(
        id="en-001", language="en", topic="t", history=DIALOGUE.history, items=(noise, ITEM)
    )
    monkeypatch.setattr(starter_codett, "read_texts", lambda path: (dialogue,))
    monkeypatch.setitem(starter_codett.speech_assets.NOISE_KINDS, "hum", "hum")
    monkeypatch.setattr(starter_codett.speech_assets, "assemble", lambda folder: assets)
    monkeypatch.setattr(
        starter_codett,
        "prepare",
        lambda clips: [
            Task(
                clip=c,
                line=Line(phonemes=f"a {c.id[-1]}", voice=c.voice, speed=c.speed)
                if c.voice
                else None,
            )
            for c in clips
        ],
    )
    monkeypatch.setattr(starter_codett, "ProcessPoolExecutor", _HerePool)
    monkeypatch.setattr(starter_codett, "_renderer", lambda assets, cache: render)
    monkeypatch.setattr(starter_render.mixing, "impulse_response", lambda room, rate: np.ones(1))
    out = tmp_path / "set"
    (out / "texts").mkdir(parents=True)
    (out / "texts" / "en.json").write_text("{}")
    return out, cache, made


def test_a_whole_set_is_written_and_a_second_run_changes_nothing(small_world):
    out, cache, made = small_world
    stranger = out / "audios/EN/syn/old.opus"
    stranger.parent.mkdir(parents=True)
    stranger.write_bytes(b"left over")
    digest = starter_codett.build(out=out, cache=cache)
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["digest"] == digest
    assert manifest["totals"]["items"] == 2
    assert manifest["tools"]["numpy"] == np.__version__
    assert manifest["totals"]["audio_files"] == 7
    assert not stranger.exists()
    assert manifest["clips"]["en-001-a"]["noise_kind"] == "hum"
    assert manifest["clips"]["en-001-b"]["scenario"] == "SideTalk"
    assert "| `hum.flac` | hum | 2010 Ann (a@b) | <http://x.example> |" in (
        out / "LICENSES.md"
    ).read_text("utf-8")
    files = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    spoken = len(made)
    assert starter_codett.build(out=out, cache=cache, workers=1) == digest
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == files
    assert len(made) == spoken
