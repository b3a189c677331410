"""One target in this process: ``python -m torture.fuzz.one NAME COUNT SEED FOLDER``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from torture.fuzz.engine import fuzz
from torture.fuzz.registry import TARGETS


def main(name: str, count: str, seed: str, folder: str) -> None:
    """Fuzz and leave ``result.json``."""
    begun = time.monotonic()
    tally = fuzz(TARGETS[name], count=int(count), seed=int(seed), scratch=Path(folder) / "scratch")
    tally.seconds = time.monotonic() - begun
    plain = {**vars(tally), "findings": [{**vars(f), "data": f.data.hex()} for f in tally.findings]}
    (Path(folder) / "result.json").write_text(json.dumps(plain), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
