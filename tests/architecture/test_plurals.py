"""A number and its noun agree: no sentence says "1 faults"."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "floorbench"
NOUNS = (
    *("answers", "artefacts", "batches", "builds", "bytes", "calls", "cells", "channels"),
    *("characters", "clips", "clusters", "columns", "decisions", "dialogues", "draws", "entries"),
    *("events", "faults", "features", "files", "frames", "groups", "intervals", "items", "labels"),
    *("lines", "listeners", "lists", "names", "numbers", "onsets", "overruns", "participants"),
    *("phrases", "places", "predictions", "processes", "questions", "recordings", "responses"),
    *("reviewers", "rounds", "rows", "runs", "samples", "scores", "seeds", "sessions", "shards"),
    *("slots", "snapshots", "sounds", "speakers", "steps", "stimuli", "tests", "texts", "tiers"),
    *("times", "tokens", "trials", "tries", "turns", "units", "values", "words", "workers"),
)
COUNT = re.compile(rf" (?:[a-z-]+ )?(?:{'|'.join(NOUNS)})\b")
# What is no count of things, or never one: numbers of a format, bounds, words before a noun.
NEVER_ONE = {
    ("audio/decode.py", "header.format"),
    ("build/echo_recipe/layout.py", "fewest"),
    ("build/echo_recipe/rewriting.py", "longest"),
    ("build/echo_recipe/texts.py", "language"),
    ("build/echo_texts.py", "times"),
    ("build/pipeline/recipes.py", "step.attempts"),
    ("datasets/dualturn_rows.py", "float(RATE)"),
    ("events/vap_projection.py", "self.bin_frames"),
    ("formats/fit.py", "key"),
    ("metrics/calibration.py", "whole"),
    ("report/tables.py", "span"),
    ("run/traces.py", "values.shape"),
    ("run/traces_import.py", "rate"),
    ("stats/bootstrap_twoway.py", "int(odd[0])"),
    ("systems/frames_features.py", "who"),
    ("systems/llm/retrying.py", "policy.attempts"),
    ("tasks/codett_cells.py", "condition[1:]"),
}


def counts(file: Path) -> Iterator[tuple[str, str, int]]:
    """Yield expressions that stand before a noun of several, without :func:`counted`."""
    name = file.relative_to(SRC).as_posix()
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            if not isinstance(value, ast.FormattedValue) or not isinstance(after, ast.Constant):
                continue
            said = ast.unparse(value.value)
            if said.startswith("counted("):
                continue
            if COUNT.match(str(after.value)) and not re.fullmatch(r"[A-Z_]+", said):
                yield name, said, node.lineno


def test_counts_are_said_with_their_noun() -> None:
    found = [c for file in sorted(SRC.rglob("*.py")) for c in counts(file)]
    wrong = [f"{name}:{line} {said}" for name, said, line in found if (name, said) not in NEVER_ONE]
    assert not wrong, f"say these with floorbench.core.words.counted: {wrong}"
    assert not NEVER_ONE - {(name, said) for name, said, _ in found}


def test_pages_say_counts_with_their_noun() -> None:
    """By ``counted`` of ``kit.js``."""
    nouns = (*NOUNS, "clicks", "disagreements", "minutes", "notes")
    count = re.compile(rf"\$\{{(?!counted\()[^}}]*\}} (?:[a-z-]+ )?(?:{'|'.join(nouns)})\b")
    scripts = [*SRC.rglob("static/*.js"), *SRC.rglob("templates/*.js")]
    assert scripts
    found = [f"{s.name} {m[0]}" for s in scripts for m in count.finditer(s.read_text())]
    assert found == ["item.js ${u.kind} units"]  # the kind of unit, not how many
