"""How often intervals cover, tests reject and gates pass, in worlds whose truth is known.

``python -m benchmarks.simulated`` draws worlds (:mod:`benchmarks.simulated.worlds`), asks
floorbench for its intervals and p values, and counts. The figures of
``docs/decisions/coverage.md`` are its output; a short form runs in the tests.
"""
