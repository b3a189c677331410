"""Stimuli and listeners drawn together, against a slow count of every draw."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from floorbench.core.prediction import Decision
from floorbench.core.vocab import Outcome
from floorbench.datasets.trp import TrpSource
from floorbench.errors import UsageError
from floorbench.events.trp import TrpRules, consensus
from floorbench.run.compare import compare_runs
from floorbench.run.scoring import open_predictions, score
from floorbench.run.twoway import panel_bootstrap
from floorbench.stats.bootstrap_twoway import bootstrap_twoway
from floorbench.tasks.trp import TrpTask
from floorbench.tasks.trp_gold import slot_of
from support import scoring, trp_scored, trp_tiny
from support.trp_tiny import people, respond, stimulus

SYSTEM = scoring.system("b", modalities=("text",))


@pytest.fixture
def samples(tmp_path):
    random = np.random.default_rng(1)
    turns = [stimulus(f"s{n:02d}", 6, listed="AB"[n % 2]) for n in range(12)]
    roster = [*people("A", 6), *people("B", 5)]
    onsets = [
        respond(p["id"], t["id"], *np.flatnonzero(random.random(6) < 0.35).tolist())
        for p in roster
        for t in turns
        if t["list"] == p["list"]
    ]
    for given in onsets:
        given["onsets"] = [round(0.4 * n + 0.3, 1) for n in given["onsets"]]
    return tuple(TrpSource(trp_tiny.write(tmp_path, turns, roster, onsets)).samples())


def units(samples, rule, task=None):
    return scoring.score(task or TrpTask(), samples, SYSTEM, rule)[0]["slot"]


def even(sample, condition):
    return Decision(label="yes" if slot_of(sample)[1] % 2 == 0 else "no")


def broken(sample, condition):
    return Decision(outcome=Outcome.FAILED) if slot_of(sample)[1] == 2 else even(sample, condition)


@pytest.mark.parametrize(
    "rules", [TrpRules(), TrpRules(tau=Fraction(1, 5)), TrpRules(rule="adaptive")]
)
@pytest.mark.parametrize("statistic", ["precision", "recall", "f1"])
def test_every_draw_is_what_a_slow_count_gives(samples, rules, statistic, monkeypatch):
    seen = []

    def spy(labels, models, **settings):
        def watched(name, model):
            def call(weights, drawn):
                values = model(weights, drawn)
                seen.append((name, weights, drawn, values))
                return values

            return call

        people_seen = []

        def rule(drawn_people):
            people_seen.append(drawn_people)
            return labels(drawn_people)

        result = bootstrap_twoway(rule, {n: watched(n, m) for n, m in models.items()}, **settings)
        seen.append(("people", people_seen))
        return result

    monkeypatch.setattr("floorbench.run.twoway.bootstrap_twoway", spy)
    scored = units(samples, broken)
    panel_bootstrap({"b": scored}, rules=rules, statistic=statistic, draws=40, seed=3)
    *calls, (_, people_seen) = seen
    order = np.lexsort((scored.column("slot"), scored.column("stimulus")))
    stimulus_of = np.unique(scored.column("stimulus")[order], return_inverse=True)[1]
    said = scored.column("predicted")[order] == 1
    heard = scored.column("responses")[order]
    for (_, weights, drawn, values), panel in zip(calls, people_seen, strict=True):
        for draw in range(len(weights)):
            tp = fp = fn = 0.0
            for s in range(12):
                at = np.flatnonzero(stimulus_of == s)
                audience = sum(int(panel[draw, p]) for p in range(11) if heard[at[0], p] >= 0)
                count = [
                    sum(int(panel[draw, p]) for p in range(11) if heard[row, p] == 1) for row in at
                ]
                gold = consensus(np.array(count), heard=audience, rules=rules)
                assert gold.tolist() == drawn[draw, at].tolist()
                for row, positive in zip(at, gold, strict=True):
                    tp += weights[draw, s] * (positive and said[row])
                    fp += weights[draw, s] * (not positive and said[row])
                    fn += weights[draw, s] * (positive and not said[row])
            bottom = {"precision": tp + fp, "recall": tp + fn, "f1": tp + (fp + fn) / 2}
            assert values[draw] == pytest.approx(tp / bottom[statistic], nan_ok=True)


def test_it_is_reproducible_and_reports_flips(samples):
    systems = {"a": units(samples, even), "b": units(samples, broken)}
    first = panel_bootstrap(systems, rules=TrpRules(), draws=200, seed=1)
    assert first == panel_bootstrap(systems, rules=TrpRules(), draws=200, seed=1)
    assert first != panel_bootstrap(systems, rules=TrpRules(), draws=200, seed=2)
    assert 0 < first.flip_rate < 0.5
    assert (first.stimuli, first.listeners) == (12, 11)
    assert first.intervals["a"].low < first.values["a"] < first.intervals["a"].high


def test_a_system_does_not_differ_from_itself(samples):
    same = {"a": units(samples, even), "b": units(samples, even)}
    found = panel_bootstrap(same, rules=TrpRules(), draws=100, seed=1).difference
    assert found.low in (0, None)
    alone = panel_bootstrap({"a": same["a"]}, rules=TrpRules(), draws=100)
    assert alone.difference is None


def test_a_last_slot_that_always_counts_never_flips(samples):
    task = TrpTask(final_slot="always", tau=1)
    rules = TrpRules(final_slot="always", tau=Fraction(1))
    found = panel_bootstrap({"a": units(samples, even, task)}, rules=rules, draws=50)
    assert found.flip_rate == 0
    assert found.values["a"] == pytest.approx(2 * 12 / (2 * 12 + 24))


def test_what_cannot_be_bootstrapped(samples):
    with pytest.raises(UsageError, match="kappa"):
        panel_bootstrap({"a": units(samples, even)}, rules=TrpRules(), statistic="kappa")
    with pytest.raises(UsageError, match="no system"):
        panel_bootstrap({}, rules=TrpRules())
    with pytest.raises(UsageError, match="same slots"):
        panel_bootstrap(
            {"a": units(samples, even), "b": units(samples[:-1], even)}, rules=TrpRules()
        )


def test_scores_and_comparisons_carry_it(samples, tmp_path):
    """The result of the command's own path is the one of the function, on shared draws."""
    runs = [open_predictions(trp_scored.ran(tmp_path, tmp_path, first=n)) for n in (0, 1)]
    tasks = [TrpTask(threshold=t) for t in (0.2, 0.4)]
    opened = [run._replace(task=task) for run, task in zip(runs, tasks, strict=True)]
    results = [score(o, draws=100, write=False) for o in opened]
    for result, o in zip(results, opened, strict=True):
        (panel,) = result.panels
        f1 = trp_scored.cell(result, "slot_f")
        assert (panel.slice, panel.statistic) == ({"condition": "none"}, "f1")
        assert panel.values == {"count": pytest.approx(f1.value)}
        assert 0 < panel.flip_rate < 0.5
        assert (panel.stimuli, panel.listeners, o.seed) == (12, 11, 0)
    (both,) = compare_runs(opened[0], opened[0]._replace(system=opened[1].system), draws=100).panels
    assert both.values["A"] == both.values["B"]
    assert both.difference is not None
    assert both.flip_rate == results[0].panels[0].flip_rate


def test_a_task_without_a_panel_has_none(tmp_path):
    from support.scored_toy import dev, ran

    assert score(open_predictions(ran(tmp_path, dev(tmp_path))), draws=20, write=False).panels == ()
