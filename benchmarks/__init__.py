"""Benchmarks: what floorbench costs beside a reference that does the same, as ratios.

How a benchmark is written
--------------------------
A subject is a module ``bench_<subject>.py`` with one function ::

    def cases(full: bool) -> Iterator[Case]:

that yields :class:`benchmarks.ratios.Case` objects. While the generator stands at its ``yield`` the
case is measured, so set-up goes before it and cleaning up after it (a ``with`` around the ``yield``
is fine). ``full`` asks for the large sizes; without it a subject should take less than a minute
on two idle cores.

A case names what is done, its size, ``ours`` (a function without arguments) and its ``peers``: a
name to a function that does the same by other means, or to a string that says why it cannot be run
here (``peer(("lhotse",), build_it, given)`` gives one of the two). All sides are called once to
warm up, and a peer that raises then is left out by name; ``agree`` sees what each of them returned
and raises when they did not do the same. After that they are timed in turns, in another order every
round. A row of the results is the ratio of one round, floorbench divided by the peer, as median,
lowest and highest over the rounds: below 1 floorbench takes less.

``clock`` is ``cpu`` (seconds of processor time of this process and of the children that it waited
for; other work on the machine hardly moves it), ``wall`` (seconds on the clock, where waiting is
the point) or ``value`` (what the functions return: memory, tokens; measured once or as often as
``rounds`` says). ``scale`` gives a peer that was timed on a part of the work its factor.
``limit`` is the highest median ratio that is accepted.

How benchmarks are run
----------------------
``make bench``, or ``make bench ONLY=labels``; ``python -m benchmarks --help`` for the rest. The
tables of ``docs/performance.md`` are written by ``python -m benchmarks --write``; every subject
needs its pair of marks there. What is counted instead of timed, and compared in the tests, is in
:mod:`benchmarks.counted`.
"""
