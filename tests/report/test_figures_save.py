import json
import re
from pathlib import Path

import pytest

from floorbench.errors import EnvironmentProblem, UsageError
from floorbench.report import figures_save
from floorbench.report.figures import draw
from floorbench.report.figures_save import FORMATS, render, save, specification, with_fonts

RECORDS = [{"name": "accuracy", "difference": 3.0, "low": 1.0, "high": 5.0, "shown": True}]
STARTS = {
    "svg": b"<svg",
    "png": b"\x89PNG\r\n",
    "pdf": b"%PDF-",
    "json": b"{",
    "html": b"<!DOCTYPE html>",
}


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_is_written(kind: str, tmp_path: Path) -> None:
    path = save(draw("forest", RECORDS, title="Difference"), tmp_path / "new" / f"f.{kind}")
    data = path.read_bytes()
    assert data.lstrip().startswith(STARTS[kind])
    if kind in ("svg", "json", "html"):
        assert b"Difference" in data


def test_svg_and_html_fetch_nothing(tmp_path: Path) -> None:
    for kind in ("svg", "html"):
        text = render(draw("forest", RECORDS), kind).decode()
        assert not re.search(r"""(?:src|href)\s*=\s*["']https?:""", text)
        assert not re.search(r"@import|url\(\s*['\"]?http", text)


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'\.gif'"):
        save(draw("forest", RECORDS), tmp_path / "f.gif")


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentProblem, match="FB402"):
        save(draw("forest", RECORDS), tmp_path / "file" / "f.json")


def test_a_character_without_a_glyph_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures_save, "font_folders", list)
    chart = draw("forest", RECORDS, title="差 difference")
    with pytest.raises(EnvironmentProblem, match="FB803") as caught:
        render(chart, "svg")
    assert "差" in caught.value.what
    assert "font" in caught.value.hint
    assert render(chart, "json")
    assert render(draw("forest", RECORDS, title="Größe – ≥"), "svg")


def test_files_that_are_no_fonts_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"not a font")
    (tmp_path / "broken.ttc").write_bytes(b"")
    monkeypatch.setattr(figures_save, "font_folders", lambda: [tmp_path, tmp_path / "no"])
    with pytest.raises(EnvironmentProblem, match="FB803"):
        with_fonts({"title": "差"})


def test_chinese_is_drawn_in_one_face(chinese_font: None) -> None:
    spec = with_fonts(specification(draw("forest", RECORDS, title="配对差 A - B")))
    assert re.match(r".*CJK SC, ", spec["config"]["font"])
    drawn = render(draw("forest", RECORDS, title="配对差"), "pdf")
    assert b"CJK" in drawn  # the face is inside the file
    plain = specification(draw("forest", RECORDS, title="difference"))
    assert with_fonts(plain) == plain


def test_data_are_inside_the_specification() -> None:
    spec = json.loads(render(draw("forest", RECORDS), "json"))
    assert "url" not in str(spec.get("data", {}))
    assert "3.0" in str(spec)
