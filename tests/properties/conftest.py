from pathlib import Path

import pytest

from floorbench.formats import read

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"


@pytest.fixture(scope="session")
def golden_bytes():
    """Format -> bytes of one golden file."""
    found = {}
    for path in sorted(GOLDEN.iterdir()):
        if path.name not in ("README.md", "expected.json"):
            found[read(path).format] = path.read_bytes()
    return found
