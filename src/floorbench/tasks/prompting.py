"""Questions put to prompted systems: texts in versioned files, hashed into the signature."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from floorbench.core.sample import Question
from floorbench.datasets.codett_labels import INTENTS, actions_of
from floorbench.errors import UsageError
from floorbench.tasks.parsing import Stage

FOLDER = Path(__file__).parent / "prompts"
LANGUAGES = ("en", "zh")
VERSIONS = tuple(
    sorted(p.name.removeprefix("codett-") for p in FOLDER.iterdir() if p.name.startswith("codett-"))
)


def codett_question(*, state: str, stage: Stage, language: str, version: str) -> Question:
    """Return CoDeTT's question for one state.

    Parameters
    ----------
    state : {'SystemSpeaking', 'SystemIdle'}
    stage : {'action', 'intent'}
        Ask for one of two actions, or for one of seven action and scenario pairs.
    language : {'en', 'zh'}
        Language of the question.
    version : str
        Version of the texts.
    """
    return _question(state, stage, language, version)


@cache
def _question(state: str, stage: Stage, language: str, version: str) -> Question:
    meanings = _meanings(language, version)
    if stage == "action":
        answers = {f"<|{a}|>": meanings[a] for a in actions_of(state)}
    else:
        answers = {i.tags: meanings[i.label] for i in INTENTS if i.state == state}
    text = _read(f"question.{language}.txt", version).format(
        state=f"<|{state}|>",
        options="\n".join(answers),
        meanings="\n".join(f"{answer} {meaning}" for answer, meaning in answers.items()),
    )
    return Question(text=text.strip(), answers=tuple(answers))


def prompt_hashes(version: str) -> dict[str, str]:
    """Return the SHA-256 of every text of a version, by file name.

    Raises
    ------
    UsageError
        ``FB103`` for an unknown version.
    """
    if version not in VERSIONS:
        raise UsageError("FB103", f"prompt='{version}' is not one of {', '.join(VERSIONS)}")
    files = sorted((FOLDER / f"codett-{version}").iterdir())
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


@cache
def _meanings(language: str, version: str) -> Mapping[str, str]:
    lines = _read(f"meanings.{language}.tsv", version).splitlines()
    return dict(line.split("\t", 1) for line in lines if line)


def _read(name: str, version: str) -> str:
    return (FOLDER / f"codett-{version}" / name).read_text(encoding="utf-8")
