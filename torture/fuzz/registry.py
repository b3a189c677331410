"""All targets, and what is left out with the reason why.

A test reads the package's source for functions that decode something (JSON, CSV, XML, arrays,
Parquet, audio, numbers out of text); each must be exercised by a target or stand in ``LEFT_OUT``.
"""

from __future__ import annotations

from torture.fuzz import of_answers, of_data, of_formats, of_run
from torture.fuzz.target import Target

TARGETS: dict[str, Target] = {
    t.name: t
    for module in (of_formats, of_answers, of_data, of_run)
    for t in module.TARGETS
}

SHIPPED = "reads a file that ships with the package; a test reads each of them"
OWN = "reads what another part of the same program wrote over a private pipe"

LEFT_OUT: dict[str, str] = {}
