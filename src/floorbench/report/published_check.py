"""Recompute the printed tables from their own cells and name what does not fit.

Three closed lists:

``misprint``
    cells that recomputation refutes: a printed mean that its cells do not give, a percentage that
    its count does not give, two cells of a row whose exchange restores the identity
    *micro intent accuracy = action accuracy x (1 - SMR)*.
``unexplained``
    cells off that identity by more than 0.2 points once the exchanges are undone.
``slip``
    slips of prose and formulas known from reading; they carry no recomputation.

The identity holds when both stages come from one inference (the predicted action is the parent of
the predicted intent). Scenarios with real recordings hold twice as many samples as the others and
weigh double. It is applied to Qwen3-Omni, GPT4o-audio and Gemini3-Pro; MiniCPM-o-4.5 fits it in 5
of 32 cells, so its two stages were not scored on the same answers and it is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from floorbench.report.published import number, rows

TOLERANCE = 0.2
REAL = frozenset({"backchannel", "interruption", "completion", "incomplete"})
ONE_INFERENCE = ("Qwen3-Omni", "GPT4o-audio", "Gemini3-Pro")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One entry of a list.

    Parameters
    ----------
    id : str
        Stable id, for example ``codett-2/zh/Qwen3-Omni/h5/maintain~stop_and_listen``.
    kind : str
        ``misprint``, ``unexplained`` or ``slip``.
    printed, recomputed : tuple of float
        Values as printed and as they should read; empty for slips.
    says : str
        One sentence.
    """

    id: str
    kind: str
    printed: tuple[float, ...] = ()
    recomputed: tuple[float, ...] = ()
    says: str


class _Row(NamedTuple):
    system: str
    language: str
    history: str

    @property
    def path(self) -> str:
        return f"{self.language}/{self.system}/h{self.history}"


def check() -> tuple[Finding, ...]:
    """Return all findings: misprints, then unexplained cells, then slips."""
    swaps, unexplained = _identity()
    return (
        *swaps,
        *_means("codett-2"),
        *_intent_means(),
        *_counts(),
        *unexplained,
        *SLIPS,
    )


def action_accuracy() -> dict[_Row, dict[str, float]]:
    """Return Table 2 as ``{row: {action: percent}}``; the row mean is ``macro``."""
    out: dict[_Row, dict[str, float]] = defaultdict(dict)
    for r in rows("codett-2"):
        value = number(r["value_percent"])
        if value is not None:
            out[_Row(r["system"], r["language"], r["history"])][r["action"]] = value
    return dict(out)


def intent_cells() -> dict[tuple[_Row, str], dict[str, float]]:
    """Return Table 3 as ``{(row, action): {scenario | 'macro' | 'smr': percent}}``."""
    out: dict[tuple[_Row, str], dict[str, float]] = defaultdict(dict)
    for r in rows("codett-3"):
        name = r["scenario"] or {"macro_accuracy": "macro"}.get(r["metric"], r["metric"])
        row = _Row(r["system"], r["language"], r["history"])
        out[row, r["action"]][name] = float(r["value_percent"])
    return dict(out)


def _scenarios(cells: Mapping[str, float]) -> dict[str, float]:
    return {k: v for k, v in cells.items() if k not in ("macro", "smr")}


def _mean(values: Mapping[str, float]) -> float:
    return sum(values.values()) / len(values)


def residual(action_percent: float, cells: Mapping[str, float]) -> float:
    """Return micro intent accuracy minus action accuracy x (1 - SMR), in points."""
    scenarios = _scenarios(cells)
    weights = {s: 2.0 if s in REAL else 1.0 for s in scenarios}
    micro = sum(scenarios[s] * weights[s] for s in scenarios) / sum(weights.values())
    return micro - action_percent * (1 - cells["smr"] / 100)


def _identity() -> tuple[list[Finding], list[Finding]]:
    actions, intents = action_accuracy(), intent_cells()
    swaps: list[Finding] = []
    unexplained: list[Finding] = []
    for row, printed in actions.items():
        if row.system not in ONE_INFERENCE:
            continue
        cells = {a: intents[row, a] for a in printed if a != "macro"}
        off = {a: residual(printed[a], cells[a]) for a in cells}
        far = [a for a in off if abs(off[a]) > TOLERANCE]
        pair = next(
            (
                (a, b)
                for a, b in combinations(far, 2)
                if abs(residual(printed[b], cells[a])) <= TOLERANCE
                and abs(residual(printed[a], cells[b])) <= TOLERANCE
            ),
            None,
        )
        if pair is not None:
            a, b = pair
            swaps.append(
                Finding(
                    id=f"codett-2/{row.path}/{a}~{b}",
                    kind="misprint",
                    printed=(printed[a], printed[b]),
                    recomputed=(printed[b], printed[a]),
                    says=f"the two cells are exchanged: residuals {off[a]:+.3f} and {off[b]:+.3f} "
                    f"become {residual(printed[b], cells[a]):+.3f} and "
                    f"{residual(printed[a], cells[b]):+.3f}",
                )
            )
            far = [x for x in far if x not in pair]
        unexplained += [
            Finding(
                id=f"codett-2+3/{row.path}/{a}",
                kind="unexplained",
                printed=(printed[a], cells[a]["smr"]),
                says=f"off the identity by {off[a]:+.2f} points",
            )
            for a in far
        ]
    return swaps, unexplained


