"""The embedded writer and its judge as stages: no model, no network, the same texts everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

from floorbench.build.pipeline.stage import Bench, Item, Outcome, made
from floorbench.build.text import grammar
from floorbench.build.text.dialogue import dialogue_of, order_of, with_dialogue
from floorbench.build.text.rules import (
    BOUNDS,
    IN_PROGRESS,
    LEFT,
    LOOP,
    SAME,
    TURN,
    WHOLE,
    problem_of,
)
from floorbench.core.sample import JsonValue


class Write:
    """Write the dialogue of a seed from the embedded sentences.

    Notes
    -----
    Takes the fields ``language``, ``label`` and ``number`` that
    :func:`floorbench.build.text.dialogue.seeds` gives, adds ``dialogue``. Never rejects.
    """

    name = "write"
    version = 2
    deterministic = True

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the digests of the sentences."""
        texts: dict[str, JsonValue] = {**grammar.digests()}
        return {"writer": "grammar", "texts": texts}

    def start(self) -> None:
        """Read the sentences."""
        for language in ("en", "zh"):
            grammar.texts_of(language)

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Add the dialogue.

        Raises
        ------
        DataError
            FB862 for a seed without language, label or number.
        """
        language, label, number = order_of(item)
        dialogue = grammar.compose(
            id=item.id,
            language=cast(Literal["en", "zh"], language),
            label=label,
            number=number,
            seed=bench.seed,
            rng=bench.rng,
            attempt=bench.attempt,
        )
        bench.note(
            "text", writer="grammar", topic=dialogue.topic, number=number, attempt=bench.attempt
        )
        return made(with_dialogue(item, dialogue))


class Judge:
    """Check a written dialogue by rule (:mod:`floorbench.build.text.rules`)."""

    name = "judge-rules"
    version = 1
    deterministic = True

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the bounds of the rules."""
        bounds: dict[str, JsonValue] = {
            language: {scenario or "other": list(pair) for scenario, pair in table.items()}
            for language, table in BOUNDS.items()
        }
        return {
            "heard": bounds,
            "whole": dict(WHOLE),
            "turn": dict(TURN),
            "in_progress": dict(IN_PROGRESS),
            "left": LEFT,
            "loop": LOOP,
            "same": SAME,
        }

    def start(self) -> None:
        """Nothing is loaded."""

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Pass the item on unchanged, or reject it for the first rule that it breaks.

        Raises
        ------
        DataError
            FB862 for an item without a dialogue.
        """
        problem = problem_of(dialogue_of(item))
        bench.note("judge", by="rules", reason=problem.reason if problem else None)
        return problem or made(item)
