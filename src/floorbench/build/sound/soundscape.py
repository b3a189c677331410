"""The soundscape stage: from a clean target to what the microphone, or the telephone, hears."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorbench.build import mixing
from floorbench.build.pipeline.stage import Bench, Item, Outcome, Rejected, made
from floorbench.build.sound import line, scenes
from floorbench.build.sound.pools import FREE_LICENCES, Pool, Recording, samples_of
from floorbench.core.sample import JsonValue
from floorbench.errors import DataError, UsageError

RATE = 16_000
CLEAN = "target-clean"
TARGET = "target"
LEAD_S = 0.1
TAIL_S = 0.2
EDGE_FADE_S = 0.005
BURST_MAX_S = 2.5
BURST_FADE_S = 0.3
BABBLE_VOICES = (4, 8)
BABBLE_LEVEL_DB = -26.0


class Soundscape:
    """Mix each item's target as its scenario asks.

    Reads ``scenario`` and ``language`` and the track ``target`` (not for a burst). The clean track
    becomes ``target-clean``, the mixture ``target``: at 16 kHz, or 8 kHz behind a telephone line.
    The field ``sound`` has every value that was drawn, what was reached, and every recording in it.
    A recording of a real talker (``origin`` = ``real``) stays as it is.

    Babble is the sum of four to eight recordings of held-out speakers at equal active level, each
    from another point of the room. The recordings that a language uses lie in ``babble/LANGUAGE``.

    Parameters
    ----------
    noise : Path
        Folder of non-speech recordings with ``credits.json``.
    babble : Path
        Folder with one sub-folder of speech per language.
    licences : sequence of str
        Licences of recordings that may be mixed in.
    changes : mapping
        Ranges of scenarios that differ from :data:`scenes.DEFAULT`.
    telephone : str or None
        ``mu-law`` or ``a-law`` to put every target through a telephone line.
    """

    name = "soundscape"
    version = 2
    deterministic = True

    def __init__(
        self,
        *,
        noise: Path,
        babble: Path,
        licences: tuple[str, ...] = FREE_LICENCES,
        changes: Mapping[str, Mapping[str, Any]] | None = None,
        telephone: str | None = None,
    ) -> None:
        if telephone is not None:
            line.check_law(telephone)
        if not all(isinstance(name, str) for name in licences):
            raise UsageError("FB881", f"licences {list(licences)}: they are names")
        self._noise_folder = noise
        self._babble_folder = babble
        self._licences = licences
        self._scenes = scenes.with_changes(changes or {})
        self._telephone = telephone
        self._pools: dict[str, Pool] = {}

    def settings(self) -> Mapping[str, JsonValue]:
        """Return ranges, licences and line; the pools count by their content, not their place."""
        return {
            "scenes": {name: asdict(value) for name, value in self._scenes.items()},
            "licences": list(self._licences),
            "telephone": self._telephone,
            "pools": {
                name: self._pool(name).digest()
                for name in ("noise", *(f"babble/{p.name}" for p in self._languages()))
            },
        }

    def start(self) -> None:
        """Read the folders of recordings."""
        self._pool("noise")

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Mix one target; rejects what cannot be brought to its level without clipping."""
        if item.fields.get("origin") == "real":
            return made(item)
        rng = bench.rng
        scene = self._scenes.get(str(item.fields["scenario"]))
        if scene is None:
            return Rejected(reason="scenario", detail=f"no sound for {item.fields['scenario']!r}")
        drawn = scenes.draw(scene, rng)
        record: dict[str, JsonValue] = {"requested": asdict(drawn)}
        try:
            clean = self._burst(rng, bench, record) if drawn.burst else self._clean(item, bench)
            audio = self._placed(clean, drawn, rng, bench, record)
            audio = self._over(audio, drawn, str(item.fields["language"]), rng, bench, record)
        except DataError as error:
            return Rejected(reason="sound", detail=error.what)
        audio, gain = mixing.guard(audio)
        record["guard_gain_db"] = round(gain, 3)
        rate = RATE
        if self._telephone is not None:
            audio, rate = line.through_line(audio, RATE, law=self._telephone), line.RATE
            record["telephone"] = self._telephone
        track = bench.keep(audio.astype(np.float32), rate)
        tracks = {TARGET: track}
        if not drawn.burst:
            tracks[CLEAN] = item.audio[TARGET]
        return made(item.having(audio=tracks, sound=record))

    def close(self) -> None:
        """Forget the pools."""
        self._pools.clear()

    def _clean(self, item: Item, bench: Bench) -> NDArray[np.float64]:
        if TARGET not in item.audio:
            raise DataError("FB883", f"the item has no track {TARGET}")
        samples, rate = bench.load(item.audio[TARGET])
        return _resampled(samples.astype(np.float64), rate)

    def _burst(
        self, rng: np.random.Generator, bench: Bench, record: dict[str, JsonValue]
    ) -> NDArray[np.float64]:
        chosen = self._pool("noise").draw(rng)[0]
        bench.note("noise", use="burst", recording=chosen.credit())
        record["burst"] = {"name": chosen.name, "kind": chosen.kind, "licence": chosen.licence}
        audio = mixing.trim(samples_of(chosen, RATE), RATE)
        if len(audio) > BURST_MAX_S * RATE:
            audio = mixing.fade(audio[: round(BURST_MAX_S * RATE)], RATE, end_s=BURST_FADE_S)
        return audio

    def _placed(
        self,
        clean: NDArray[np.float64],
        drawn: scenes.Drawn,
        rng: np.random.Generator,
        bench: Bench,
        record: dict[str, JsonValue],
    ) -> NDArray[np.float64]:
        audio = mixing.fade(clean, RATE, start_s=EDGE_FADE_S, end_s=EDGE_FADE_S)
        audio = mixing.pad(audio, RATE, before_s=LEAD_S, after_s=TAIL_S)
        if drawn.distance_m is not None:
            room = mixing.draw_room(rng, near_m=drawn.distance_m, far_m=drawn.distance_m)
            bench.note("room", **asdict(room))
            record["room"] = asdict(room)
            audio = mixing.in_room(audio, mixing.impulse_response(room, RATE))
        audio = mixing.to_level(audio, RATE, drawn.level_db)
        record["target_level_db"] = round(mixing.active_level_db(audio, RATE), 3)
        return audio

    def _over(
        self,
        target: NDArray[np.float64],
        drawn: scenes.Drawn,
        language: str,
        rng: np.random.Generator,
        bench: Bench,
        record: dict[str, JsonValue],
    ) -> NDArray[np.float64]:
        audio = target
        for name, ratio in (("babble", drawn.babble_db), ("noise", drawn.noise_db)):
            if ratio is None:
                continue
            if name == "babble":
                chosen, under = self._babble(language, len(target), rng, bench)
            else:
                chosen = self._pool("noise").draw(rng)
                under = samples_of(chosen[0], RATE)
            for recording in chosen:
                bench.note("noise", use=name, recording=recording.credit())
            mix = mixing.add_noise(target, under, RATE, snr_db=ratio)
            audio = audio + (mix.audio - target)
            record[name] = {
                "names": [recording.name for recording in chosen],
                "licences": sorted({recording.licence for recording in chosen}),
                "requested_db": ratio,
                "achieved_db": round(mix.achieved_db, 3),
            }
        return audio

    def _babble(
        self, language: str, length: int, rng: np.random.Generator, bench: Bench
    ) -> tuple[tuple[Recording, ...], NDArray[np.float64]]:
        count = int(rng.integers(BABBLE_VOICES[0], BABBLE_VOICES[1] + 1))
        chosen = self._pool(f"babble/{language}").draw(rng, count)
        total = np.zeros(length)
        for recording in chosen:
            voice = mixing.trim(samples_of(recording, RATE), RATE)
            room = mixing.draw_room(rng, near_m=1.0, far_m=2.5)
            bench.note("room", of=recording.name, **asdict(room))
            far = mixing.in_room(voice, mixing.impulse_response(room, RATE))
            level = mixing.to_level(far, RATE, BABBLE_LEVEL_DB)
            total += np.resize(np.roll(level, int(rng.integers(len(level)))), length)
        return chosen, total

    def _languages(self) -> list[Path]:
        if not self._babble_folder.is_dir():
            return []
        return sorted(p for p in self._babble_folder.iterdir() if p.is_dir())

    def _pool(self, name: str) -> Pool:
        if name not in self._pools:
            folder = (
                self._noise_folder
                if name == "noise"
                else self._babble_folder / name.removeprefix("babble/")
            )
            self._pools[name] = Pool(folder, licences=self._licences)
        return self._pools[name]


def _resampled(samples: NDArray[np.float64], rate: int) -> NDArray[np.float64]:
    import soxr

    result: NDArray[np.float64] = soxr.resample(samples, rate, RATE)
    return result