def _rounds_to(value: float, printed: float) -> bool:
    # A mean of values printed to 0.01 may itself differ by half a unit, printed with two decimals.
    return abs(value - printed) <= 0.01 + 1e-9


def _means(table_id: str) -> list[Finding]:
    return [
        Finding(
            id=f"{table_id}/{row.path}/macro",
            kind="misprint",
            printed=(cells["macro"],),
            recomputed=(_mean({a: v for a, v in cells.items() if a != "macro"}),),
            says="the printed mean is not the mean of the row",
        )
        for row, cells in action_accuracy().items()
        if not _rounds_to(_mean({a: v for a, v in cells.items() if a != "macro"}), cells["macro"])
    ]


def _intent_means() -> list[Finding]:
    wrong: dict[_Row, dict[str, tuple[float, float]]] = defaultdict(dict)
    for (row, action), cells in intent_cells().items():
        mean = _mean(_scenarios(cells))
        if not _rounds_to(mean, cells["macro"]):
            wrong[row][action] = (cells["macro"], mean)
    out = []
    for row, cells_off in wrong.items():
        if len(cells_off) == 2:
            (a, (printed_a, mean_a)), (b, (printed_b, mean_b)) = cells_off.items()
            if _rounds_to(mean_a, printed_b) and _rounds_to(mean_b, printed_a):
                out.append(
                    Finding(
                        id=f"codett-3/{row.path}/{a}~{b}",
                        kind="misprint",
                        printed=(printed_a, printed_b),
                        recomputed=(printed_b, printed_a),
                        says="the two means are exchanged",
                    )
                )
                continue
        out += [
            Finding(
                id=f"codett-3/{row.path}/{action}",
                kind="misprint",
                printed=(printed,),
                recomputed=(mean,),
                says="the printed mean is not the mean of its scenarios",
            )
            for action, (printed, mean) in cells_off.items()
        ]
    return out


def _counts() -> list[Finding]:
    """Check ECHO's percentages against counts; the macro mean against the counts' mean."""
    out = []
    shares: dict[tuple[str, str], list[float]] = defaultdict(list)
    for r in rows("echo-4"):
        printed = float(r["value_percent"])
        if r["count"]:
            share = 100 * int(r["count"]) / int(r["of"])
            if r["metric"].startswith("acc_"):
                shares[r["system"], r["mode"]].append(share)
            if abs(share - printed) > 0.005 + 1e-9:
                out.append(_echo(r, printed, share, "its count gives another percentage"))
    for r in rows("echo-4"):
        if r["metric"] == "macro":
            exact = shares[r["system"], r["mode"]]
            mean, printed = sum(exact) / len(exact), float(r["value_percent"])
            if abs(mean - printed) > 0.005 + 1e-9:
                out.append(_echo(r, printed, mean, "a mean of rounded values"))
    return out


def _echo(r: Mapping[str, str], printed: float, value: float, says: str) -> Finding:
    return Finding(
        id=f"echo-4/{r['system']}/{r['mode']}/{r['metric']}",
        kind="misprint",
        printed=(printed,),
        recomputed=(value,),
        says=says,
    )


SLIPS: tuple[Finding, ...] = tuple(
    Finding(id=i, kind="slip", says=s)
    for i, s in (
        ("codett/prose-smr", "section 5.3 gives Gemini's SMR as 15-25 %; Table 3 has 14.73-34.20"),
        ("echo/prose-yield-bias", "the text says 35.70 % at most for the three systems with Yield "
         "bias; SoulX-Duplug's 207 of 549 are 37.70 %"),
        ("trp/eq1", "Equation 1 puts a bracket wrongly: the subtraction of N n belongs inside the "
         "factor 1 / (N n (n - 1))"),
        ("trp/nmae", "NMAE and NMSE are written as bare sums, without mean or normalisation"),
        ("trp/proportion", "the text counts the proportion of responses; Table 2 fits the "
         "proportion of participants"),
        ("trp/section6", "precision, recall and F1 quoted in section 6 disagree with Table 2"),
        ("trp/table1-duration", "Table 1 gives 30.5 and 31.7 s per stimulus; 846.3 s / 28 and "
         "853.5 s / 27 are 30.2 and 31.6 s"),
        ("dualturn/classes", "the recipe's class list mixes three label spaces: agent actions, "
         "word classes and shift/hold"),
        ("dualturn/support", "support is described as a true-positive count; the recipe itself "
         "adds the false negatives"),
    )
)  # fmt: skip
