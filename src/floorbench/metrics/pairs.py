"""Joint correctness on linked pairs, and the baselines it has to be read against.

Columns of *pair units*
    ``contrast`` (codes), ``gold_a``, ``gold_b``, ``predicted_a``, ``predicted_b`` (codes into
    ``vocab["gold"]``; -1 for no usable label on the predicted side), ``outcome_a``,
    ``outcome_b``. Within a contrast, member *a* is always of the same role. For the role metric
    the same columns hold roles instead of floor actions.

A pair with a missing or unsupported member fails (``wrong``); under ``drop`` a pair with a
missing member leaves the denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from floorbench.core.sample import JsonValue
from floorbench.core.spec import MetricSpec
from floorbench.metrics.base import Bools, Floats, Ints, Scored, ratio
from floorbench.metrics.inputs import (
    answers,
    as_rows,
    check_missing,
    code_of,
    coded,
    fail_at,
    numbers,
)
from floorbench.metrics.inputs import labels as read_labels
from floorbench.metrics.kinds import Additive


class Pairs(NamedTuple):
    """Checked pairs: gold codes, whether each member is right, whether the pair counts."""

    contrast: Ints
    gold_a: Ints
    gold_b: Ints
    right_a: Bools
    right_b: Bools
    kept: Bools


def read_pairs(scored: Scored, *, missing: str) -> Pairs:
    """Return checked pairs.

    Raises
    ------
    DataError
        ``FB624`` for a pair without one of its members, ``FB620`` and ``FB621`` as for labels.
    """
    for column in ("gold_a", "gold_b"):
        absent = numbers(scored, column) < 0
        fail_at(scored, absent, "FB624", f"pair {{row}} has no member '{column[-1]}'")
    right: dict[str, Bools] = {}
    kept = np.ones(len(scored), dtype=np.bool_)
    gold: dict[str, Ints] = {}
    for side in ("a", "b"):
        gold[side] = coded(scored, f"gold_{side}", vocab="gold")
        said = coded(scored, f"predicted_{side}", low=-1, vocab="gold")
        member = answers(scored, missing, f"outcome_{side}")
        fail_at(
            scored,
            member.answered & (said < 0),
            "FB621",
            f"pair {{row}} member '{side}' has outcome 'ok' and no label",
        )
        right[side] = member.answered & (said == gold[side])
        kept &= member.kept
    return Pairs(coded(scored, "contrast"), gold["a"], gold["b"], right["a"], right["b"], kept)


def pasr(*, contrast: str | None = None, missing: str = "wrong") -> Additive:
    """Pairwise action success rate: both actions right on pairs whose target actions differ.

    Parameters
    ----------
    contrast : str or None
        One contrast, or all pairs whose members have different targets.
    missing : {'wrong', 'drop'}
        A pair with a missing member fails, or leaves the denominator.

    Undefined
    ---------
    No such pair. A constant policy scores 0, a fair coin expects 0.25.

    Source
    ------
    ECHO, PASR.
    """
    return _joint("pasr", contrast, missing, lambda _, pairs: pairs.gold_a != pairs.gold_b, {})


def pkc(*, keep: str = "keep", contrast: str | None = None, missing: str = "wrong") -> Additive:
    """Pairwise keep consistency: the floor kept on both members of pairs that ask for it.

    Parameters
    ----------
    keep : str
        Name of the action that keeps the floor.
    contrast : str or None
        One contrast, or all of them.
    missing : {'wrong', 'drop'}
        A pair with a missing member fails, or leaves the denominator.

    Undefined
    ---------
    No pair has ``keep`` as the target of both members. Always keeping scores 1.

    Source
    ------
    ECHO, PKC.
    """

    def both_keep(scored: Scored, pairs: Pairs) -> Bools:
        code = code_of(scored, "gold", keep)
        both: Bools = (pairs.gold_a == code) & (pairs.gold_b == code)
        return both

    return _joint("pkc", contrast, missing, both_keep, {"keep": keep})


def prsr(*, contrast: str | None = None, missing: str = "wrong") -> Additive:
    """Pairwise role success rate: both roles right, over all pairs.

    The columns hold roles. A constant role scores 0, a uniform guess among three 1/9.

    Parameters
    ----------
    contrast : str or None
        One contrast, or all of them.
    missing : {'wrong', 'drop'}
        A pair with a missing member fails, or leaves the denominator.

    Undefined
    ---------
    No pair.

    Source
    ------
    ECHO, PRSR; defined for systems with a three-way answer only.
    """
    return _joint("prsr", contrast, missing, lambda _, pairs: pairs.contrast >= 0, {})


def independence_baseline(*, contrast: str, missing: str = "wrong") -> Additive:
    """Pair success expected if the two members were answered independently.

    The product of the accuracy on members *a* and the accuracy on members *b*, both over this
    contrast's own pairs, never over all samples.

    Parameters
    ----------
    contrast : str or None
        One contrast, or all of them.
    missing : {'wrong', 'drop'}
        A pair with a missing member fails, or leaves the denominator.

    Undefined
    ---------
    The contrast has no pair.

    Raises
    ------
    DataError
        ``FB624`` when the members of a contrast do not keep one order of targets.

    Source
    ------
    Ours; printed beside PASR.
    """

    def statistics(scored: Scored) -> Floats:
        pairs = read_pairs(scored, missing=missing)
        inside = pairs.contrast == code_of(scored, "contrast", contrast)
        for side, gold in (("a", pairs.gold_a), ("b", pairs.gold_b)):
            first = gold[inside][0] if inside.any() else -1
            fail_at(
                scored,
                inside & (gold != first),
                "FB624",
                f"pair {{row}} of contrast '{contrast}' has another target for member '{side}' "
                "than the pairs before it",
            )
        use = inside & pairs.kept
        return as_rows(pairs.right_a & use, pairs.right_b & use, use)

    return Additive(
        spec=_spec("independence_baseline", missing, {"contrast": contrast}, better=None),
        names=("right_a", "right_b", "pairs"),
        statistics=statistics,
        of_totals=lambda t: ratio(t[..., 0], t[..., 2]) * ratio(t[..., 1], t[..., 2]),
        why=lambda _: f"no pair of contrast '{contrast}'",
    )


def rate_matched_pasr(*, label: str = "yield", missing: str = "wrong") -> Additive:
    """PASR expected from a policy that yields at the system's own rate q, blind to the context.

    q (1 - q), over label units (samples), q being the share of samples answered with ``label``.

    Parameters
    ----------
    label : str
        The label that is counted, one of the task's label set.
    missing : {'wrong', 'drop'}
        A missing prediction is no yield, or its unit leaves.

    Undefined
    ---------
    No sample.

    Source
    ------
    Ours; printed beside PASR.
    """
    return _rate_matched("rate_matched_pasr", label, missing, lambda q: q * (1 - q), high=0.25)


def rate_matched_pkc(*, label: str = "yield", missing: str = "wrong") -> Additive:
    """PKC expected from a policy that yields at the system's own rate q, blind to the context.

    (1 - q)^2 over label units (samples).

    Parameters
    ----------
    label : str
        The label that is counted, one of the task's label set.
    missing : {'wrong', 'drop'}
        A missing prediction is no yield, or its unit leaves.

    Undefined
    ---------
    No sample.

    Source
    ------
    Ours; printed beside PKC.
    """
    return _rate_matched("rate_matched_pkc", label, missing, lambda q: (1 - q) ** 2, high=1.0)


def _rate_matched(
    name: str, label: str, missing: str, value: Callable[[Floats], Floats], *, high: float
) -> Additive:
    check_missing(missing)

    def statistics(scored: Scored) -> Floats:
        code = code_of(scored, "gold", label)
        labels = read_labels(scored, missing=missing)
        return as_rows((labels.predicted == code) & labels.kept, labels.kept)

    return Additive(
        spec=MetricSpec(
            name=name,
            version="1",
            unit="sample",
            columns=("gold", "predicted", "outcome"),
            better=None,
            high=high,
            source="ours",
            parameters={"label": label, "missing": missing},
        ),
        names=("said", "units"),
        statistics=statistics,
        of_totals=lambda t: value(ratio(t[..., 0], t[..., 1])),
        why=lambda _: "no units to score",
    )


def _joint(
    name: str,
    contrast: str | None,
    missing: str,
    eligible: Callable[[Scored, Pairs], Bools],
    parameters: Mapping[str, JsonValue],
) -> Additive:
    def statistics(scored: Scored) -> Floats:
        pairs = read_pairs(scored, missing=missing)
        use = eligible(scored, pairs) & pairs.kept
        if contrast is not None:
            use &= pairs.contrast == code_of(scored, "contrast", contrast)
        return as_rows(pairs.right_a & pairs.right_b & use, use)

    among = "" if contrast is None else f" of contrast '{contrast}'"
    return Additive(
        spec=_spec(name, missing, {"contrast": contrast, **parameters}),
        names=("both_right", "pairs"),
        statistics=statistics,
        of_totals=lambda t: ratio(t[..., 0], t[..., 1]),
        why=lambda _: f"no pair{among} counts for {name}",
    )


def _spec(
    name: str, missing: str, parameters: Mapping[str, JsonValue], *, better: str | None = "higher"
) -> MetricSpec:
    return MetricSpec(
        name=name,
        version="1",
        unit="pair",
        columns=(
            "contrast",
            "gold_a",
            "gold_b",
            "predicted_a",
            "predicted_b",
            "outcome_a",
            "outcome_b",
        ),
        better=better,
        source="ECHO" if better else "ours",
        parameters={"missing": check_missing(missing), **parameters},
    )
