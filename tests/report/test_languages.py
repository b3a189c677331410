"""No language of a result is left out of its tables."""

import dataclasses

from floorbench.report import codett
from floorbench.report.languages import languages
from floorbench.run.scoring import Result
from support.results import toy_result


def in_language(result: Result, code: str, instead_of: str) -> Result:
    """Return a result whose cells of one language are about another one."""
    moved = tuple(
        dataclasses.replace(e, slice={**e.slice, "language": code})
        if e.slice.get("language") == instead_of
        else e
        for e in result.estimates
    )
    return dataclasses.replace(result, estimates=moved)


def test_the_papers_languages_come_first_then_the_others_by_code() -> None:
    assert languages([toy_result()]) == {"zh": "Chinese", "en": "English"}
    german = in_language(toy_result(), "de", "zh")
    swahili = in_language(toy_result(), "sw", "en")
    assert list(languages([swahili, german])) == ["zh", "en", "de", "sw"]
    assert languages([german])["de"] == "de"


def test_a_set_in_another_language_has_every_table() -> None:
    silence, oracle = toy_result("silence-webrtc"), toy_result("oracle")
    both = [in_language(r, "de", "zh") for r in (silence, oracle)]
    made = codett.tables(both)
    assert [t.title.split(":")[0] for t in made] == [
        "CoDeTT stage 1, English",
        "CoDeTT stage 1, de",
        "Is the turn over? Completion against Incomplete (accuracy in %)",
        "CoDeTT stage 2, English",
        "CoDeTT stage 2, de",
    ]
    assert {r.name for r in made[2].rows} >= {"silence-webrtc de", "silence-webrtc English"}
