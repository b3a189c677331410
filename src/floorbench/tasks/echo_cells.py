"""Every cell of ECHO's result, from sample and pair units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from floorbench.core.spec import SystemSpec
from floorbench.datasets.echo_tables import ROLES
from floorbench.metrics.base import INVALID, OK, Measure, Metric, Scored
from floorbench.metrics.classification import accuracy, macro_accuracy, prediction_share
from floorbench.metrics.latency import answered_share, early_share, latency_percentile
from floorbench.metrics.pairs import (
    independence_baseline,
    pasr,
    pkc,
    prsr,
    rate_matched_pasr,
    rate_matched_pkc,
)
from floorbench.tasks.echo_answers import KEEP, NOT_HOLDING, PREMATURE, YIELD
from floorbench.tasks.units import coverage, no_cover

SAMPLES, PAIRS = "sample", "pair"
TAIL = ("0", "1")
FLIPS = ("I-B", "I-O")
LEVELS = (0.5, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Builds the cells of one result.

    Parameters
    ----------
    samples, pairs : Scored
        All units of the run.
    system : SystemSpec
    languages, contrasts : tuple of str
    missing : {'wrong', 'drop'}
    streams : bool
        Whether the answers have commit times. Cells are the same for all systems, so that they
        compare; without commit times both tails are equal, of which the printed table and a
        comparison of two such systems have one, and latencies are N/A.
    three_way : bool
        Whether the system answers with a role.
    """

    samples: Scored
    pairs: Scored
    system: SystemSpec
    languages: Sequence[str]
    contrasts: Sequence[str]
    missing: str
    streams: bool
    three_way: bool

    def all(self) -> list[Measure]:
        """Return every cell, per language and tail."""
        out: list[Measure] = []
        for code, language in enumerate(self.languages):
            samples = self.samples.where(self.samples.column("language") == code)
            pairs = self.pairs.where(self.pairs.column("language") == code)
            if not len(samples):
                continue
            for tail in TAIL:
                where = {"language": language, "tail": f"{tail} s"}
                out += self._of_samples(at_tail(samples, tail), where)
                out += self._of_pairs(pairs_at_tail(pairs, tail), at_tail(samples, tail), where)
            out += self._latencies(samples, {"language": language})
            out += self._roles(samples, pairs, {"language": language})
            out += self._constants(samples, pairs, {"language": language})
        return out

    def _of_samples(self, units: Scored, where: Mapping[str, str]) -> Iterator[Measure]:
        for code, role in enumerate(ROLES):
            of_role = units.where(units.column("role") == code)
            yield self._cell(accuracy(missing=self.missing), {**where, "role": role}, of_role)
        yield self._cell(self._macro(), where, credited(units))
        for label in (YIELD, PREMATURE, NOT_HOLDING):
            metric = prediction_share(label=label, missing=self.missing)
            cell = {**where, "answer": label}
            yield self._cell(metric, cell, units, headline=label == YIELD)

    def _of_pairs(
        self, pairs: Scored, samples: Scored, where: Mapping[str, str]
    ) -> Iterator[Measure]:
        yield self._cell(pasr(missing=self.missing), where, self._among(pairs, *FLIPS))
        for contrast in FLIPS:
            here = self._among(pairs, contrast)
            cell = {**where, "contrast": contrast}
            yield self._cell(pasr(contrast=contrast, missing=self.missing), cell, here)
            metric = independence_baseline(contrast=contrast, missing=self.missing)
            yield self._cell(metric, {**cell, "baseline": "independence"}, here, headline=False)
        yield self._cell(pkc(missing=self.missing), where, self._among(pairs, "B-O"))
        for matched in (rate_matched_pasr, rate_matched_pkc):
            cell = {**where, "baseline": "rate-matched"}
            yield self._cell(matched(missing=self.missing), cell, samples, headline=False)

    def _latencies(self, units: Scored, where: Mapping[str, str]) -> Iterator[Measure]:
        na = None if self.streams else f"{self.system.name} gives no commit times"
        timed = units.with_columns(outcome=units.column("outcome_tail1").astype(np.int64))
        timed = timed.with_columns(status=timed.column("status").astype(np.int64))
        for code, role in enumerate(ROLES):
            here = timed.where(timed.column("role") == code)
            cell = {**where, "role": role, "anchor": "acoustic onset"}
            for level in LEVELS:
                metric = latency_percentile(level=level, missing=self.missing)
                level_cell = {**cell, "percentile": f"{level:.0%}"}
                first = level == LEVELS[0]
                yield self._cell(metric, level_cell, here, headline=first, na=na)
            for share in (answered_share, early_share):
                yield self._cell(share(missing=self.missing), cell, here, headline=False, na=na)

    def _roles(self, units: Scored, pairs: Scored, where: Mapping[str, str]) -> Iterator[Measure]:
        na = (
            None
            if self.three_way
            else f"{self.system.name} does not declare the labels {', '.join(ROLES)}"
        )
        said = units.column("predicted_role")
        outcome = units.column("outcome")
        read = units.with_columns(outcome=np.where((outcome == OK) & (said < 0), INVALID, outcome))
        cell = {**where, "answers": "three-way"}
        for code, role in enumerate(ROLES):
            of_role = read.where(read.column("role") == code)
            metric = accuracy(gold="role", predicted="predicted_role", missing=self.missing)
            yield self._cell(metric, {**cell, "role": role}, of_role, na=na)
        macro = macro_accuracy(
            labels=ROLES, gold="role", predicted="predicted_role", missing=self.missing
        )
        yield self._cell(macro, cell, read, na=na)
        of_roles = replace(
            pairs.with_columns(
                **{
                    f"{kind}_{side}": pairs.column(source.format(side))
                    for side in ("a", "b")
                    for kind, source in (
                        ("gold", "role_{}"),
                        ("predicted", "predicted_role_{}"),
                        ("outcome", "outcome_role_{}"),
                    )
                },
                outcome=pairs.column("outcome_role"),
            ),
            vocab={**pairs.vocab, "gold": pairs.vocab["role"]},
        )
        yield self._cell(prsr(missing=self.missing), cell, of_roles, na=na)
        for contrast in self.contrasts:
            here = self._among(of_roles, contrast)
            metric = prsr(contrast=contrast, missing=self.missing)
            flip = {**cell, "contrast": contrast}
            yield self._cell(metric, flip, here, headline=False, na=na)

    def _constants(
        self, samples: Scored, pairs: Scored, where: Mapping[str, str]
    ) -> Iterator[Measure]:
        """What the two constant policies score on these very units."""
        for policy in (YIELD, KEEP):
            code = samples.code("gold", policy)
            always = samples.with_columns(
                predicted=np.full(len(samples), code),
                outcome=np.full(len(samples), OK),
            )
            both = pairs.with_columns(
                **{f"predicted_{s}": np.full(len(pairs), code) for s in ("a", "b")},
                **{f"outcome_{s}": np.full(len(pairs), OK) for s in ("a", "b")},
                outcome=np.full(len(pairs), OK),
            )
            cell = {**where, "baseline": f"always {policy}"}
            for number, role in enumerate(ROLES):
                of_role = always.where(always.column("role") == number)
                yield self._cell(accuracy(), {**cell, "role": role}, of_role, headline=False)
            macro = macro_accuracy(labels=ROLES, gold="role", predicted="credited")
            yield self._cell(macro, cell, credited(always), headline=False)
            yield self._cell(pasr(), cell, self._among(both, *FLIPS), headline=False)
            for contrast in FLIPS:
                flip = {**cell, "contrast": contrast}
                here = self._among(both, contrast)
                yield self._cell(pasr(contrast=contrast), flip, here, headline=False)
            yield self._cell(pkc(), cell, self._among(both, "B-O"), headline=False)

    def _macro(self) -> Metric:
        return macro_accuracy(labels=ROLES, gold="role", predicted="credited", missing=self.missing)

    def _among(self, pairs: Scored, *contrasts: str) -> Scored:
        codes = [pairs.code("contrast", c) for c in contrasts]
        return pairs.where(np.isin(pairs.column("contrast"), codes))

    def _cell(
        self,
        metric: Metric,
        where: Mapping[str, str],
        units: Scored,
        *,
        headline: bool = True,
        na: str | None = None,
    ) -> Measure:
        return Measure(
            metric=metric,
            slice=dict(where),
            scored=units,
            coverage=coverage(units) if na is None else no_cover(),
            undeclared=na,
            headline=headline and na is None and not self._repeats(where),
        )

    def _repeats(self, where: Mapping[str, str]) -> bool:
        """Tell whether a cell says what another one has said: without commit times no tail counts.

        A report that tested both would correct its p values for twice as many tests.
        """
        return not self.streams and where.get("tail", f"{TAIL[0]} s") != f"{TAIL[0]} s"


def at_tail(samples: Scored, tail: str) -> Scored:
    """Return sample units with the answers of a tail in ``predicted`` and ``outcome``."""
    if tail != "1":
        return samples
    return samples.with_columns(
        predicted=samples.column("predicted_tail1"),
        outcome=samples.column("outcome_tail1").astype(np.int64),
    )


def pairs_at_tail(pairs: Scored, tail: str) -> Scored:
    """Return pair units with the answers of a tail."""
    if tail != "1":
        return pairs
    return pairs.with_columns(
        **{
            f"{kind}_{side}": pairs.column(f"{kind}_{side}_tail1")
            for kind in ("predicted", "outcome")
            for side in ("a", "b")
        },
        outcome=pairs.column("outcome_tail1"),
    )


def credited(samples: Scored) -> Scored:
    """Return units with a column ``credited``: the own role where the action is right.

    Macro accuracy over roles is then the mean of the three action accuracies.
    """
    role, said = samples.column("role"), samples.column("predicted")
    right = said == samples.column("gold")
    other = (role + 1) % len(ROLES)
    return samples.with_columns(credited=np.where(said < 0, -1, np.where(right, role, other)))
