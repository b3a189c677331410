"""A build in a process of its own, to be killed: ``python -m support.build_main '{json}'``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from floorbench.build.pipeline.engine import build
from floorbench.errors import FloorbenchError


def main(*, out: str, cache: str, workers: int, settings: dict[str, Any]) -> int:
    try:
        build(
            "support.build_toy:ToyRecipe",
            out=Path(out),
            cache=Path(cache),
            workers=workers,
            settings=settings,
        )
    except FloorbenchError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(**json.loads(sys.argv[1])))
