"""What a paper cites is the version that is installed."""

from pathlib import Path

from floorbench import __version__

ROOT = Path(__file__).parents[1]


def test_the_citation_names_this_version_and_licence() -> None:
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    facts = dict(line.split(": ", 1) for line in lines if ": " in line and line[0].isalpha())
    assert facts["version"] == __version__
    assert facts["license"] == "Apache-2.0"
    assert "CITATION.cff" in (ROOT / "README.md").read_text(encoding="utf-8")
