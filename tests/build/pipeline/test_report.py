import json
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.pipeline.engine import Built, build
from floorbench.build.pipeline.export import exporting
from floorbench.build.pipeline.report import Figure, build_tables, lost_rows, page, write_report
from floorbench.build.pipeline.store import Folder, SoundStore
from floorbench.report.tables import Row, Table, as_text, text
from support.build_toy import ToyRecipe


@pytest.fixture
def built(tmp_path: Path) -> Built:
    settings: dict[str, Any] = {
        "attempts": 1, "items": 8, "trouble": "text:item-0:bug", "threshold": 0.2
    }  # fmt: skip
    return build(ToyRecipe(), out=tmp_path / "a", cache=tmp_path / "c", settings=settings)


def test_the_tables_name_yields_and_reasons(built: Built) -> None:
    stages, speed, lost = build_tables(built.record, built.lost)
    by_name = {row.name: row.cells for row in stages.rows}
    assert by_name["text"]["yield"].shown() == "87.5"
    assert by_name["text"]["failed"].shown() == "1"
    assert by_name["gate"]["rejected"].shown().startswith("quiet ")
    assert speed.rows[0].cells["rtf"].shown() == "-"
    assert speed.rows[0].cells["rtf"].reason == "no sound was stored"
    assert "ZeroDivisionError" in as_text(lost)
    assert "item-0: ZeroDivisionError: a bug in a stage" in as_text(lost)


def test_reasons_are_grouped_with_a_short_example(built: Built) -> None:
    rows = lost_rows(built.lost)
    assert sum(n for *_, n, _ in rows) == len(built.lost)
    assert all(example.count("item-") == 1 and len(example) <= 110 for *_, example in rows)


def test_the_page_fetches_nothing_and_escapes(built: Built) -> None:
    table = Table(
        title="<b>",
        head="h",
        columns={"a": "A & B"},
        rows=[Row(name="<i>", cells={"a": text("<")})],
    )
    html = page(built.record, [table], [Figure('a "figure"', "<svg></svg>")])
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert "<svg></svg>" in html
    assert 'aria-label="a &quot;figure&quot;"' in html
    assert "http" not in html.replace("http-equiv", "")
    assert "default-src 'none'" in html


def test_a_figure_has_its_numbers_below_it_or_they_stand_alone(built: Built) -> None:
    table = Table(title="In numbers", head="h", columns={"a": "A"}, rows=[])
    both = page(built.record, [], [Figure("drawn", "<svg></svg>", table)])
    assert both.index("<svg>") < both.index("the same in numbers") < both.index("In numbers")
    alone = page(built.record, [], [Figure("drawn", "", table)])
    assert "In numbers" in alone
    assert "<svg" not in alone
    assert 'class="plot' not in alone


def test_the_page_is_words_and_every_column_has_a_head(built: Built) -> None:
    html = page(built.record, build_tables(built.record, built.lost))
    assert '<th scope="col"></th>' not in html
    made = html[html.index("How it was made") :]
    assert "{" not in made
    assert "1 process<" in made


def test_other_rooms_add_to_the_report(built: Built, tmp_path: Path) -> None:
    with exporting(tmp_path / "r", SoundStore(Folder(tmp_path / "c"))) as folder:
        write_report(folder, built.record, built.lost, measured={"loudness": [1.0]})
    facts = json.loads((tmp_path / "r" / "report.json").read_text())
    assert facts["measured"] == {"loudness": [1.0]}
    assert facts["failed"] == 1
    assert facts["lost"][-1]["stage"] == "text"
    assert (tmp_path / "a" / "build-report.html").is_file()
