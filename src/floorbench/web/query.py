"""What the list of items shows: filters, order, pages and the counts beside each filter."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorbench import codec
from floorbench.core.numbers import number_of
from floorbench.errors import FloorbenchError, UsageError
from floorbench.metrics.base import OUTCOMES
from floorbench.web.index import NO_ANSWER, NOT_DUE, RIGHT, UNDECIDED, WRONG, Group, RunView

Mask = NDArray[np.bool_]
VERDICTS = {"right": RIGHT, "wrong": WRONG, "undecided": UNDECIDED}
AGAINST = ("differ", "first-only", "second-only", "both", "neither")
LONGEST = 1e7
SORTS = ("data", "score", "margin", "id", "time")
_PLAIN = (
    *("group", "run", "layer", "gold", "predicted", "verdict", "outcome", "against", "how"),
    *("text", "mark", "cell", "sort", "down", "offset", "limit", "facets"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One selection of items.

    Parameters
    ----------
    run : int
        The run in focus: its verdicts, outcomes and scores are filtered and sorted by.
    layer : str
        Which labels are looked at.
    tags : mapping of str to str
        Required value per tag.
    gold, predicted, verdict, outcome : str or None
        Of the run in focus. ``predicted`` may be ``no usable answer``.
    against, how
        A second run, and how the two must relate (see ``AGAINST``; ``first`` is the run in focus).
    text : str
        To be found in the id, the transcript or the native answer.
    mark : str or None
        A tag that someone put on the item; ``any`` for every item with a note or a tag.
    cell : tuple or None
        Metric and slice of a cell of a table: the items behind it.
    sort, down
        Order and direction; rows without a value come last.
    """

    run: int = 0
    layer: str = "label"
    tags: Mapping[str, str] = field(default_factory=dict)
    gold: str | None = None
    predicted: str | None = None
    verdict: str | None = None
    outcome: str | None = None
    against: int | None = None
    how: str = "differ"
    text: str = ""
    mark: str | None = None
    cell: tuple[str, Mapping[str, str]] | None = None
    sort: str = "data"
    down: bool = False


def read_query(parameters: Mapping[str, str], group: Group) -> Query:
    """Read the parameters of a request.

    Raises
    ------
    UsageError
        ``FB805`` for a name or a value that the group does not have.
    """
    tags = {}
    for name, value in parameters.items():
        if name.startswith("tag."):
            tags[name.removeprefix("tag.")] = value
        elif name not in _PLAIN:
            raise UsageError("FB805", f"there is no filter '{name}'")
    given = {k: v for k, v in parameters.items() if v != ""}
    layer = given.get("layer", next(iter(group.layer_names), "label"))
    _one_of("layer", layer, group.layer_names or ("label",))
    for name, allowed in (
        ("verdict", tuple(VERDICTS)),
        ("outcome", OUTCOMES),
        ("how", AGAINST),
        ("sort", SORTS),
    ):
        if name in given:
            _one_of(name, given[name], allowed)
    for name in tags:
        _one_of("tag", name, tuple(group.tags))
    return Query(
        run=whole(given, "run", 0),
        layer=layer,
        tags={k: v for k, v in tags.items() if v != "" or v in group.tags[k][0]},
        gold=given.get("gold"),
        predicted=given.get("predicted"),
        verdict=given.get("verdict"),
        outcome=given.get("outcome"),
        against=whole(given, "against", 0) if "against" in given else None,
        how=given.get("how", "differ"),
        text=given.get("text", ""),
        mark=given.get("mark"),
        cell=_cell(given["cell"]) if "cell" in given else None,
        sort=given.get("sort", "data"),
        down=given.get("down") == "1",
    )


def whole(parameters: Mapping[str, str], name: str, default: int) -> int:
    """Return a parameter as a whole number from 0, ``FB805`` for anything else."""
    value = parameters.get(name, str(default))
    if not (value.isascii() and value.isdecimal()) or len(value) > 9:
        raise UsageError("FB805", f"{name}='{value}' is not a whole number")
    return int(value)


def seconds(parameters: Mapping[str, str], name: str) -> float:
    """Return a parameter as a time in seconds, ``FB805`` for anything else."""
    value = parameters.get(name, "")
    with contextlib.suppress(ValueError):
        found = number_of(value)
        if abs(found) <= LONGEST:
            return found
    raise UsageError("FB805", f"{name}='{value[:80]}' is no time in seconds")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError("FB805", f"{name}='{value}' is none of {', '.join(allowed)}")


def _cell(text: str) -> tuple[str, Mapping[str, str]]:
    with contextlib.suppress(FloorbenchError):
        about = codec.parse(text)
        if isinstance(about, dict) and "metric" in about:
            slice_ = {str(k): str(v) for k, v in about.items() if k != "metric"}
            return str(about["metric"]), slice_
    raise UsageError("FB805", f"cell='{text[:80]}' names no cell")


