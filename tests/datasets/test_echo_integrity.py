"""Every rule of a matched-contrast set is found when it is broken, and named with its row."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floorbench.datasets.echo import EchoSource
from floorbench.datasets.echo_integrity import faults
from floorbench.errors import DataError
from support import echo_tiny

Samples = list[dict[str, Any]]
Pairs = list[dict[str, str]]


def drop_pair(samples: Samples, pairs: Pairs) -> None:
    pairs.pop()


def twice(samples: Samples, pairs: Pairs) -> None:
    pairs.append(dict(pairs[0], pair_id="again"))


def set_(index: int, **values: Any) -> Callable[[Samples, Pairs], None]:
    def change(samples: Samples, pairs: Pairs) -> None:
        samples[index].update(values)

    return change


def event(index: int, **values: float) -> Callable[[Samples, Pairs], None]:
    def change(samples: Samples, pairs: Pairs) -> None:
        samples[index]["events"].update(values)

    return change


def other_member(samples: Samples, pairs: Pairs) -> None:
    pairs[0]["sample_b"] = "nobody"


def foreign_member(samples: Samples, pairs: Pairs) -> None:
    pairs[0]["sample_b"] = samples[4]["sample_id"]


def same_role(samples: Samples, pairs: Pairs) -> None:
    pairs[0]["sample_b"] = pairs[0]["sample_a"]


def doubled(samples: Samples, pairs: Pairs) -> None:
    samples.append(dict(samples[0]))


def late_word(samples: Samples, pairs: Pairs) -> None:
    samples[0]["words"][1]["end"] = 9.0


BROKEN: dict[str, tuple[Callable[[Samples, Pairs], None], str, str]] = {
    "other text in a pair": (set_(1, insertion="stop"), "FB262", "has the insertions"),
    "other language": (set_(1, language="fr"), "FB262", "two languages"),
    "action against role": (set_(0, action="keep"), "FB262", "yield exactly"),
    "unknown role": (set_(0, role="noise"), "FB264", "role 'noise'"),
    "unknown action": (set_(0, action="wait"), "FB264", "action 'wait'"),
    "unknown speaker": (set_(0, history=[{"role": "x", "text": ""}]), "FB264", "turn of the"),
    "unknown channel": (set_(0, audio={"left": {"path": "a"}}), "FB264", "channel belongs"),
    "no text": (set_(0, insertion=" "), "FB262", "no text"),
    "role twice": (set_(1, role="interruption"), "FB262", "twice"),
    "missing pair": (drop_pair, "FB262", "has 0 B-O pairs"),
    "pair twice": (twice, "FB262", "has 2 I-B pairs"),
    "no such member": (other_member, "FB262", "no sample 'nobody'"),
    "member of another group": (foreign_member, "FB262", "is of group"),
    "one role in a pair": (same_role, "FB262", "both members are"),
    "sample twice": (doubled, "FB203", "appears twice"),
    "end before start": (event(0, insertion_end=0.5), "FB263", "not in this order"),
    "negative": (event(0, system_start=-1.0), "FB263", "at or after 0"),
    "system ended before": (event(0, system_end=0.9), "FB263", "after the planned"),
    "word outside": (late_word, "FB263", "out of order"),
    "no samples": (lambda samples, pairs: (samples.clear(), pairs.clear()), "FB262", "no sample"),
    "empty id": (set_(0, sample_id=""), "FB262", "sample_id is empty"),
    "a channel that others have": (lambda s, p: s[0]["audio"].pop("user"), "FB262", "no user"),
    "no channel at all": (set_(0, audio={}), "FB262", "no system channel"),
    "one channel for both": (
        lambda s, p: s[0]["audio"].update(system=s[0]["audio"]["user"]),
        "FB262",
        "both roles",
    ),
}


def changed(folder: Path, change: Callable[[Samples, Pairs], None]) -> EchoSource:
    samples = copy.deepcopy(echo_tiny.rows())
    pairs = echo_tiny.pairs(samples)
    change(samples, pairs)
    return EchoSource(echo_tiny.write(folder, samples, pairs))


def test_a_whole_set_has_no_fault(tmp_path: Path) -> None:
    source = changed(tmp_path, lambda samples, pairs: None)
    assert list(faults(source.rows, source.pairs)) == []


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_found_and_placed(name: str, tmp_path: Path) -> None:
    change, code, words = BROKEN[name]
    source = changed(tmp_path, change)
    found = list(faults(source.rows, source.pairs))
    assert any(f.code == code and words in f.what for f in found), [str(f) for f in found]
    assert all(f.where is not None and f.where.item for f in found)
    with pytest.raises(DataError) as refused:
        list(source.samples())
    assert refused.value.what == found[0].what
