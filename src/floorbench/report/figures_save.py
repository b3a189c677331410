"""From a chart to a file for a paper or a page: SVG, PNG, PDF, JSON and HTML, without a browser.

Nothing is fetched: vl-convert brings the drawing code and the Latin fonts. Characters beyond those
are drawn with the fonts of this machine; one that no font has is an error, not an empty box.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from floorbench.core.words import counted
from floorbench.errors import EnvironmentProblem, UsageError, missing_extra

FORMATS = ("svg", "png", "pdf", "json", "html")
PNG_SCALE = 2.0
_LATIN_END = 0x250  # vl-convert ships fonts with all of Latin
_ALSO_SHIPPED = frozenset("–—‘’“”†‡•…′″×÷≤≥±−√∞≈≠ΔΣΩπμ")


def save(chart: Any, path: Path) -> Path:
    """Write a chart in the format of the file's suffix.

    Raises
    ------
    UsageError
        ``FB804`` for another format.
    EnvironmentProblem
        ``FB803`` when no font can draw a character of the chart, ``FB402`` when the file cannot be
        written, ``FB401`` without vl-convert.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise UsageError(
            "FB804", f"a figure is not saved as '.{kind}'", hint=f"one of: {', '.join(FORMATS)}"
        )
    data = render(chart, kind)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise EnvironmentProblem("FB402", f"'{path}' cannot be written: {error}") from None
    return path


def render(chart: Any, kind: str) -> bytes:
    """Return a chart as bytes of one of :data:`FORMATS`."""
    spec = specification(chart)
    if kind == "json":
        return (json.dumps(spec, ensure_ascii=False, indent=2) + "\n").encode()
    spec = with_fonts(spec)
    vl = converter()
    if kind == "svg":
        made = vl.vegalite_to_svg(spec)
    elif kind == "png":
        made = vl.vegalite_to_png(spec, scale=PNG_SCALE)
    elif kind == "pdf":
        made = vl.vegalite_to_pdf(spec)
    else:
        made = vl.vegalite_to_html(spec, bundle=True)
    return made if isinstance(made, bytes) else made.encode()


def specification(chart: Any) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart, data inside."""
    spec: dict[str, Any] = chart.to_dict()
    return spec


def converter() -> Any:
    """Return vl-convert, ``FB401`` when it is not installed."""
    try:
        import vl_convert
    except ImportError:
        raise missing_extra("vl-convert-python", "report") from None
    return vl_convert


def with_fonts(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification whose fonts can draw all of its characters.

    When fonts of this machine are needed beside those that vl-convert ships, they come first, so
    that a label is not set in two faces.

    Raises
    ------
    EnvironmentProblem
        ``FB803`` naming the characters that no font can draw.
    """
    missing = sorted({c for text in _texts(spec) for c in text if not _shipped(c)})
    families: list[str] = []
    for font in _font_files():
        if not missing:
            break
        covered = _covered(font)
        left = [c for c in missing if ord(c) not in covered.characters]
        if len(left) < len(missing):
            families.append(covered.family)
        missing = left
    if missing:
        shown = "".join(missing[:12])
        raise EnvironmentProblem(
            "FB803",
            "no font of this machine has "
            f"{counted(len(missing), 'character')} of the figure: {shown}",
        )
    config = dict(spec.get("config", {}))
    usual = config.get("font", "sans-serif").split(", ")
    config["font"] = ", ".join(dict.fromkeys([*families, *usual]))
    return {**spec, "config": config}


def _shipped(character: str) -> bool:
    return ord(character) < _LATIN_END or character in _ALSO_SHIPPED


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key != "$schema":
                yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def font_folders() -> list[Path]:
    """Return the folders in which this system keeps fonts."""
    home = Path.home()
    if sys.platform == "darwin":
        return [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts"]
    if sys.platform == "win32":
        return [Path("C:/Windows/Fonts"), home / "AppData/Local/Microsoft/Windows/Fonts"]
    shared = [Path("/usr/share/fonts"), Path("/usr/local/share/fonts")]
    return [*shared, home / ".fonts", home / ".local/share/fonts"]


def _font_files() -> Iterator[Path]:
    for folder in font_folders():
        if folder.is_dir():
            for path in sorted(folder.rglob("*"), key=_preferred):
                if path.suffix.lower() in (".ttf", ".otf", ".ttc", ".otc"):
                    yield path


def _preferred(path: Path) -> tuple[bool, bool, bool, str]:
    """Sort sans-serif, upright faces of regular weight first."""
    name = path.name
    return ("Sans" not in name, "Regular" not in name, "Mono" in name, name)


class _Font(NamedTuple):
    family: str
    characters: frozenset[int]


@cache
def _covered(path: Path) -> _Font:
    """Return the family and the code points of a font file; none when it cannot be read.

    Of a collection the face for simplified Chinese is taken where there is one.
    """
    from fontTools.ttLib import TTCollection, TTFont, TTLibError

    with contextlib.suppress(OSError, TTLibError, KeyError, ValueError), path.open("rb") as file:
        if path.suffix.lower() not in (".ttc", ".otc"):
            one = TTFont(file, lazy=True)
            return _Font(str(one["name"].getDebugName(1)), frozenset(one.getBestCmap() or ()))
        faces = {str(f["name"].getDebugName(1)): f for f in TTCollection(file, lazy=True).fonts}
        name = next((n for n in faces if n.endswith(" SC")), next(iter(faces)))
        return _Font(name, frozenset(faces[name].getBestCmap() or ()))
    return _Font("", frozenset())
