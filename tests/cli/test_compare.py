from pathlib import Path

import pytest

from floorbench.cli.compare import compare
from floorbench.cli.run import run
from floorbench.errors import UsageError


def test_runs_of_other_data_are_refused(tmp_path: Path) -> None:
    for limit in (20, 24):
        run("codett", "always-takeover", limit=limit, out=tmp_path / str(limit), score=False)
    first, second = (next((tmp_path / n / "codett").glob("*/*")) for n in ("20", "24"))
    with pytest.raises(UsageError, match="FB520"):
        compare(first, second, draws=20)
