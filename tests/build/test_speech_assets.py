import hashlib
import sys

import pytest

from floorbench.build.speech_assets import Package, cc0_credits, fetch
from floorbench.errors import EnvironmentProblem

COPYRIGHT = """Format: x

Files: etc/samples/crow.flac
Copyright: 2011 Ann Example
Source: http://sounds.example/crow
License: CC0

Files: etc/samples/unsourced.flac
Copyright: Bob
License: CC0

Files: etc/samples/loop.flac
Copyright: Carl
Source: http://sounds.example/loop
License: CC-BY-3.0

Files: etc/samples/*
Copyright: many
License: MIT
"""


def test_only_recordings_listed_one_by_one_under_cc0_with_author_and_source_are_taken():
    assert cc0_credits(COPYRIGHT) == {
        "crow.flac": {
            "author": "2011 Ann Example",
            "source": "http://sounds.example/crow",
            "licence": "CC0",
        }
    }


def package(content: bytes, script: str) -> Package:
    return Package(
        file="a.bin",
        sha256=hashlib.sha256(content).hexdigest(),
        fetch=(sys.executable, "-c", script),
    )


WRITE = "open('a.bin', 'wb').write(b'hello')"


def test_an_archive_is_fetched_once_and_checked(tmp_path):
    path = fetch(package(b"hello", WRITE), tmp_path / "p")
    assert path.read_bytes() == b"hello"
    assert fetch(package(b"hello", "raise SystemExit(1)"), tmp_path / "p") == path


@pytest.mark.parametrize(
    ("content", "script"),
    [(b"other", WRITE), (b"hello", "raise SystemExit(1)"), (b"hello", "pass")],
)
def test_a_changed_or_missing_archive_is_an_environment_problem(tmp_path, content, script):
    with pytest.raises(EnvironmentProblem, match=r"FB901.*a\.bin"):
        fetch(package(content, script), tmp_path)
