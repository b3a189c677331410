"""The data card of a matched-contrast set, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from floorbench.build.echo_recipe.screening import CLOSURE_LANGUAGES
from floorbench.build.echo_texts import ROLES
from floorbench.core.sample import JsonValue


def card(found: Mapping[str, Any], recipe: Mapping[str, JsonValue], *, licence: str) -> str:
    """Return the data card.

    Parameters
    ----------
    found : mapping
        Sizes, closure, shortcuts and sound, as in the set's table of audits.
    recipe : mapping
        What the manifest says of how the set was made.
    licence : str
    """
    counted = found["size"]
    lines = [
        "# A matched-contrast set",
        "",
        f"Groups: {_listed(counted['groups'])}. Samples: {_listed(counted['samples'])}. "
        f"Pairs: {_listed(counted['pairs'])}.",
        "",
        f"Licence: {licence}.",
        "",
        "## What the words alone give away",
        "",
        *_words(found["languages"]),
        "",
        "## Can the action be told without the context?",
        "",
        *_shortcuts(found),
        "",
        "## How the insertions sound",
        "",
        *_sound(found["measured"]),
        "",
        "## How it was made",
        "",
        *(f"- {name}: {value}" for name, value in recipe.items()),
        "",
        "`lineage.jsonl` names, for every sample, each text, voice, seed and attempt; `build.json`",
        "has the yields of every stage; `listening.jsonl` names what a listener hears.",
        "",
        "## What it is not",
        "",
        "Synthetic speech from written texts shows that a pipeline runs; it does not rank systems.",
        "",
    ]
    return "\n".join(lines)


def _words(languages: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield ("Backchannels, and the mean length of the insertions in characters without punctuation.")
    yield ""
    yield (
        "| language | backchannels | different characters | of the 15 most frequent alone | "
        "occur once | mean characters (interruption, backchannel, off-talk) | "
        "largest difference of the means |"
    )
    yield "| --- | ---: | ---: | ---: | ---: | --- | ---: |"
    for language, row in languages.items():
        alone = _percent(row["frequent_only"]) if language in CLOSURE_LANGUAGES else "no measure"
        means = ", ".join(_number(row["mean_length"][role]) for role in ROLES)
        yield (
            f"| {language} | {row['instances']} | {row['vocabulary']} | {alone} | "
            f"{_percent(row['unique'])} | {means} | {_percent(row['length_gap'])} |"
        )


def _shortcuts(found: Mapping[str, Any]) -> Iterator[str]:
    if found["shortcuts"] is None:
        yield f"Not probed: {found['why_no_shortcuts']}."
        return
    yield "| version | language | from | pairs | right pairs | 95 % | shortcut |"
    yield "| --- | --- | --- | ---: | ---: | --- | --- |"
    for version, rows in found["shortcuts"].items():
        for row in rows:
            low, high = row["pair_interval"]
            yield (
                f"| {version} | {row['language']} | {row['probe']} | {row['pairs']} | "
                f"{_percent(row['pair'])} | "
                f"{_percent(low)} to {_percent(high)} | {'yes' if row['shortcut'] else 'no'} |"
            )
    yield ""
    yield "The listening version is a control: it is meant to be found out."


def _sound(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "Least, median, greatest. Rates in phonemes (en) or syllables (zh) per voiced second,"
    yield "stretch as a factor of duration."
    yield ""
    yield "| language | role | samples | seconds | rate | stretch | level (dBFS) |"
    yield "| --- | --- | ---: | --- | --- | --- | --- |"
    for row in rows:
        figures = [
            ", ".join(f"{value:.2f}" for value in row[name]) or "-"
            for name in ("seconds", "rate", "stretch", "active_level_db")
        ]
        yield (f"| {row['language']} | {row['role']} | {row['samples']} | {' | '.join(figures)} |")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1f}"
