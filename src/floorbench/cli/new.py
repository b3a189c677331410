"""``floorbench new system``: a working system and its test, to start from."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import Literal

from floorbench.cli import console
from floorbench.errors import Place, UsageError

TEMPLATES = Path(__file__).parent / "templates"
FILES = {
    "class": ("system_class.txt", "test_class.txt"),
    "program": ("system_program.txt", "test_program.txt"),
}


def system(
    name: str, /, *, kind: Literal["class", "program"] = "class", folder: Path = Path()
) -> int:
    """Write a system that works, and a test of it.

    Parameters
    ----------
    name
        Its name, for example my-detector.
    kind
        A Python class, or a program in an environment of its own.
    folder
        Where to write.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(
            "FB103", f"'{name}' is no name", hint="lower-case words with hyphens: my-detector"
        )
    module = name.replace("-", "_")
    words = {"name": name, "module": module, "cls": module.title().replace("_", "")}
    targets = [folder / f"{module}.py", folder / f"test_{module}.py"]
    for target in targets:
        if target.exists():
            raise UsageError("FB558", "is already there", where=Place(str(target)))
    folder.mkdir(parents=True, exist_ok=True)
    for target, template in zip(targets, FILES[kind], strict=True):
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        target.write_text(Template(text).substitute(words), encoding="utf-8")
        console.say(f"wrote {target}")
    if kind == "class":
        console.say(f"run it: floorbench run codett {targets[0]}:{words['cls']} --limit 8")
    else:
        console.say(f'try it: floorbench worker check "python {targets[0]}"')
        console.say(
            f'run it: floorbench run codett command --set command="python {targets[0]}" --limit 8'
        )
    console.say(f"test it: pytest {targets[1]}")
    return 0
