"""The languages of results, in print order: those of the papers first, then the others by code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floorbench.run.scoring import Result

NAMES = {"zh": "Chinese", "en": "English"}


def languages(results: Sequence[Result]) -> Mapping[str, str]:
    """Return code and name of every language that a cell of the results is about.

    A language that the papers do not have is named by its code.
    """
    found = {e.slice["language"] for r in results for e in r.estimates if "language" in e.slice}
    order = [*(code for code in NAMES if code in found), *sorted(found - NAMES.keys())]
    return {code: NAMES.get(code, code) for code in order}
