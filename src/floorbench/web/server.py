"""The viewer's server: loopback only, one random token, nothing but the named runs.

Every answer but the first needs the cookie that the first visit with the token in the address
sets. No path is ever taken from a request: runs, items and parts are named by position and key,
and audio comes from the readers of the data, which keep inside the data's folder.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from floorbench import codec
from floorbench.audio.assets import cache_dir
from floorbench.core.prediction import PredictionKey
from floorbench.errors import FloorbenchError, UsageError
from floorbench.metrics.base import OUTCOMES
from floorbench.web import board
from floorbench.web.guard import Guard, json_handler, packaged, refusal, static_routes
from floorbench.web.index import Group
from floorbench.web.item import item_payload, tracks
from floorbench.web.line import TimeLine
from floorbench.web.live import LiveRuns
from floorbench.web.query import facets, masks, read_query, seconds, select, whole
from floorbench.web.sound import WaveCache, peaks, track_of, wav_response
from floorbench.web.span import overview, span, step

PAGE_LIMIT = 500
LISTED = 160
"""Characters of a text in the list of items."""
KEPT_LINES = 8


class Viewer:
    """The viewer's application over some runs.

    Parameters
    ----------
    runs : LiveRuns
    token : str or None
        What the first visit must show; random by default.
    waves : WaveCache or None
        Where waveforms are kept; floorbench's cache folder by default.
    """

    def __init__(
        self, runs: LiveRuns, *, token: str | None = None, waves: WaveCache | None = None
    ) -> None:
        self.runs = runs
        self._guard = Guard(command="floorbench view", token=token)
        self.token = self._guard.token
        self._waves = waves if waves is not None else WaveCache(cache_dir() / "waves")
        self._compared: OrderedDict[tuple[Any, ...], dict[str, Any]] = OrderedDict()
        self._comparing = threading.Lock()
        self._lines: OrderedDict[tuple[Any, ...], TimeLine] = OrderedDict()

    def app(self) -> Starlette:
        """Return the ASGI application."""
        routes = [
            *static_routes(packaged(), "index.html"),
            Route("/api/runs", json_handler(self._runs)),
            Route("/api/tables", json_handler(self._tables)),
            Route("/api/matrix", json_handler(self._matrix)),
            Route("/api/items", json_handler(self._items)),
            Route("/api/item", json_handler(self._item)),
            Route("/api/compare", json_handler(self._compare)),
            Route("/api/paired", json_handler(self._paired)),
            Route("/api/line", json_handler(self._line_of)),
            Route("/api/span", json_handler(self._span)),
            Route("/api/step", json_handler(self._step)),
            Route("/api/wave", json_handler(self._wave)),
            Route("/api/notes", json_handler(self._notes), methods=["GET", "POST"]),
            Route("/audio", self._audio),
        ]
        return self._guard.app(routes)

    # ---- JSON --------------------------------------------------------------------------------

    def _group(self, request: Request) -> Group:
        return self.runs.group(whole(request.query_params, "group", 0))

    def _runs(self, request: Request, _: Any) -> Any:
        groups = self.runs.groups()
        return {
            "version": self.runs.version,
            "running": any(run.stored.record.status == "running" for g in groups for run in g.runs),
            "groups": [
                {
                    "position": i,
                    "task": g.task,
                    "data": g.data.name,
                    "digest": g.data.digest,
                    "notices": list(g.data.describe.get("notices", ())),
                    "items": len(g.keys),
                    "kind": g.kind,
                    "layers": list(g.layer_names),
                    "tags": {name: list(values) for name, (values, _) in g.tags.items()},
                    "runs": board.provenance(g),
                }
                for i, g in enumerate(groups)
            ],
        }

    def _tables(self, request: Request, _: Any) -> Any:
        every = request.query_params.get("all") == "1"
        return board.group_tables(self._group(request), every=every)

    def _matrix(self, request: Request, _: Any) -> Any:
        group, asked = self._group(request), request.query_params
        query = read_query(asked, group)
        return board.matrix(group, run=query.run, layer=query.layer, tags=query.tags)

    def _marks(self, group: Group, run: int) -> dict[str, set[str]]:
        notes = self.runs.notes[group.run(run).stored.path]
        return {sample: set(note.tags) for sample, note in notes.all().items()}

    def _items(self, request: Request, _: Any) -> Any:
        group, asked = self._group(request), request.query_params
        query = read_query(asked, group)
        marks = self._marks(group, query.run)
        found = masks(group, query, marks)
        rows = select(group, query, found)
        offset = whole(asked, "offset", 0)
        limit = min(PAGE_LIMIT, whole(asked, "limit", 100))
        answer: dict[str, Any] = {
            "version": self.runs.version,
            "total": len(rows),
            "all": len(group.keys),
            "offset": offset,
            "rows": [
                self._line(group, query.layer, int(r), marks)
                for r in rows[offset : offset + limit].tolist()
            ],
        }
        if asked.get("facets") == "1":
            answer["facets"] = facets(group, query, found)
            answer["marks"] = sorted({tag for tags in marks.values() for tag in tags})
            answer["noted"] = len(marks)
        return answer

    def _line(
        self, group: Group, layer: str, row: int, marks: Mapping[str, set[str]]
    ) -> dict[str, Any]:
        key, sample = group.keys[row], group.samples[row]
        cells: list[dict[str, Any] | None] = []
        gold = None
        for run in group.runs:
            if run.item[row] < 0:
                cells.append(None)
                continue
            found = run.layer(layer)
            labels, g, p = found.labels, int(found.gold[row]), int(found.predicted[row])
            gold = labels[g] if gold is None and 0 <= g < len(labels) else gold
            score = float(run.score[row])
            cells.append(
                {
                    "predicted": labels[p] if 0 <= p < len(labels) else None,
                    "answer": run.answer[row],
                    "right": int(found.right[row]),
                    "outcome": OUTCOMES[int(run.outcome[row])],
                    "score": None if score != score else score,
                    "tally": run.tallies.get(key.sample_id),
                }
            )
        return {
            "key": [key.sample_id, key.condition, key.trial],
            "text": ending(sample.observation.text or ""),
            "language": sample.observation.language,
            "kind": group.kind_of(sample),
            "gold": gold,
            "runs": cells,
            "noted": sample.id in marks,
        }

    def _item(self, request: Request, _: Any) -> Any:
        group = self._group(request)
        made = item_payload(group, _key(request), self._time_line(request))
        made["notes"] = [
            {"run": run.position, **codec.to_builtins(self._note(group, run.position, request))}
            for run in group.runs
        ]
        return made

    def _note(self, group: Group, run: int, request: Request) -> Any:
        notes = self.runs.notes[group.run(run).stored.path]
        return notes.get(_key(request).sample_id)

    def _notes(self, request: Request, body: Any) -> Any:
        group = self._group(request)
        run = whole(request.query_params, "run", 0)
        if body is None:
            return self._note(group, run, request)
        group.row(_key(request))
        if not isinstance(body, dict) or set(body) != {"text", "tags"}:
            raise UsageError("FB805", "a note has text and tags")
        notes = self.runs.notes[group.run(run).stored.path]
        return notes.put(_key(request).sample_id, text=str(body["text"]), tags=str(body["tags"]))

    def _pair(self, request: Request) -> tuple[int, int]:
        first = whole(request.query_params, "first", 0)
        return first, whole(request.query_params, "second", 1)

    def _compare(self, request: Request, _: Any) -> Any:
        group = self._group(request)
        first, second = self._pair(request)
        layer = read_query({"layer": request.query_params.get("layer", "")}, group).layer
        return board.contingency(group, first=first, second=second, layer=layer)

    def _paired(self, request: Request, _: Any) -> Any:
        first, second = self._pair(request)
        key = (self.runs.version, whole(request.query_params, "group", 0), first, second)
        group = self._group(request)
        with self._comparing:
            if key not in self._compared:
                self._compared[key] = board.paired(group, first=first, second=second)
                while len(self._compared) > 16:
                    self._compared.popitem(last=False)
            return self._compared[key]

    # ---- time line ---------------------------------------------------------------------------

    def _time_line(self, request: Request) -> TimeLine:
        group = self._group(request)
        key = (self.runs.version, group.data.digest, group.task, _key(request))
        found = self._lines.get(key)
        if found is None:
            found = self._lines[key] = TimeLine(group, _key(request))
            while len(self._lines) > KEPT_LINES:
                self._lines.popitem(last=False)
        return found

    def _line_of(self, request: Request, _: Any) -> Any:
        return overview(self._time_line(request), **_view(request))

    def _span(self, request: Request, _: Any) -> Any:
        asked = request.query_params
        signals = [s for s in asked.get("signals", "").split(",") if s]
        return span(
            self._time_line(request),
            seconds(asked, "start"),
            seconds(asked, "end"),
            signals=signals,
            **_view(request),
        )

    def _step(self, request: Request, _: Any) -> Any:
        asked = request.query_params
        return step(
            self._time_line(request), seconds(asked, "at"), back=asked.get("back") == "1",
            errors=asked.get("errors") == "1", **_view(request),
        )  # fmt: skip

    # ---- sound -------------------------------------------------------------------------------

    def _track(self, request: Request) -> Any:
        group = self._group(request)
        sample = group.samples[group.row(_key(request))]
        part = request.query_params.get("part", "")
        return group, track_of(tracks(sample).get(part, ()))

    def _wave(self, request: Request, _: Any) -> Any:
        group, track = self._track(request)
        key, asked = _key(request), request.query_params
        if "start" in asked:
            return peaks(track, start=seconds(asked, "start"), end=seconds(asked, "end"))
        return self._waves.get(
            track, [group.data.digest, key.sample_id, request.query_params["part"]]
        )

    async def _audio(self, request: Request) -> Response:
        try:
            _, track = await run_in_threadpool(self._track, request)
            return await run_in_threadpool(wav_response, track, request.headers.get("range"))
        except FloorbenchError as error:
            return refusal(error)


def _view(request: Request) -> dict[str, Any]:
    """Return which events are looked at, and how: kind, reading and run."""
    asked = request.query_params
    return {
        "kind": asked.get("kind") or None,
        "reading": asked.get("reading") or None,
        "run": whole(asked, "run", 0),
    }


def _key(request: Request) -> PredictionKey:
    asked = request.query_params
    return PredictionKey(
        asked.get("sample", ""), asked.get("condition", ""), whole(asked, "trial", 0)
    )


def ending(text: str) -> str:
    """Return the end of a long text: turns are decided there, and prefixes differ there.

    Examples
    --------
    >>> ending("so we finally")
    'so we finally'
    >>> ending("a" * 200 + "z")[:2], len(ending("a" * 200 + "z"))
    ('…a', 160)
    """
    return text if len(text) <= LISTED else "…" + text[-LISTED + 1 :]
