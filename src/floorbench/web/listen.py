"""The listening session's server: one page, one participant at a time, everything kept at once.

The page knows turns by their place in the list only. A participant's folder is made when consent
is given, not before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from floorbench import codec
from floorbench.audio.decode import decode, probe
from floorbench.audio.ref import FileAudio
from floorbench.core.time import from_samples
from floorbench.core.words import counted
from floorbench.datasets.trp import TrpSource
from floorbench.datasets.trp_lists import ListItem, StimulusList, read_lists
from floorbench.errors import DataError, FloorbenchError, Place, UsageError
from floorbench.web import listen_latency as latency
from floorbench.web.guard import (
    Guard,
    json_handler,
    packaged,
    read_body,
    refusal,
    static_routes,
)
from floorbench.web.journal import now, write_safely
from floorbench.web.listen_person import Calibration, Device, Finished, ItemDone, KeyPress, Person
from floorbench.web.listen_store import MODES, Session
from floorbench.web.posts import Posted, number, numbers, post_routes, text
from floorbench.web.query import whole
from floorbench.web.sound import wav_header

SOUND_LIMIT = 4_000_000


class ListeningRoom:
    """The application of a listening session.

    Parameters
    ----------
    stimuli : Path
        Folder of a set with audio and lists.
    session : Path
        Folder of the session; begun if it is not there.
    mode : {"voice", "key"}
    consent : str or None
        The text to agree to; the package's own by default.
    seed : int
        Seed of the lots that assign lists; only a new session takes it.
    token : str or None

    Raises
    ------
    UsageError
        ``FB842`` when the session belongs to other turns, ``FB103`` for a mode.
    DataError
        ``FB275`` without lists or with audio that was changed, and what reading the set raises.
    """

    def __init__(
        self,
        stimuli: Path,
        session: Path,
        *,
        mode: str,
        consent: str | None = None,
        seed: int = 0,
        token: str | None = None,
    ) -> None:
        if mode not in MODES:
            raise UsageError("FB103", f"mode '{mode}' is not one of {', '.join(MODES)}")
        source = TrpSource(stimuli)
        lists = read_lists(stimuli)
        self._root = stimuli
        self._lists = {(one.name, one.reversed): one for one in lists.lists}
        for one in lists.lists:
            _check_audio(stimuli, one)
        turns = codec.digest(list(source.stimuli))
        self.session = Session.open(
            session, stimuli=source.name, data=turns, lists=codec.digest(lists), seed=seed
        )
        self._mode = mode
        own = files("floorbench.web").joinpath("texts/consent.txt").read_text(encoding="utf-8")
        self._consent = consent if consent is not None else own
        self._consent_hash = hashlib.sha256(self._consent.encode()).hexdigest()
        write_safely(
            self.session.folder / f"consent-{self._consent_hash[:12]}.txt", self._consent.encode()
        )
        self._guard = Guard(command="floorbench listen", token=token)
        self.token = self._guard.token

    def app(self) -> Starlette:
        """Return the ASGI application."""
        posts: dict[str, Callable[[Posted], Any]] = {
            "join": self._join,
            "device": self._device,
            "latency": self._latency,
            "key": self._key,
            "item": self._item,
            "finish": self._finish,
            "withdraw": self._withdraw,
        }
        return self._guard.app(
            [
                *static_routes(packaged(), "listen.html"),
                Route("/api/room", json_handler(self._room)),
                *post_routes(posts),
                Route("/api/sound", self._sound, methods=["POST"]),
                Route("/api/turn", self._turn),
            ]
        )

    # ---- before the list ---------------------------------------------------------------------

    def _room(self, _: Request, __: Any) -> Any:
        return {
            "mode": self._mode,
            "consent": self._consent,
            "period": latency.PERIOD,
            "beats": latency.BEATS,
            "warm_up": latency.WARM_UP,
        }

    def _join(self, asked: Posted) -> Any:
        if asked.get("agreed") is not True:
            raise UsageError("FB844", "nobody takes part without having agreed")
        person = self.session.join(
            text(asked, "id"),
            lists=list(self._lists),
            mode=self._mode,
            consent=self._consent_hash,
        )
        listed = self._list_of(person)
        return {
            "id": person.joined.id,
            "mode": person.joined.mode,
            "visit": person.visits,
            "items": [
                {
                    "start": from_samples(i.start - i.beep, listed.rate),
                    "seconds": from_samples(i.stop - i.beep, listed.rate),
                }
                for i in listed.items
            ],
            "heard": sorted(person.items),
        }

    def _device(self, asked: Posted) -> Any:
        facts = asked.get("facts")
        if not isinstance(facts, dict):
            raise UsageError("FB805", "device facts are a mapping")
        self.session.add(text(asked, "id"), Device(facts=facts, at=now()))
        return {}

    def _latency(self, asked: Posted) -> Any:
        name, kind = text(asked, "id"), text(asked, "kind")
        beats = numbers(asked, "beats")
        if kind == "voice":
            rate, started = int(number(asked, "rate")), number(asked, "started")
            part = latency_part(int(number(asked, "item")), int(number(asked, "visit")))
            pcm = self.session.sound(name, part)
            samples = np.frombuffer(pcm[: len(pcm) // 2 * 2], dtype="<i2").astype(np.float32)
            heard = latency.bursts(samples / 32768.0, rate=rate)
            responses = tuple(started + t for t in heard)
            self.session.close_sound(name, part, rate=rate)
        else:
            responses = numbers(asked, "taps")
        found = latency.latency(beats, responses)
        self.session.add(
            name,
            Calibration(kind=kind, beats=beats, responses=responses, **found._asdict(), at=now()),
        )
        return found._asdict()

    # ---- the list ----------------------------------------------------------------------------

    def _list_of(self, person: Person) -> StimulusList:
        return self._lists[person.joined.list, person.joined.reversed]

    def _place(self, person: Person, number: int) -> ListItem:
        items = self._list_of(person).items
        if not 0 <= number < len(items):
            raise UsageError("FB805", f"there is no turn {number}")
        return items[number]

    def _key(self, asked: Posted) -> Any:
        name = text(asked, "id")
        self._place(self.session.person(name), int(number(asked, "item")))
        press = KeyPress(
            item=int(number(asked, "item")),
            visit=int(number(asked, "visit")),
            time=number(asked, "time"),
            at=now(),
        )
        self.session.add(name, press)
        return {}

    def _item(self, asked: Posted) -> Any:
        name, place = text(asked, "id"), int(number(asked, "item"))
        visit = int(number(asked, "visit"))
        person = self.session.person(name)
        stimulus = self._place(person, place).stimulus
        rate = frames = None
        if person.joined.mode == "voice":
            rate = int(number(asked, "rate"))
            part = sound_part(place, visit)
            frames = self.session.close_sound(name, part, rate=rate)
            if frames != int(number(asked, "frames")):
                raise DataError(
                    "FB845",
                    f"{frames} of {counted(asked['frames'], 'frame')} of turn {place} arrived",
                )
        facts = asked.get("facts")
        done = ItemDone(
            item=place,
            stimulus=stimulus,
            visit=visit,
            started=number(asked, "started"),
            latency=person.calibration.latency if person.calibration is not None else None,
            rate=rate,
            frames=frames,
            facts=facts if isinstance(facts, dict) else {},
            at=now(),
        )
        self.session.add(name, done)
        return {"heard": sorted(person.items)}

    def _finish(self, asked: Posted) -> Any:
        name = text(asked, "id")
        person = self.session.person(name)
        missing = len(self._list_of(person).items) - len(person.items)
        if missing:
            raise UsageError(
                "FB805", f"{counted(missing, 'turn has', 'turns have')} not been heard"
            )
        self.session.add(name, Finished(at=now()))
        return {}

    def _withdraw(self, asked: Posted) -> Any:
        return {"forgotten": self.session.forget(text(asked, "id"))}

    # ---- sound -------------------------------------------------------------------------------

    async def _sound(self, request: Request) -> Response:
        try:
            asked = request.query_params
            pcm = await read_body(request, limit=SOUND_LIMIT)
            if len(pcm) % 2:
                raise UsageError("FB805", "half a sample")
            part = _part(asked.get("kind"), whole(asked, "item", 0), whole(asked, "visit", 1))
            kept = await run_in_threadpool(
                lambda: self.session.append_sound(
                    asked.get("id", ""), part, first=whole(asked, "first", 0), pcm=pcm
                )
            )
            return Response(codec.encode({"kept": kept}), media_type="application/json")
        except FloorbenchError as error:
            return refusal(error)

    async def _turn(self, request: Request) -> Response:
        try:
            person = self.session.person(request.query_params.get("id", ""))
            item = self._place(person, whole(request.query_params, "item", -1))
            body = await run_in_threadpool(self._cut, self._list_of(person), item)
            return Response(body, media_type="audio/wav")
        except FloorbenchError as error:
            return refusal(error)

    def _cut(self, listed: StimulusList, item: ListItem) -> bytes:
        samples = decode(self._root / listed.audio, start=item.beep, stop=item.stop, channel=None)
        pcm = np.clip(np.rint(samples * 32768.0), -32768, 32767).astype("<i2")
        return b"".join((wav_header(rate=listed.rate, channels=1, frames=len(pcm)), pcm.tobytes()))


def sound_part(item: int, visit: int) -> str:
    """Return the name of a turn's recording."""
    return _checked("turn", item, visit)


def latency_part(test: int, visit: int) -> str:
    """Return the name of the recording of a latency test."""
    return _checked("latency", test, visit)


def _part(kind: str | None, number: int, visit: int) -> str:
    return latency_part(number, visit) if kind == "latency" else sound_part(number, visit)


def _checked(kind: str, number: int, visit: int) -> str:
    if not (0 <= number < 10_000 and 1 <= visit < 10_000):
        raise UsageError("FB805", "there is no such recording")
    return f"{kind}-{number:04d}" + (f"-visit-{visit}" if visit > 1 else "")


def _check_audio(root: Path, listed: StimulusList) -> None:
    info = probe(root / listed.audio)
    same = (info.rate, info.frames, info.channels) == (listed.rate, listed.frames, 1)
    if not same or FileAudio(root / listed.audio).digest() != listed.pcm:
        raise DataError(
            "FB275",
            "the audio is not what the lists were made with",
            where=Place(str(root / listed.audio)),
        )
