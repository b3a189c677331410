"""A paragraph for the methods section of a paper: what was measured, on what, and how.

Everything in it comes from the results: their task, data, systems and signatures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from floorbench.core.score import Estimate
from floorbench.core.words import counted
from floorbench.report.served import answered_by
from floorbench.report.tables import as_tex
from floorbench.run.scoring import Result
from floorbench.run.signature import one_line
from floorbench.stats.intervals import FEWEST_CLUSTERS
from floorbench.stats.permutation import EXACT_CLUSTERS, PERMUTATIONS

TOLD_ELSEWHERE = (
    *("missing", "cluster", "strata", "threshold"),
    *("prompt_files", "prompts", "label_maps"),
)
"""Parameters of a task that have a sentence of their own, or are hashes of the signature."""
MISSING = {
    "wrong": "An answer that is missing (absent, abstained, invalid, failed or timed out) counts "
    "against the system as its metric says.",
    "drop": "Items whose answer is missing (absent, abstained, invalid, failed or timed out) are "
    "left out.",
}
BY = {
    "bca": "BCa",
    "percentile": "the percentile method where BCa is undefined",
    "clopper-pearson": "Clopper-Pearson on the number of clusters where no draw varies",
}


def methods(results: Sequence[Result], form: str = "text") -> str:
    """Return the paragraph, and the signatures that pin down every figure.

    Parameters
    ----------
    results : sequence of Result
        Of one task and one dataset, all that the paper reports together.
    form : str
        ``latex`` for a text whose signs LaTeX prints as they are; a bare % would hide a line.
    """
    first = results[0]
    said = [
        *_task(first),
        *_data(first),
        *(_system(result) for result in results),
        *_intervals([e for r in results for e in r.estimates], first),
    ]
    if len(results) > 1:
        said.append(
            "Systems are compared on the same items: the difference has a paired cluster "
            "bootstrap, its p value comes from a permutation test that exchanges whole clusters "
            f"(exact up to {EXACT_CLUSTERS} clusters, else {PERMUTATIONS:,} permutations), and "
            "p values are corrected by Holm over all cells that are compared together."
        )
    text = "\n".join([" ".join(said), "", *(one_line(r.signature) for r in results)])
    return as_tex(text) if form == "latex" else text


def _task(result: Result) -> list[str]:
    task, protocol = result.task, result.signature.protocol
    printed = [result.estimates[i].slice.get("condition", "") for i in result.headline]
    conditions = list(dict.fromkeys(printed))
    given = {
        k: v
        for k, v in task.parameters.items()
        if k not in TOLD_ELSEWHERE and v not in (None, [], {})
    }
    # "ours" would be said of the paper's authors.
    others = "; ".join(said for said in task.source.split("; ") if said != "ours")
    after = f" after {others}" if others else ""
    listed = ", ".join(f"{k}={_plain(v)}" for k, v in given.items())
    settings = f" ({listed})" if listed else ""
    out = [
        f"We evaluated with {protocol['scorer']}, task {task.name} version {task.version}"
        f"{after}{settings}."
    ]
    if any(conditions):
        out.append(f"Conditions: {', '.join(c for c in conditions if c)}.")
    trials = protocol.get("trials")
    if isinstance(trials, int) and trials > 1:
        out.append(
            f"Each item was asked {counted(trials, 'time')} and averaged before anything else."
        )
    policy = str(task.parameters.get("missing"))
    return [*out, MISSING[policy]] if policy in MISSING else out


def _data(result: Result) -> list[str]:
    about, protocol = result.dataset, result.signature.protocol
    known = about.get("version") not in (None, "", "unknown")
    version = f" version {about['version']}" if known else ""
    size = about.get("samples")
    samples = f", {counted(size, 'sample')}" if isinstance(size, int) and size else ""
    limit = f", the first {protocol['limit']} of them" if protocol.get("limit") else ""
    out = [
        f"Data: {about.get('name', 'unnamed')}{version}{samples}{limit}, "
        f"digest {protocol.get('dataset')}."
    ]
    notices = about.get("notices")
    return out + [str(n) for n in notices] if isinstance(notices, list | tuple) else out


def _system(result: Result) -> str:
    spec, cover = result.system, result.coverage
    parameters = result.signature.system.get("parameters")  # without secrets
    shown = [
        *(f"{name} sha256 {digest[:12]}" for name, digest in spec.weights.items()),
        *_threshold(result),
        *([f"label map {spec.label_map}"] if spec.label_map else []),
    ]
    if isinstance(parameters, dict):
        shown = [f"{k}={_plain(v)}" for k, v in parameters.items() if not _hash(k)] + shown
    version = "" if spec.version == "unknown" else f" version {spec.version}"
    settings = f" ({', '.join(shown)})" if shown else ""
    served = f"; {answered_by(result.served)}" if result.served else ""
    return (
        f"{spec.name}{version}{settings} answered {cover.ok} of "
        f"{counted(cover.expected, 'question')}{served}."
    )


def _threshold(result: Result) -> list[str]:
    """Return the threshold that was scored at: the task's, chosen or given, else the system's."""
    protocol, system = result.signature.protocol, result.signature.system
    scored_at = result.task.parameters.get("threshold")
    own = result.system.threshold
    if scored_at is None:
        return [f"threshold {own:g}"] if own is not None else []
    frozen = system.get("threshold_from")
    if not isinstance(frozen, dict):
        return [f"threshold {scored_at:g}"]
    chosen = protocol["parameters"]["threshold"]
    return [
        f"threshold {scored_at:g}, chosen by {chosen} on data of digest {frozen['dataset']} "
        "and then frozen"
    ]


def _hash(name: str) -> bool:
    return name.endswith("sha256")


def _intervals(estimates: Sequence[Estimate], result: Result) -> list[str]:
    protocol, parameters = result.signature.protocol, result.task.parameters
    bootstrap = protocol.get("bootstrap")
    assert isinstance(bootstrap, dict)  # noqa: S101 -- scoring wrote it
    used = Counter(e.interval.method for e in estimates if e.interval.low is not None)
    ways = ", ".join(how for method, how in BY.items() if used[method])
    by = f"by {ways}" if ways else "no figure here has one"
    strata = parameters.get("strata")
    within = f", drawn within strata ({strata})" if strata and strata != "none" else ""
    return [
        f"Intervals are {100 * float(bootstrap['level']):g} %, two-sided, from a bootstrap of "
        f"{counted(bootstrap['draws'], 'draw', form=',')} (seed {bootstrap['seed']}) that "
        "resamples whole clusters "
        f"({parameters.get('cluster', 'cluster of the data')}){within}; {by}. Under "
        f"{FEWEST_CLUSTERS} clusters there is none."
    ]


def _plain(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
