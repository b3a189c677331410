"""How far reviewers agree, and the verdicts that a data set is built with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from floorbench import codec
from floorbench.core.sample import Sample
from floorbench.core.score import Interval
from floorbench.errors import EnvironmentProblem, Place
from floorbench.metrics.agreement import kappa_cohen, kappa_free
from floorbench.metrics.base import Metric, Scored
from floorbench.stats.quick import estimate, units
from floorbench.web.journal import write_safely
from floorbench.web.review_plan import REJECT, UNSURE, gold_label, possible_labels
from floorbench.web.review_store import Review, Verdict

ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """One coefficient.

    Parameters
    ----------
    metric : {"kappa_free", "kappa_cohen"}
    part : str
        ``all`` or a system state.
    reviewers : tuple of str
    items : int
        Items that count; answers ``unsure`` count as none.
    value : float or None
    reason : str or None
        Why there is no value.
    interval : Interval or None
    """

    metric: str
    part: str
    reviewers: tuple[str, ...]
    items: int
    value: float | None = None
    reason: str | None = None
    interval: Interval | None = None


def agreement(review: Review, samples: Mapping[str, Sample], *, seed: int = 0) -> list[Agreement]:
    """Return free-marginal kappa of all reviewers and Cohen's kappa of every two.

    Categories are the labels that an item can have in its state, and ``reject``. Adjudication
    plays no part. Where items lie in several states, every coefficient is given for all of them
    and for each state. Cohen's kappa over all items takes chance from margins in which the states
    are mixed, though reviewers know the state: the one of each state is the stricter one.

    Parameters
    ----------
    review : Review
    samples : mapping of str to Sample
        The items of the plan.
    seed : int
        Of the cluster bootstrap (clusters and strata are the dataset's own).

    Undefined
    ---------
    The value is ``None`` with the reason: fewer than two reviewers of any item; states that allow
    different numbers of labels (free-marginal); one and the same label only (Cohen).
    """
    people = review.reviewers()
    said = {name: {i: a.label for i, a in review.answers(name).items()} for name in people}
    items = [i for i in review.plan.items if i in samples]
    states = list(dict.fromkeys(samples[i].observation.state for i in items))
    parts = {ALL: items}
    if len(states) > 1:
        parts |= {
            str(state): [i for i in items if samples[i].observation.state == state]
            for state in sorted(states, key=str)
        }
    out = []
    for part, members in parts.items():
        own = [samples[i] for i in members]
        out.append(_free(part, own, said, seed))
        out += [_cohen(part, own, a, b, said, seed) for a, b in combinations(people, 2)]
    return out


def _free(
    part: str, samples: Sequence[Sample], said: Mapping[str, Mapping[str, str]], seed: int
) -> Agreement:
    counted, rows = [], []
    for sample in samples:
        labels = Counter(a[sample.id] for a in said.values() if sample.id in a)
        del labels[UNSURE]
        if labels.total() >= 2:
            counted.append(sample)
            rows.append([labels[name] for name in (*possible_labels(sample), REJECT)])
    blank = Agreement(metric="kappa_free", part=part, reviewers=tuple(said), items=len(counted))
    if not counted:
        return replace(blank, reason="no item has answers of two reviewers")
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1:
        return replace(blank, reason=f"items allow {' or '.join(map(str, sizes))} categories")
    scored = _units(counted, (ALL,), [ALL] * len(counted), None)
    scored = replace(scored, columns={**scored.columns, "counts": np.array(rows)})
    return _estimated(blank, kappa_free(categories=sizes[0]), scored, seed)


def _cohen(
    part: str,
    samples: Sequence[Sample],
    first: str,
    second: str,
    said: Mapping[str, Mapping[str, str]],
    seed: int,
) -> Agreement:
    a, b = said[first], said[second]
    both = [s for s in samples if s.id in a and s.id in b and UNSURE not in (a[s.id], b[s.id])]
    blank = Agreement(metric="kappa_cohen", part=part, reviewers=(first, second), items=len(both))
    if not both:
        return replace(blank, reason="no item has answers of both")
    labels = (*dict.fromkeys(name for s in both for name in possible_labels(s)), REJECT)
    scored = _units(both, labels, [a[s.id] for s in both], [b[s.id] for s in both])
    return _estimated(blank, kappa_cohen(labels=labels), scored, seed)


def _units(
    samples: Sequence[Sample],
    labels: Sequence[str],
    first: Sequence[str],
    second: Sequence[str] | None,
) -> Scored:
    return units(
        labels=labels,
        gold=first,
        predicted=second,
        clusters=[s.cluster for s in samples],
        strata=[s.stratum for s in samples],
    )


def _estimated(blank: Agreement, metric: Metric, scored: Scored, seed: int) -> Agreement:
    found = estimate(metric, scored, seed=seed)
    return replace(blank, value=found.value, reason=found.reason, interval=found.interval)


# ---- verdicts --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was written: how many items of which verdict, and how many have none yet."""

    verdicts: Path
    agreement: Path
    accepted: int
    rejected: int
    open: int
    found: tuple[Agreement, ...]


def rows(
    verdicts: Iterable[tuple[str, Verdict]], samples: Mapping[str, Sample]
) -> list[dict[str, Any]]:
    """Return a line per item that has a verdict: ``accept`` where the final label is the gold."""
    return [
        {
            "id": item,
            "verdict": "accept" if found.final == gold_label(samples[item]) else "reject",
            "gold": gold_label(samples[item]),
            "final": found.final,
            "labels": dict(found.labels),
            "adjudicated": None if found.decision is None else codec.to_builtins(found.decision),
        }
        for item, found in verdicts
        if found.final is not None
    ]


def export(review: Review, samples: Mapping[str, Sample], path: Path) -> Exported:
    """Write verdicts as JSONL, and the agreement beside them as ``NAME.agreement.json``.

    Items without a verdict are left out of the file and counted.

    Raises
    ------
    EnvironmentProblem
        ``FB402`` when a file cannot be written.
    """
    verdicts = review.verdicts()
    lines = rows(verdicts.items(), samples)
    found = tuple(agreement(review, samples))
    beside = path.with_name(f"{path.stem}.agreement.json")
    plan = review.plan
    about = {
        "data": {"name": plan.name, "digest": plan.data},
        "sampling": plan.sampling,
        "items": len(plan.items),
        "reviewers": list(review.reviewers()),
        "agreement": list(found),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_safely(path, b"".join(codec.encode(line) + b"\n" for line in lines))
        write_safely(beside, codec.encode_pretty(about).encode())
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        raise EnvironmentProblem("FB402", what, where=Place(str(path))) from None
    accepted = sum(line["verdict"] == "accept" for line in lines)
    return Exported(
        verdicts=path,
        agreement=beside,
        accepted=accepted,
        rejected=len(lines) - accepted,
        open=len(verdicts) - len(lines),
        found=found,
    )
