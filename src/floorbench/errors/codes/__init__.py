"""The table of error codes: one module per block of a hundred.

=====  ================  ================================================
Codes  Module            Subject
=====  ================  ================================================
FB1xx  ``usage``         usage, names, command line
FB2xx  ``data``          data, manifests, predictions
FB3xx  ``audio``         audio
FB4xx  ``environment``   environment: extras, assets, files on this machine
FB5xx  ``runs``          systems and runs
FB6xx  ``measures``      events, metrics, statistics
FB7xx  ``formats``       annotation formats
FB8xx  ``reports``       reports, published tables, viewer
FB9xx  ``construction``  construction
=====  ================  ================================================

A new code goes into the module of its hundred, in its place in the order; ``make docs`` then
writes it into ``docs/errors.md``.
"""

from __future__ import annotations

from floorbench.errors.codes import (
    audio,
    construction,
    data,
    environment,
    formats,
    measures,
    reports,
    runs,
    usage,
)
from floorbench.errors.codes.row import Code

CODES: dict[str, Code] = {
    **usage.CODES,
    **data.CODES,
    **audio.CODES,
    **environment.CODES,
    **runs.CODES,
    **measures.CODES,
    **formats.CODES,
    **reports.CODES,
    **construction.CODES,
}