def masks(group: Group, query: Query, marks: Mapping[str, set[str]]) -> dict[str, Mask]:
    """Return one mask per filter that is set, by name; the selection is where all hold.

    ``marks`` maps sample ids to the tags that people gave them (noted items have an entry).
    """
    run = group.run(query.run)
    layer = run.layer(query.layer)
    out: dict[str, Mask] = {"due": run.item != NOT_DUE}
    for name, value in query.tags.items():
        values, codes = group.tags[name]
        out[f"tag.{name}"] = codes == (values.index(value) if value in values else -1)
    if query.gold is not None:
        out["gold"] = layer.gold == _code(layer.labels, query.gold)
    if query.predicted is not None:
        out["predicted"] = layer.predicted == _code(layer.labels, query.predicted)
    if query.verdict is not None:
        out["verdict"] = layer.right == VERDICTS[query.verdict]
    if query.outcome is not None:
        out["outcome"] = run.outcome == OUTCOMES.index(query.outcome)
    if query.against is not None:
        out["against"] = _against(run, group.run(query.against), query)
    if query.text:
        wanted = query.text.casefold()
        out["text"] = np.array(
            [
                wanted in text or wanted in answer.casefold()
                for text, answer in zip(group.texts, run.answer, strict=True)
            ],
            dtype=np.bool_,
        )
    if query.mark is not None:
        out["mark"] = np.array(
            [
                s.id in marks and (query.mark == "any" or query.mark in marks[s.id])
                for s in group.samples
            ],
            dtype=np.bool_,
        )
    if query.cell is not None:
        out["cell"] = group.cell_mask(run, *query.cell)
    return out


def _against(first: RunView, second: RunView, query: Query) -> Mask:
    a, b = first.layer(query.layer), second.layer(query.layer)
    both = (first.item != NOT_DUE) & (second.item != NOT_DUE)
    judged = both & (a.right != UNDECIDED) & (b.right != UNDECIDED)
    wanted: Mask
    if query.how == "differ":
        wanted = both & (a.predicted != b.predicted)
    else:
        one, two = {
            "first-only": (RIGHT, WRONG),
            "second-only": (WRONG, RIGHT),
            "both": (RIGHT, RIGHT),
            "neither": (WRONG, WRONG),
        }[query.how]
        wanted = judged & (a.right == one) & (b.right == two)
    return wanted


def _code(labels: tuple[str, ...], label: str) -> int:
    if label == NO_ANSWER:
        return -1
    if label not in labels:
        raise UsageError("FB805", f"'{label}' is none of the labels")
    return labels.index(label)


def select(group: Group, query: Query, found: Mapping[str, Mask]) -> NDArray[np.int64]:
    """Return the rows of the selection in their order."""
    mask = np.ones(len(group.keys), dtype=np.bool_)
    for one in found.values():
        mask &= one
    rows = np.flatnonzero(mask)
    if query.sort == "data":
        return rows[::-1] if query.down else rows
    if query.sort == "id":
        by_id = sorted(rows.tolist(), key=lambda r: group.keys[r], reverse=query.down)
        return np.array(by_id, dtype=np.int64)
    values = _values(group.run(query.run), query.sort)[rows]
    known = ~np.isnan(values)
    order = np.argsort(-values[known] if query.down else values[known], kind="stable")
    return np.concatenate([rows[known][order], rows[~known]])


def _values(run: RunView, sort: str) -> NDArray[np.float64]:
    if sort == "score":
        return run.score
    if sort == "margin":
        threshold = run.stored.record.system_spec.threshold
        return run.score if threshold is None else np.abs(run.score - threshold)
    out = np.full(len(run.item), np.nan)
    for row in np.flatnonzero(run.item >= 0).tolist():
        prediction = run.stored.items[run.item[row]].prediction
        if prediction is not None and prediction.compute.wall is not None:
            out[row] = prediction.compute.wall
    return out


def facets(group: Group, query: Query, found: Mapping[str, Mask]) -> list[dict[str, Any]]:
    """Return every filter with its values and how many items each would leave.

    The counts hold for the selection with all other filters as they are.
    """
    run = group.run(query.run)
    layer = run.layer(query.layer)
    out: list[dict[str, Any]] = []

    def add(name: str, title: str, values: tuple[str, ...], codes: NDArray[Any]) -> None:
        mask = np.ones(len(group.keys), dtype=np.bool_)
        for other, one in found.items():
            if other != name:
                mask &= one
        counts = np.bincount(codes[mask] + 1, minlength=len(values) + 1)
        shown = [{"value": v, "count": int(counts[i + 1])} for i, v in enumerate(values)]
        if name == "predicted":
            shown.append({"value": NO_ANSWER, "count": int(counts[0])})
        out.append({"name": name, "title": title, "values": shown})

    verdicts = np.where(layer.right == RIGHT, 0, np.where(layer.right == WRONG, 1, 2))
    add("verdict", "verdict", tuple(VERDICTS), verdicts)
    if layer.labels:
        add("gold", "gold", layer.labels, layer.gold)
        add("predicted", "predicted", layer.labels, layer.predicted)
    for name, (values, codes) in group.tags.items():
        if name not in ("condition", "cluster"):
            add(f"tag.{name}", name, values, codes)
    if "condition" in group.tags:
        add("tag.condition", "condition", *group.tags["condition"])
    add("outcome", "outcome", OUTCOMES, run.outcome.astype(np.int32))
    for facet in out:
        facet["values"] = [
            v for v in facet["values"] if v["count"] or v["value"] == _chosen(query, facet["name"])
        ]
    return [f for f in out if len(f["values"]) > 1 or _chosen(query, f["name"]) is not None]


def _chosen(query: Query, name: str) -> str | None:
    if name.startswith("tag."):
        return query.tags.get(name.removeprefix("tag."))
    value: str | None = getattr(query, name)
    return value
