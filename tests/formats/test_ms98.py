from decimal import Decimal

import pytest

from floorbench.errors import DataError
from floorbench.formats import Document, Entry, Tier, write
from floorbench.formats.ms98 import is_speech


@pytest.mark.parametrize(
    ("token", "speech"),
    [
        ("okay_1", True), ("th[ey]-", True), ("-[re]main", True), ("i[t's]-", True),
        ("[laughter-i]", True), ("{brainstormy}", True), ("[silence]", False),
        ("[noise]", False), ("[laughter]", False), ("[vocalized-noise]", False),
        ("<b_aside>", False), ("", False),
    ],
)  # fmt: skip
def test_what_counts_as_speech(token, speech):
    assert is_speech(token) is speech


def test_laughed_words_by_option():
    assert is_speech("[laughter-yes]", laughed_words=False) is False


def test_gaps_are_filled_and_reported(tmp_path):
    entry = Entry(start=Decimal("0.5"), end=Decimal("1"), text="hi")
    document = Document(tiers=(Tier(name="A", entries=(entry,)),), duration=Decimal("2"))
    losses = write(document, tmp_path / "a-word.text")
    assert (tmp_path / "a-word.text").read_text(encoding="utf-8") == (
        "A-ms98-a-0001 0 0.5 [silence]\nA-ms98-a-0001 0.5 1 hi\nA-ms98-a-0001 1 2 [silence]\n"
    )
    assert {str(loss) for loss in losses} == {
        "tier 'A': gaps filled with [silence] (2 entries)",
        "tier 'A': segment ids made up",
    }


def test_nothing_to_write_is_an_error(tmp_path):
    with pytest.raises(DataError, match="FB708"):
        write(Document(), tmp_path / "a-word.text")
