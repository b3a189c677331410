"""ECHO's table: action accuracy by role, and what the pairs say; latency of streams beside it.

Below each system stand two expectations that a pair score has to beat: what its own accuracies
would give if the members were answered independently, and what a policy blind to the context gives
at its yield rate. Then the constant policies on the same data, the fair coin's expectation, and
(for Chinese, the language of the paper) the published rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from floorbench.core.score import Estimate
from floorbench.report.languages import languages
from floorbench.report.published import rows as published
from floorbench.report.summary import is_reference, notes
from floorbench.report.tables import Cell, Row, Table, cell, text
from floorbench.run.scoring import Result

TAILS = ("0 s", "1 s")
ROLES = ("interruption", "backchannel", "off_talk")
COLUMNS = {
    "interruption": "Acc I",
    "backchannel": "Acc B",
    "off_talk": "Acc O",
    "macro": "Macro",
    "pasr": "PASR",
    "pasr/I-B": "PASR I-B",
    "pasr/I-O": "PASR I-O",
    "pkc": "PKC",
    "prsr": "PRSR",
    "yield": "Yield rate",
    "n": "n",
    "coverage": "coverage %",
}
LATENCY = {
    f"{role}/{level}": f"{short} {level}"
    for role, short in zip(ROLES, ("I", "B", "O"), strict=True)
    for level in ("50%", "90%", "answered")
}
COIN = {
    **dict.fromkeys((*ROLES, "macro", "yield"), 0.5),
    **dict.fromkeys(("pasr", "pasr/I-B", "pasr/I-O", "pkc"), 0.25),
}
_PRINTED = {
    "acc_interruption": "interruption",
    "acc_backchannel": "backchannel",
    "acc_offtalk": "off_talk",
    "macro": "macro",
    "pasr_ib": "pasr/I-B",
    "pasr_io": "pasr/I-O",
    "pkc_bo": "pkc",
    "prsr": "prsr",
}


def tables(results: Sequence[Result]) -> list[Table]:
    """Return one score table per language, then one of latencies for streams."""
    out = []
    names = _names(results)
    for language, name in languages(results).items():
        rows = [
            r for n, result in zip(names, results, strict=True) for r in _rows(n, result, language)
        ]
        if rows:
            out.append(
                Table(
                    title=f"ECHO, {name}: action accuracy and pairs (%)",
                    head="system",
                    columns=COLUMNS,
                    rows=[*rows, *_constants(results, language), *_published(language)],
                    notes=(
                        "PASR: yields to the interruption and keeps the floor for the other. "
                        "PKC: keeps it for both. Always keeping scores PKC 100 and PASR 0.",
                        "PRSR: both roles named right, among three; a uniform guess expects 11.1, "
                        "always the same role scores 0.",
                        "tail: seconds after the insertion in which a stream's yield still counts.",
                        *notes(results),
                    ),
                )
            )
        timed = [
            r
            for n, result in zip(names, results, strict=True)
            for r in _latency_rows(n, result, language)
        ]
        if timed:
            out.append(
                Table(
                    title=f"ECHO, {name}: time from the acoustic onset to the yield (s)",
                    head="system",
                    columns=LATENCY,
                    rows=timed,
                    notes=(
                        "Signed: a yield before the onset is negative. No yield in a window heard "
                        "to its end counts as infinitely late, a stream cut short as censored "
                        "(Kaplan-Meier). '-': fewer answers than the percentile asks for. "
                        "answered: share with a yield, in percent. I should be fast; B and O "
                        "should have none.",
                    ),
                )
            )
    return out


def _rows(system: str, result: Result, language: str) -> Iterator[Row]:
    cells = [e for e in result.estimates if e.slice.get("language") == language]
    three = [e for e in cells if e.slice.get("answers") == "three-way"]
    prsr = next((e for e in three if e.metric == "prsr" and "contrast" not in e.slice), None)
    streams = _streams(cells)
    for tail in TAILS if streams else TAILS[:1]:
        beside = [e for e in cells if e.slice.get("tail") == tail]
        if not beside:
            continue
        own = [e for e in beside if "baseline" not in e.slice]
        found = dict(_cells(own))
        if prsr is not None:
            found["prsr"] = cell(prsr)
        name = system + (f", tail {tail}" if streams else "")
        yield Row(name=name, cells=found, note=_wrong(own))
        yield from _expected(beside)
    if prsr is not None and prsr.value is not None:
        yield Row(name=f"{system}, three-way", cells=dict(_cells(three)))


def _streams(estimates: Sequence[Estimate]) -> bool:
    """Tell whether the system's answers have commit times."""
    return any("anchor" in e.slice and e.coverage.expected for e in estimates)


