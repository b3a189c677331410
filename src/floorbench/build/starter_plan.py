"""From texts to clips: who speaks, how fast, in which room, at which level. No audio here."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from floorbench.build.kokoro_voices import BABBLE, VOICES
from floorbench.build.mixing import Room, draw_room
from floorbench.build.starter_texts import Dialogue, Item

SEED = 20260
RATE = 16_000
LEAD_S = 0.1
TAIL_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """How a scenario sounds: who, level in dBFS, distance range in metres, babble ratio in dB."""

    role: str
    level_db: float
    distance_m: tuple[float, float] | None = None
    babble_db: float | None = None


DRY = Scene(role="user", level_db=-26.0)
SCENES = {
    "SideTalk": Scene(role="user", level_db=-29.0, distance_m=(0.8, 1.5)),
    "Collaboration": Scene(role="third_party", level_db=-28.0, distance_m=(0.8, 1.5)),
    "Cooperation": Scene(role="third_party", level_db=-28.0, distance_m=(0.8, 1.5)),
    "Distraction": Scene(role="background", level_db=-38.0, distance_m=(1.8, 2.4), babble_db=15.0),
    "Exclusion": Scene(role="third_party", level_db=-32.0, distance_m=(1.4, 2.2), babble_db=10.0),
    "Invalidation": Scene(role="noise", level_db=-30.0),
}
NOISE_MAX_S = 2.5
NOISE_FADE_S = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """Everything that decides one audio file; equal clips sound equal."""

    id: str
    dialogue: str
    language: str
    role: str
    level_db: float
    text: str
    voice: str | None = None
    speed: float = 1.0
    source: str | None = None
    cut_after: str | None = None
    room: Room | None = None
    babble_db: float | None = None
    babble_offset_s: float = 0.0
    noise: str | None = None

    @property
    def audio(self) -> str:
        """The file's path in the set; its name says nothing about the label."""
        return audio_path(self.language, self.id)

    def recipe(self) -> dict[str, Any]:
        """Return the clip as plain values."""
        return asdict(self)


def audio_path(language: str, clip_id: str) -> str:
    """Return a clip's path in the set: a neutral name that does not give the label away."""
    name = hashlib.sha256(f"floorbench starter codett {clip_id}".encode()).hexdigest()[:12]
    return f"audios/{language.upper()}/syn/{name}.opus"


def generator(name: str) -> np.random.Generator:
    """Return the random generator of one named decision, independent of all others."""
    digest = hashlib.sha256(f"{SEED} {name}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def clips_of(dialogues: Sequence[Dialogue]) -> list[Clip]:
    """Return the clips of one language: five history turns and the targets of each dialogue."""
    clips: list[Clip] = []
    used = dict.fromkeys(("third_party", "background"), 0)
    for index, dialogue in enumerate(dialogues):
        voices = VOICES[dialogue.language]
        user = voices["user"][index % len(voices["user"])]
        speed = round(float(generator(f"speed {dialogue.id}").uniform(0.96, 1.08)), 2)
        for turn, (text, _) in enumerate(dialogue.history, start=1):
            clips.append(
                Clip(
                    id=f"{dialogue.id}-h{turn}",
                    dialogue=dialogue.id,
                    language=dialogue.language,
                    role=DRY.role,
                    level_db=DRY.level_db,
                    text=text,
                    source=text,
                    voice=user,
                    speed=speed,
                )
            )
        for item in dialogue.items:
            role = SCENES.get(item.scenario, DRY).role
            voice: str | None = user
            if role in used:
                voice = voices[role][used[role] % len(voices[role])]
                used[role] += 1
            clips.append(_target(item, dialogue, None if item.noise else voice, speed))
    return clips


def _target(item: Item, dialogue: Dialogue, voice: str | None, speed: float) -> Clip:
    scene = SCENES.get(item.scenario, DRY)
    rng = generator(f"scene {item.id}")
    room = None
    if scene.distance_m is not None:
        room = draw_room(rng, near_m=scene.distance_m[0], far_m=scene.distance_m[1])
    return Clip(
        id=item.id,
        dialogue=dialogue.id,
        language=dialogue.language,
        role=scene.role,
        level_db=scene.level_db,
        text=item.text,
        source=item.source if voice else None,
        cut_after=item.cut_after,
        voice=voice,
        speed=speed,
        room=room,
        babble_db=scene.babble_db,
        babble_offset_s=round(float(rng.uniform(0.0, 2.0)), 3) if scene.babble_db else 0.0,
        noise=item.noise,
    )


def parameters() -> dict[str, Any]:
    """Return every constant that shapes the audio, for the manifest and the digest."""
    return {
        "seed": SEED,
        "rate": RATE,
        "lead_s": LEAD_S,
        "tail_s": TAIL_S,
        "voices": VOICES,
        "babble": BABBLE,
        "scenes": {"default": asdict(DRY)} | {k: asdict(v) for k, v in SCENES.items()},
        "noise_max_s": NOISE_MAX_S,
        "noise_fade_s": NOISE_FADE_S,
    }
