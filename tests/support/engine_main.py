"""A run in a process of its own, to be killed: ``python -m support.engine_main '{json}'``."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

from floorbench.errors import FloorbenchError
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.executors import make_executor
from floorbench.run.ray_cluster import RayOptions
from support.engine_toys import Source, Task


def main(
    system: str,
    out: str,
    n: int = 30,
    parameters: dict[str, Any] | None = None,
    executor: str = "serial",
    workers: int = 2,
    resume: str | None = None,
    largest_file: int | None = None,
    ray: dict[str, Any] | None = None,
) -> int:
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY))
    try:
        folder = run(
            task=Task(),
            system=SystemChoice(name=f"support.engine_toys:{system}", parameters=parameters or {}),
            source=Source(n),
            executor=make_executor(
                executor, workers=workers, ray=RayOptions(**ray) if ray is not None else None
            ),
            out=Path(out),
            resume=Path(resume) if resume is not None else None,
        )
    except FloorbenchError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(folder.path)
    return 0


if __name__ == "__main__":
    sys.exit(main(**json.loads(sys.argv[1])))
