from __future__ import annotations

import numpy as np

from floorbench.build.echo import paths_of
from floorbench.build.echo_render import RATE, Rendered
from floorbench.build.echo_rows import LISTENING, pair_rows, sample_row
from floorbench.build.echo_texts import read_texts, scenes
from floorbench.build.speech.providers import Word
from floorbench.codec import convert
from floorbench.datasets.echo_integrity import faults
from floorbench.datasets.echo_tables import ListeningRow, PairRow, SampleRow
from floorbench.datasets.open import STARTER
from floorbench.errors import Place

SCENES = scenes(read_texts(STARTER / "echo" / "texts" / "en.json"))
MADE = Rendered(
    user=np.zeros(RATE),
    system=0.1 * np.sin(np.arange(RATE) / 10),
    onset=0.3,
    end=0.6,
    system_start=0.1,
    system_end=0.9,
    words=(Word(text="wait", start=0.3, end=0.6),),
    voice="v",
    speed=1.0,
)


def test_tables_of_the_texts_keep_every_rule() -> None:
    rows = [convert(sample_row(s, MADE, audio=paths_of(s)), SampleRow) for s in SCENES]
    at = Place("x")
    pairs = [(convert(p, PairRow), at) for p in pair_rows(SCENES)]
    assert list(faults([(r, at) for r in rows], pairs)) == []
    assert {r.role for r in rows if r.listening} == {"interruption"}


def test_only_interruptions_are_heard_otherwise_than_given() -> None:
    assert ListeningRow(**LISTENING).emphasis_db > 0
    rows = {s.role: sample_row(s, MADE, audio=paths_of(s), voices="2") for s in SCENES}
    assert {role for role, row in rows.items() if row["listening"] is not None} == {"interruption"}
    assert all(row["tags"]["voices"] == "2" for row in rows.values())
