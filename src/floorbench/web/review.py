"""The review's server: items are heard and labelled without their gold label, then adjudicated.

The page knows items by their place in the plan only: ids, file names and tags of a dataset often
tell the label. The transcript of an item that can be heard is not sent either, because a written
text can give away what was meant. The gold label of an item leaves the server with the answer to
an adjudicator's decision about it, never before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from floorbench import codec
from floorbench.audio.assets import cache_dir
from floorbench.core.ports import DatasetSource
from floorbench.core.prediction import Decision
from floorbench.core.sample import Sample
from floorbench.core.words import counted
from floorbench.datasets.codett_labels import BY_LABEL
from floorbench.errors import FloorbenchError, UsageError
from floorbench.web.gold import gold_events
from floorbench.web.guard import Guard, json_handler, packaged, refusal, static_routes
from floorbench.web.item import TARGET, sound_of, tracks
from floorbench.web.posts import Posted, post_routes, text
from floorbench.web.query import whole
from floorbench.web.review_agreement import agreement
from floorbench.web.review_plan import (
    REJECT,
    UNSURE,
    Sampling,
    draw,
    gold_label,
    possible_labels,
)
from floorbench.web.review_store import PLAN, Plan, Review, Verdict
from floorbench.web.sound import Track, WaveCache, track_of, wav_response

EVERYTHING = Sampling(share=1.0)


class ReviewRoom:
    """The application of a review.

    Parameters
    ----------
    source : DatasetSource
    folder : Path
        Folder of the review; begun if it is not there.
    sampling : Sampling or None
        The plan; by default that of a review that is gone on with, or every item.
    token : str or None
    waves : WaveCache or None

    Raises
    ------
    UsageError
        ``FB892`` when the review was begun with other data or another plan.
    DataError
        ``FB891`` when nothing can be reviewed, ``FB895`` for a damaged journal.
    """

    def __init__(
        self,
        source: DatasetSource,
        folder: Path,
        *,
        sampling: Sampling | None = None,
        token: str | None = None,
        waves: WaveCache | None = None,
    ) -> None:
        if sampling is None:
            known = (folder / PLAN).is_file()
            sampling = Review(folder).plan.sampling if known else EVERYTHING
        plan = Plan(
            name=str(source.describe().get("name", "")),
            data=source.digest(),
            sampling=sampling,
            items=draw(source.samples(), sampling),
        )
        self.review = Review.begin(folder, plan)
        self.samples = planned(source, plan)
        self._items = [self.samples[item] for item in plan.items]
        self._guard = Guard(command="floorbench review", token=token)
        self.token = self._guard.token
        self._waves = waves if waves is not None else WaveCache(cache_dir() / "waves")

    def app(self) -> Starlette:
        """Return the ASGI application."""
        posts: dict[str, Callable[[Posted], Any]] = {
            "join": self._join,
            "answer": self._answer,
            "disputes": self._disputes,
            "decide": self._decide,
        }
        return self._guard.app(
            [
                *static_routes(packaged(), "review.html"),
                Route("/api/room", json_handler(self._room)),
                Route("/api/item", json_handler(self._item)),
                Route("/api/agreement", json_handler(self._agreement)),
                Route("/api/wave", json_handler(self._wave)),
                Route("/audio", self._audio),
                *post_routes(posts),
            ]
        )

    def _room(self, _: Request, __: Any) -> Any:
        return {"name": self.review.plan.name, "items": len(self._items)}

    # ---- labelling ---------------------------------------------------------------------------

    def _join(self, asked: Posted) -> Any:
        name = text(asked, "id")
        said = self.review.join(name)
        return {
            "id": name,
            "answers": [said[s.id].label if s.id in said else None for s in self._items],
        }

    def _item(self, request: Request, _: Any) -> Any:
        place = whole(request.query_params, "sample", 0)
        sample = self._sample(place)
        shown = sample.observation
        heard = bool(shown.channels)
        return {
            "place": place,
            "language": shown.language,
            "state": shown.state,
            "spoken": shown.spoken_prefix,
            "text": None if heard else shown.text,
            "turns": [
                {"role": str(t.role), "text": t.text, "audio": sound_of(f"turn-{i}", [t.audio])}
                for i, t in enumerate(shown.turns)
            ],
            "target": sound_of(TARGET, list(shown.channels.values())),
            "roles": [str(role) for role in shown.channels],
            "events": _events(sample),
            "labels": [_named(label) for label in possible_labels(sample)],
        }

    def _answer(self, asked: Posted) -> Any:
        sample = self._sample(_place(asked))
        label = _label(asked, sample)
        heard = asked.get("heard") is True
        self.review.answer(text(asked, "id"), sample.id, label, heard=heard)
        return {"label": label}

    # ---- adjudication ------------------------------------------------------------------------

    def _disputes(self, asked: Posted) -> Any:
        self.review.adjudicator(text(asked, "id"))
        found = self.review.verdicts()
        return {
            "disputes": [
                self._dispute(place, found[sample.id])
                for place, sample in enumerate(self._items)
                if found[sample.id].disputed
            ]
        }

    def _decide(self, asked: Posted) -> Any:
        place = _place(asked)
        sample = self._sample(place)
        self.review.decide(text(asked, "id"), sample.id, _label(asked, sample))
        return self._dispute(place, self.review.verdict(sample.id))

    def _dispute(self, place: int, found: Verdict) -> dict[str, Any]:
        decided = found.decision is not None
        return {
            "place": place,
            "labels": dict(found.labels),
            "decided": found.final if decided else None,
            "gold": gold_label(self._items[place]) if decided else None,
        }

    def _agreement(self, _: Request, __: Any) -> Any:
        verdicts = self.review.verdicts().values()
        return {
            "reviewers": {n: len(self.review.answers(n)) for n in self.review.reviewers()},
            "items": len(self._items),
            "settled": sum(v.final is not None for v in verdicts),
            "disputed": sum(v.disputed for v in verdicts),
            "undecided": sum(v.disputed and v.final is None for v in verdicts),
            "agreement": codec.to_builtins(agreement(self.review, self.samples)),
        }

    # ---- sound -------------------------------------------------------------------------------

    def _sample(self, place: int) -> Sample:
        if place >= len(self._items):
            raise UsageError("FB805", f"there is no item {place}")
        return self._items[place]

    def _track(self, request: Request) -> tuple[Sample, str, Track]:
        sample = self._sample(whole(request.query_params, "sample", 0))
        part = request.query_params.get("part", "")
        return sample, part, track_of(tracks(sample).get(part, ()))

    def _wave(self, request: Request, _: Any) -> Any:
        sample, part, track = self._track(request)
        return self._waves.get(track, [self.review.plan.data, sample.id, part])

    async def _audio(self, request: Request) -> Response:
        try:
            _, _, track = await run_in_threadpool(self._track, request)
            return await run_in_threadpool(wav_response, track, request.headers.get("range"))
        except FloorbenchError as error:
            return refusal(error)


def planned(source: DatasetSource, plan: Plan) -> dict[str, Sample]:
    """Return the items of a plan.

    Raises
    ------
    UsageError
        ``FB892`` when the dataset does not hold all of them.
    """
    wanted = set(plan.items)
    found = {sample.id: sample for sample in source.samples() if sample.id in wanted}
    if len(found) < len(wanted):
        missing = len(wanted) - len(found)
        raise UsageError("FB892", f"{counted(missing, 'item')} of the plan not in '{plan.name}'")
    return found


def _events(sample: Sample) -> list[dict[str, Any]]:
    """Return the named times of an item; records that carry a label of their own are left out."""
    times = {name: value for name, value in sample.target.items() if isinstance(value, Mapping)}
    return gold_events(times, Decision())


def _named(label: str) -> dict[str, str]:
    intent = BY_LABEL.get(label)
    if intent is None:
        return {"label": label, "name": label, "group": ""}
    return {"label": label, "name": intent.scenario, "group": intent.action}


def _place(asked: Posted) -> int:
    value = asked.get("sample")
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError("FB805", "'sample' is not a place in the plan")
    return value


def _label(asked: Posted, sample: Sample) -> str:
    label = text(asked, "label")
    if label not in (*possible_labels(sample), REJECT, UNSURE):
        raise UsageError("FB894", f"the item cannot have the label '{label[:80]}'")
    return label