def _cells(estimates: Sequence[Estimate]) -> Iterator[tuple[str, Cell]]:
    units, answered = 0, 0
    for e in estimates:
        if e.metric.startswith("accuracy") and e.slice.get("role") in ROLES:
            if "anchor" not in e.slice:
                units += e.units
                answered += e.coverage.ok
                yield e.slice["role"], cell(e)
        elif e.metric.startswith("macro_accuracy"):
            yield "macro", cell(e)
        elif e.metric.startswith("prediction_share") and e.slice.get("answer") == "yield":
            yield "yield", cell(e)
        elif e.metric in ("pasr", "pkc", "prsr"):
            contrast = e.slice.get("contrast")
            yield (f"{e.metric}/{contrast}" if contrast else e.metric), cell(e)
    if units:
        yield "n", text(str(units))
        yield "coverage", Cell(value=answered / units, scale=100, digits=1)


def _wrong(estimates: Sequence[Estimate]) -> str | None:
    said = [
        f"{e.slice['answer']}: {e.value:.1%} of the samples"
        for e in estimates
        if e.slice.get("answer") in ("premature", "not_holding") and e.value
    ]
    return "; ".join(said) or None


def _expected(estimates: Sequence[Estimate]) -> Iterator[Row]:
    for name, label in (("independence", "if independent"), ("rate-matched", "at its yield rate")):
        cells: dict[str, Cell] = {}
        for e in estimates:
            if e.slice.get("baseline") != name:
                continue
            key = f"pasr/{e.slice['contrast']}" if "contrast" in e.slice else e.metric[13:]
            cells[key] = Cell(value=e.value, scale=100, digits=1, reason=e.reason)
        if cells:
            yield Row(name=f"  expected {label}", cells=cells)


def _constants(results: Sequence[Result], language: str) -> Iterator[Row]:
    for policy, yields in (("always yield", 1.0), ("always keep", 0.0)):
        estimates = [
            e
            for e in results[0].estimates
            if e.slice.get("language") == language and e.slice.get("baseline") == policy
        ]
        if estimates:
            cells = {k: c for k, c in _cells(estimates) if k not in ("n", "coverage")}
            plain = {k: Cell(value=c.value, scale=100, digits=1) for k, c in cells.items()}
            yield Row(name=f"({policy})", cells=plain | {"yield": Cell(value=yields, scale=100)})
    yield Row(
        name="(fair coin, expected)",
        cells={k: Cell(value=v, scale=100, digits=1) for k, v in COIN.items()},
    )


def _published(language: str) -> list[Row]:
    """Return the rows of the paper; it measures Chinese."""
    if language != "zh":
        return []
    found: dict[str, dict[str, Cell]] = {}
    for row in published("echo-4"):
        mode = "" if row["mode"] == "binary" else f" {row['mode']}"
        cells = found.setdefault(f"{row['system']}{mode} (paper)", {})
        key = _PRINTED.get(row["metric"])
        if key is not None:
            cells[key] = Cell(value=float(row["value_percent"]), digits=2)
    return [Row(name=name, cells=cells, published=True) for name, cells in found.items()]


def _latency_rows(system: str, result: Result, language: str) -> Iterator[Row]:
    cells: dict[str, Cell] = {}
    if not _streams([e for e in result.estimates if e.slice.get("language") == language]):
        return
    for e in result.estimates:
        where: Mapping[str, str] = e.slice
        if where.get("language") != language or "anchor" not in where:
            continue
        if "percentile" in where:
            key = f"{where['role']}/{where['percentile']}"
            cells[key] = cell(e, scale=1.0, digits=2)
        elif e.metric.startswith("answered_share"):
            cells[f"{where['role']}/answered"] = cell(e)
    if cells:
        yield Row(name=f"{system}, tail 1 s", cells=cells)


def _names(results: Sequence[Result]) -> list[str]:
    """Return one name per result; equal names get the parameters in which they differ."""
    out = []
    for result in results:
        name = result.system.name
        same = [r.system.parameters for r in results if r.system.name == name]
        if len(same) > 1:
            own = result.system.parameters
            differ = [k for k in own if any(other.get(k) != own[k] for other in same)]
            if differ:
                name += " (" + ", ".join(f"{k}={own[k]}" for k in differ) + ")"
        out.append(name + (" [reference]" if is_reference(result) else ""))
    return out
