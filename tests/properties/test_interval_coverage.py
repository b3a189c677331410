"""Simulated coverage behind the rules of 10 and 30 clusters.

A world is a set of clusters with a rate of their own (beta, mean .7) and 2 to 8 answers each; the
metric is the pooled rate. The expected figures are those that ``interval`` quotes.
"""

import numpy as np
import pytest

from floorbench.stats.bootstrap import bootstrap
from floorbench.stats.intervals import bca, percentile

WORLDS = 1200


@pytest.mark.parametrize(("clusters", "expected"), [(5, 0.82), (10, 0.89), (17, 0.91), (30, 0.94)])
def test_coverage_falls_short_with_few_clusters(clusters, expected):
    hits = {"bca": 0, "percentile": 0}
    for world in range(WORLDS):
        rng = np.random.default_rng((clusters, world))
        answers = rng.integers(2, 9, clusters)
        sums = np.stack([rng.binomial(answers, rng.beta(4.2, 1.8, clusters)), answers], axis=1)

        def pooled(weights, sums=sums):
            totals = weights @ sums
            return totals[:, 0] / totals[:, 1]

        found = bootstrap({"x": pooled}, np.zeros(clusters, np.int64), draws=500, seed=world)["x"]
        plain = percentile(found)
        for name, limits in (("percentile", plain), ("bca", bca(found).limits or plain)):
            hits[name] += limits.low <= 0.7 <= limits.high
    # The standard error of a simulated coverage is .011 at .82 and .007 at .94.
    for name in hits:
        assert hits[name] / WORLDS == pytest.approx(expected, abs=0.025), name
