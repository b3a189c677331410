import json
from pathlib import Path

import pytest

from floorbench.cli.convert import convert
from floorbench.errors import DataError

RTTM = "SPEAKER call 1 0.50 1.25 <NA> <NA> a <NA> <NA>\n"


def test_a_conversion_says_what_it_loses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.rttm"
    source.write_text(RTTM)
    assert convert(source, tmp_path / "b.rttm") == 0
    assert (tmp_path / "b.rttm").read_text().split() == RTTM.split()
    convert(source, tmp_path / "c.TextGrid", json=True)
    assert set(json.loads(capsys.readouterr().out)) == {"losses", "warnings"}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="FB7"):
        convert(tmp_path / "none.rttm", tmp_path / "b.srt")
